package ragtest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// TestVerifier checks that a verifier keeps the promises of [rag.Verifier]. open makes a fresh one each time; one that asks
// a chat model is best opened over a [Script].
func TestVerifier(t *testing.T, open func(t *testing.T) rag.Verifier) {
	const passage = "The ferry leaves at seven. It carries forty cars."
	claims := []rag.Claim{
		{Text: "The ferry leaves at seven.", Passage: passage},
		{Text: "Penguins breed on the ice in winter.", Passage: passage},
		{Text: "It carries forty cars.", Passage: passage},
		{Text: "The ferry leaves at seven.", Passage: "Penguins breed on the ice in winter."},
	}
	want := []bool{true, false, true, false}

	t.Run("there is one verdict for each claim, in order, with a reason where it is not supported", func(t *testing.T) {
		for range 2 {
			verdicts := verify(t, open(t), claims)
			for i, v := range verdicts {
				if v.Supported != want[i] {
					t.Errorf("%q of %q: supported is %v (%s)", claims[i].Text, claims[i].Passage, v.Supported, v.Reason)
				}
				if !v.Supported && v.Reason == "" {
					t.Errorf("%q of %q: there is no reason", claims[i].Text, claims[i].Passage)
				}
			}
			slices.Reverse(claims)
			slices.Reverse(want)
		}
	})
	t.Run("no claims give no verdicts", func(t *testing.T) {
		if got := verify(t, open(t), nil); len(got) != 0 {
			t.Errorf("got %v", got)
		}
	})
	t.Run("an empty claim and an empty passage support nothing", func(t *testing.T) {
		for _, v := range verify(t, open(t), []rag.Claim{{Text: "The ferry leaves at seven."}, {Passage: passage}}) {
			if v.Supported {
				t.Errorf("got %+v", v)
			}
		}
	})
	t.Run("the same claims get the same verdicts, also in many goroutines, and stay as they are", func(t *testing.T) {
		v, given := open(t), slices.Clone(claims)
		first := verify(t, v, given)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				got, err := v.Verify(t.Context(), given)
				if err != nil || !slices.Equal(got, first) {
					t.Errorf("got %v, %v, want %v", got, err, first)
				}
			})
		}
		wg.Wait()
		if diff := cmp.Diff(claims, given); diff != "" {
			t.Errorf("the claims were changed (-want +got):\n%s", diff)
		}
	})
	t.Run("a cancelled context ends the work with its error", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := open(t).Verify(ctx, claims); !errors.Is(err, context.Canceled) {
			t.Errorf("got error %v, want context.Canceled", err)
		}
	})
}

// verify returns the verdicts, of which there must be as many as claims.
func verify(t *testing.T, v rag.Verifier, claims []rag.Claim) []rag.Verdict {
	t.Helper()
	verdicts, err := v.Verify(t.Context(), claims)
	if err != nil {
		t.Fatal(err)
	}
	if len(verdicts) != len(claims) {
		t.Fatalf("%d verdicts for %d claims", len(verdicts), len(claims))
	}
	return verdicts
}
