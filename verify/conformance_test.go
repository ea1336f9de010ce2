package verify_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/verify"
)

func TestOverlapKeepsTheContract(t *testing.T) {
	ragtest.TestVerifier(t, func(t *testing.T) rag.Verifier {
		v, err := verify.NewOverlap(nil, verify.OverlapConfig{})
		if err != nil {
			t.Fatal(err)
		}
		return v
	})
}

func TestLLMKeepsTheContract(t *testing.T) {
	ragtest.TestVerifier(t, func(t *testing.T) rag.Verifier {
		v, err := verify.NewLLM(&ragtest.Script{Reply: judge}, verify.LLMConfig{Batch: 1})
		if err != nil {
			t.Fatal(err)
		}
		return v
	})
}

// judge is a model that believes a claim whose words stand in its passage.
func judge(req rag.ChatRequest) string {
	question := req.Messages[len(req.Messages)-1].Text
	_, question, _ = strings.Cut(question, "<claim>\n")
	claim, rest, _ := strings.Cut(question, "\n</claim>\n<passage>\n")
	passage, _, _ := strings.Cut(rest, "</passage>")
	if claim != "" && slices.Contains(strings.SplitAfter(strings.TrimSpace(passage)+" ", ". "), claim+" ") {
		return "[1] supported: it says so"
	}
	return "[1] unsupported: it says nothing of it"
}
