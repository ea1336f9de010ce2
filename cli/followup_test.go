package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/agent"
	"github.com/seed-d8745b77/rag/internal/racetest"
)

// dialogue is a question of a conversation over the handbook.
type dialogue struct {
	Before   []string // the questions before it
	Question string
	Document string // that answers it
	Says     string // in the passage that does
	Alone    bool   // it stands for itself
}

// TestFollowUps measures what chat makes of follow-ups, and that it leaves questions alone that stand for themselves.
func TestFollowUps(t *testing.T) {
	racetest.Skip(t)
	raw, err := os.ReadFile(filepath.Join("testdata", "followups.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	docs, err := filepath.Glob(filepath.Join("..", "examples", "handbook", "*.md"))
	if err != nil || len(docs) == 0 {
		t.Fatalf("no handbook: %v", err)
	}
	asIs, chat := rag.DefaultConfig(), rag.DefaultConfig()
	for _, change := range (&chatFlags{}).chatChanges() {
		change(&chat)
	}
	found, quoted := map[bool]int{}, map[bool]int{} // follow-ups whose passage is found, and quoted, by whether they are worded anew
	followUps := 0
	dir := t.TempDir()
	for _, anew := range []bool{false, true} {
		c := asIs
		if anew {
			c = chat
		}
		eng, err := rag.Open(dir, rag.WithConfig(c))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { eng.Close() })
		if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Files(docs...)}}); err != nil {
			t.Fatal(err)
		}
		a, err := agent.New(eng, agent.Config{})
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			var d dialogue
			if err := json.Unmarshal([]byte(line), &d); err != nil {
				t.Fatal(err)
			}
			s := a.NewSession()
			var answer *rag.Answer
			for _, q := range append(d.Before, d.Question) {
				if answer, err = s.Ask(t.Context(), rag.AskRequest{Query: rag.Query{Text: q}}); err != nil {
					t.Fatal(err)
				}
			}
			right := false
			for _, src := range answer.Sources[:min(3, len(answer.Sources))] {
				right = right || strings.HasSuffix(src.Hit.Chunk.URI, d.Document) && strings.Contains(src.Hit.Chunk.Text, d.Says)
			}
			right = right && !answer.Refused
			says := strings.Contains(answer.Text, d.Says)
			switch {
			case d.Alone && !(right && says):
				t.Errorf("%q, worded anew %v: %q", d.Question, anew, answer.Text)
			case d.Alone:
			default:
				found[anew] += one(right)
				quoted[anew] += one(says)
				followUps += one(anew)
			}
			if !d.Alone && anew && !right {
				t.Errorf("%q: the passage is not found", d.Question)
			}
		}
	}
	t.Logf("of %d follow-ups worded anew %d find their passage and %d quote it; as they stand %d and %d", followUps, found[true], quoted[true], found[false], quoted[false])
	if found[true] <= found[false] || quoted[true] <= quoted[false] {
		t.Error("wording follow-ups anew does not help")
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
