package trace_test

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/trace"
)

func TestContract(t *testing.T) {
	t.Run("jsonl", func(t *testing.T) {
		ragtest.TestTraceSink(t, func(t *testing.T) (rag.TraceSink, func() iter.Seq2[rag.Trace, error]) {
			dir := filepath.Join(t.TempDir(), "made", "late")
			return trace.NewJSONL(dir, trace.JSONLConfig{}), func() iter.Seq2[rag.Trace, error] { return trace.NewIndex(dir).All() }
		})
	})
	t.Run("jsonl that rotates", func(t *testing.T) {
		ragtest.TestTraceSink(t, func(t *testing.T) (rag.TraceSink, func() iter.Seq2[rag.Trace, error]) {
			dir := t.TempDir()
			return trace.NewJSONL(dir, trace.JSONLConfig{MaxBytes: 2000}), func() iter.Seq2[rag.Trace, error] { return trace.NewIndex(dir).All() }
		})
	})
	t.Run("ring", func(t *testing.T) {
		ragtest.TestTraceSink(t, func(t *testing.T) (rag.TraceSink, func() iter.Seq2[rag.Trace, error]) {
			r := trace.NewRing(trace.RingConfig{})
			return r, r.All
		})
	})
}

func ids(t *testing.T, traces iter.Seq2[rag.Trace, error]) []string {
	t.Helper()
	var all []string
	for tr, err := range traces {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tr.ID)
	}
	return all
}

func record(t *testing.T, sink rag.TraceSink, id string) {
	t.Helper()
	if err := sink.Record(t.Context(), &rag.Trace{ID: id, Error: strings.Repeat("x", 100)}); err != nil {
		t.Fatal(err)
	}
}

func TestNothingIsMadeBeforeTheFirstRecord(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kb")
	trace.NewJSONL(dir, trace.JSONLConfig{})
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory exists, error %v", err)
	}
	if got := ids(t, trace.NewIndex(dir).All()); got != nil {
		t.Errorf("All of a missing directory = %v", got)
	}
}

func TestRotation(t *testing.T) {
	dir := t.TempDir()
	sinks := []*trace.JSONL{ // as two processes would
		trace.NewJSONL(dir, trace.JSONLConfig{MaxBytes: 1000, KeepFiles: 3}),
		trace.NewJSONL(dir, trace.JSONLConfig{MaxBytes: 1000, KeepFiles: 3}),
	}
	for i := range 40 {
		record(t, sinks[i%2], fmt.Sprintf("%02d", i))
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 4 {
		t.Errorf("files %v, error %v; want traces.jsonl and three old ones", files, err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Size() > 1000 {
			t.Errorf("%s: %d bytes, error %v", f, info.Size(), err)
		}
	}
	got := ids(t, trace.NewIndex(dir).All())
	for i, id := range got {
		if want := fmt.Sprintf("%02d", 40-len(got)+i); id != want {
			t.Fatalf("traces %v: want the last ones in order", got)
		}
	}
}

func TestBrokenLines(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "traces.jsonl")
	sink := trace.NewJSONL(dir, trace.JSONLConfig{})
	record(t, sink, "before")
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("{\"trace_id\": \"half"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"before"}, ids(t, trace.NewIndex(dir).All())); diff != "" {
		t.Errorf("with a broken last line (-want +got):\n%s", diff)
	}
	record(t, sink, "after")
	if diff := cmp.Diff([]string{"before", "after"}, ids(t, trace.NewIndex(dir).All())); diff != "" {
		t.Errorf("after the next Record (-want +got):\n%s", diff)
	}
}

func TestRingForgetsTheOldest(t *testing.T) {
	r := trace.NewRing(trace.RingConfig{Size: 2})
	for _, id := range []string{"a", "b", "c"} {
		record(t, r, id)
	}
	if diff := cmp.Diff([]string{"b", "c"}, ids(t, r.All())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRegister(t *testing.T) {
	var p rag.Providers
	trace.Register(&p)
	if _, err := p.TraceSinks.New("jsonl", rag.Env{}, nil); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("jsonl without a directory: error %v, want ErrInvalid", err)
	}
	dir := t.TempDir()
	sink, err := p.TraceSinks.New("jsonl", rag.Env{Dir: dir}, []byte(`{"max_bytes": 1000}`))
	if err != nil {
		t.Fatal(err)
	}
	record(t, sink, "a")
	if diff := cmp.Diff([]string{"a"}, ids(t, trace.NewIndex(dir).All())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := p.TraceSinks.New("ring", rag.Env{}, []byte(`{"size": 3}`)); err != nil {
		t.Error(err)
	}
}

// TestALinkIsNotAppendedTo: a folder that came from elsewhere must not make traces grow files elsewhere.
func TestALinkIsNotAppendedTo(t *testing.T) {
	dir, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, filepath.Join(dir, "traces.jsonl")); err != nil {
		t.Skip(err)
	}
	err := trace.NewJSONL(dir, trace.JSONLConfig{}).Record(t.Context(), &rag.Trace{ID: "a"})
	if err == nil || !strings.Contains(err.Error(), "traces.jsonl is a link") {
		t.Errorf("got %v, want an error that names the link", err)
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "kept" {
		t.Errorf("the file elsewhere holds %q, %v", text, err)
	}
}
