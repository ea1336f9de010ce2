package rag_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

// labelled asks about what the documents of newLeave say, and about what they do not.
func labelled() []rag.LabelledQuestion {
	var list []rag.LabelledQuestion
	for i := range 12 {
		list = append(list,
			rag.LabelledQuestion{Query: rag.Query{Text: fmt.Sprint("annual leave employee days ", strings.Repeat("certificate ", i%3))}, Answerable: true},
			rag.LabelledQuestion{Query: rag.Query{Text: fmt.Sprint("football championship leave brazil ", i)}})
	}
	return list
}

func TestCalibrate(t *testing.T) {
	f := newLeave(t)
	req := rag.CalibrateRequest{Questions: labelled()}
	first, err := f.Calibrate(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	again, err := f.Calibrate(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	again.Calibration.Fitted = first.Calibration.Fitted
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("the second fit differs:\n%s", diff)
	}
	if c := first.Calibration; c.Questions != 24 || c.Answerable != 12 || first.Evidence.Area >= 0.5 {
		t.Errorf("got %+v", first)
	}
	if n := len(first.Evidence.Points); n != 24 || first.Evidence.Points[n-1].Coverage != 1 || first.Evidence.Points[n-1].Risk != 0.5 {
		t.Errorf("curve %+v", first.Evidence)
	}
	plain := ask(t, newLeave(t), question(leaveQuestion)).Confidence
	if got := ask(t, f, question(leaveQuestion)); got.Confidence == plain || len(got.Notes) > 0 {
		t.Errorf("the calibration is not used: %v, notes %v", got.Confidence, got.Notes)
	}
}

func TestCalibrationOfAnotherModelIsNotUsed(t *testing.T) {
	f := newLeave(t)
	if _, err := f.Calibrate(t.Context(), rag.CalibrateRequest{Questions: labelled()}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f.embedder = &ragtest.HashEmbedder{Revision: "2"}
	f.open()
	if _, err := f.Reindex(t.Context(), rag.ReindexRequest{}); err != nil {
		t.Fatal(err)
	}
	a := ask(t, f, question(leaveQuestion))
	if len(a.Notes) != 1 || !strings.Contains(a.Notes[0].Reason, "another embedder") {
		t.Errorf("notes %v", a.Notes)
	}
}

func TestCalibrateKeepsNothing(t *testing.T) {
	f := newLeave(t)
	before := ask(t, f, question(leaveQuestion)).Confidence
	if _, err := f.Calibrate(t.Context(), rag.CalibrateRequest{Questions: labelled(), DryRun: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Calibrate(t.Context(), rag.CalibrateRequest{Questions: labelled()[:9]}); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("few questions: error %v", err)
	}
	if got := ask(t, f, question(leaveQuestion)).Confidence; got != before {
		t.Errorf("confidence %v, was %v", got, before)
	}
}
