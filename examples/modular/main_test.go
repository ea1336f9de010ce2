package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, ".", "Which buoys had the swivel S1?"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"fusion by rrf: ", "rerank by names: ", "1. incident-2024-roost.md: "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it prints\n%s\nwithout %q", out.String(), want)
		}
	}
}
