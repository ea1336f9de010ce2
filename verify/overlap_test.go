package verify_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/embed/local"
	"github.com/seed-d8745b77/rag/verify"
)

// annotated is a claim of testdata/claims.jsonl. Those of the split "tune" were looked at while the verifier was written. At
// first sight, before it was mended after them, it judged 31 of the 35 of "held" right, and then 22 of the 30 of "fresh".
type annotated struct {
	Split     string `json:"split"`
	Lang      string `json:"lang"`
	Kind      string `json:"kind"`
	Supported bool   `json:"supported"`
	Claim     string `json:"claim"`
	Passage   string `json:"passage"`
}

func annotatedClaims(t *testing.T) []annotated {
	t.Helper()
	data, err := os.ReadFile("testdata/claims.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var all []annotated
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		var a annotated
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	return all
}

// `go test ./verify -run Annotated -v` prints the figures. The bounds are a little below what was measured.
func TestOverlapOnAnnotatedClaims(t *testing.T) {
	builtin, err := local.New(local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for name, embedder := range map[string]rag.Embedder{"words": nil, "words and vectors": builtin} {
		t.Run(name, func(t *testing.T) {
			v, err := verify.NewOverlap(embedder, verify.OverlapConfig{})
			if err != nil {
				t.Fatal(err)
			}
			right, all, passed := map[string]int{}, map[string]int{}, 0
			for _, a := range annotatedClaims(t) {
				got, err := v.Verify(t.Context(), []rag.Claim{{Text: a.Claim, Passage: a.Passage}})
				if err != nil {
					t.Fatal(err)
				}
				for _, key := range []string{a.Split, "language " + a.Lang} {
					if all[key]++; got[0].Supported == a.Supported {
						right[key]++
					}
				}
				if got[0].Supported != a.Supported {
					t.Logf("%s, %s, %s: %q: supported %v: %s", a.Split, a.Lang, a.Kind, a.Claim, got[0].Supported, got[0].Reason)
				}
				if got[0].Supported && !a.Supported {
					passed++
				}
				if got[0].Reason == "" {
					t.Errorf("%q: no reason", a.Claim)
				}
			}
			for _, key := range []string{"tune", "held", "fresh", "language en", "language zh", "language fr"} {
				t.Logf("%-12s %d of %d", key, right[key], all[key])
			}
			for _, split := range []string{"tune", "held", "fresh"} {
				if share := float64(right[split]) / float64(all[split]); share < 0.88 {
					t.Errorf("%.2f of the claims of %s are judged right", share, split)
				}
			}
			if passed > 1 {
				t.Errorf("%d unsupported claims passed", passed)
			}
		})
	}
}

// A whole sentence of the passage is supported whatever else the passage says of numbers; a part of one may say the opposite.
func TestOverlapTakesWholeSentences(t *testing.T) {
	v, err := verify.NewOverlap(nil, verify.OverlapConfig{})
	if err != nil {
		t.Fatal(err)
	}
	const passage = "# Receipts\n\nEvery receipt above 15 EUR is photographed; below that the amount is enough. Claims below 40 EUR need no receipt of the amount.\n\n" +
		"Nobody says that every receipt above 90 EUR is photographed."
	for claim, want := range map[string]bool{
		"Every receipt above 15 EUR is photographed; below that the amount is enough.":                                                    true,
		"every receipt above 15 EUR is photographed;  below that the amount is enough":                                                    true,
		"Every receipt above 15 EUR is photographed; below that the amount is enough. Claims below 40 EUR need no receipt of the amount.": true,
		"Every receipt above 40 EUR is photographed; below that the amount is enough.":                                                    false,
		"Every receipt above 90 EUR is photographed.":                                                                                     false,
	} {
		got, err := v.Verify(t.Context(), []rag.Claim{{Text: claim, Passage: passage}})
		if err != nil {
			t.Fatal(err)
		}
		if got[0].Supported != want {
			t.Errorf("%q: %+v", claim, got[0])
		}
	}
}

func TestOverlapSettingsAndErrors(t *testing.T) {
	for _, c := range []verify.OverlapConfig{{Coverage: -1}, {Coverage: 1.1}, {Similarity: 2}} {
		if _, err := verify.NewOverlap(nil, c); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	v, err := verify.NewOverlap(nil, verify.OverlapConfig{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Verify(ctx, []rag.Claim{{Text: "a", Passage: "b"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	got, err := v.Verify(t.Context(), []rag.Claim{{}, {Text: "Leave is paid.", Passage: ""}, {Text: "Leave is paid.", Passage: "Der Urlaub wird bezahlt, und er dauert für alle Mitarbeiter der Firma vier Wochen."}})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if v.Supported || v.Reason == "" {
			t.Errorf("claim %d: %+v", i, v)
		}
	}
}

func FuzzOverlap(f *testing.F) {
	f.Add("Leave is 28 days.", "Leave\nIt is 28 days, and 30 for managers.")
	f.Add("全职员工每年享有二十八天年假", "| a | 1 |\n|2026-01-01|")
	v, err := verify.NewOverlap(nil, verify.OverlapConfig{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, claim, passage string) {
		got, err := v.Verify(t.Context(), []rag.Claim{{Text: claim, Passage: passage}})
		if err != nil || len(got) != 1 {
			t.Fatal(fmt.Sprint(got, err))
		}
		if got[0].Supported && strings.TrimSpace(passage) == "" {
			t.Errorf("nothing supports %q", claim)
		}
	})
}

// A model that quotes what it was shown, which is without the characters that nobody sees, is not said to be wrong.
func TestOverlapSeesWhatShows(t *testing.T) {
	v, err := verify.NewOverlap(nil, verify.OverlapConfig{})
	if err != nil {
		t.Fatal(err)
	}
	verdicts, err := v.Verify(t.Context(), []rag.Claim{
		{Text: "A carrier pigeon costs 19 euros a day.", Passage: "A car\u00adrier pig\u200beon costs 1\u20609 eu\ufeffros a day."},
		{Text: "A carrier pigeon costs 29 euros a day.", Passage: "A car\u00adrier pig\u200beon costs 1\u20609 eu\ufeffros a day."},
	})
	if err != nil || !verdicts[0].Supported || verdicts[1].Supported {
		t.Errorf("%+v, %v", verdicts, err)
	}
}
