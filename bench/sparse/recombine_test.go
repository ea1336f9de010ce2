package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag/bench/ir"
)

func TestRecombine(t *testing.T) {
	sets := []*ir.Set{{
		Docs:    []ir.Doc{{ID: "a", Text: strings.Repeat("One two three. ", 40)}, {ID: "b", Text: "Short."}},
		Queries: []ir.Query{{ID: "q", Text: "two"}},
	}}
	got := recombine(sets, 50)
	if len(got.Docs) != 50 || len(got.Queries) != 1 {
		t.Fatalf("%d passages, %d queries", len(got.Docs), len(got.Queries))
	}
	for _, d := range got.Docs {
		if n := len(strings.Fields(d.Text)); n == 0 || n > passageWords+10 {
			t.Errorf("%s has %d words", d.ID, n)
		}
	}
	if !reflect.DeepEqual(got, recombine(sets, 50)) {
		t.Error("another run makes other passages")
	}
}

func TestQuantile(t *testing.T) {
	list := []float64{5, 1, 3, 2, 4}
	for share, want := range map[float64]float64{0: 1, 0.5: 3, 0.99: 5, 1: 5} {
		if got := quantile(list, share); got != want {
			t.Errorf("%v: got %v, want %v", share, got, want)
		}
	}
}
