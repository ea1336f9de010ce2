package main

import "testing"

func TestRun(t *testing.T) {
	if err := run(t.Context(), "../handbook", "how many days of annual leave do I get?"); err != nil {
		t.Fatal(err)
	}
}
