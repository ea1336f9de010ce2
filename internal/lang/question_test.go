package lang_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/lang"
)

func TestKeywords(t *testing.T) {
	for _, c := range []struct {
		question, language string
		want               []string
	}{
		{"Why was the queue moved out of the database?", "en", []string{"queue", "moved", "database"}},
		{`what is "net-zero", in C++ terms?`, "en", []string{"net-zero", "C++", "terms"}},
		{"What can you do?", "en", nil},
		{"费用是多少？", "zh", []string{"费用是"}},
	} {
		if diff := cmp.Diff(c.want, lang.Keywords(c.question, c.language)); diff != "" {
			t.Errorf("%s: %s", c.question, diff)
		}
	}
}
