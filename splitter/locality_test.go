package splitter_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/splitter"
)

// mostNew is the number of chunks that an edit of one paragraph may replace.
const mostNew = 3

// manuscript is a text that can be edited paragraph by paragraph.
type manuscript struct {
	paragraphs []string
	levels     []int  // of each paragraph that is a heading; 0 for prose
	between    string // what stands between paragraphs
}

func (m manuscript) document() rag.Document {
	var doc rag.Document
	var b strings.Builder
	for i, p := range m.paragraphs {
		if m.levels[i] > 0 {
			doc.Sections = append(doc.Sections, rag.Section{Level: m.levels[i], Title: p, Start: b.Len()})
		}
		b.WriteString(p + m.between)
	}
	doc.Text = b.String()
	return doc
}

func (m manuscript) clone() manuscript {
	return manuscript{slices.Clone(m.paragraphs), slices.Clone(m.levels), m.between}
}

// prose returns a paragraph of sentences.
func prose(r *rand.Rand, least, most int) string {
	sentences := make([]string, least+r.IntN(most-least+1))
	for i := range sentences {
		words := make([]string, 5+r.IntN(20))
		for j := range words {
			words[j] = word(r)
		}
		sentences[i] = strings.ToUpper(words[0][:1]) + strings.Join(words, " ")[1:] + "."
	}
	return strings.Join(sentences, " ")
}

func word(r *rand.Rand) string {
	w := make([]byte, 2+r.IntN(8))
	for i := range w {
		w[i] = "etaoinshrdlu"[r.IntN(12)]
	}
	return string(w)
}

// write makes a manuscript; headings is the number of paragraphs under a heading on average, 0: no headings.
func write(r *rand.Rand, paragraphs, headings, most int, between string) manuscript {
	m := manuscript{between: between}
	for i := range paragraphs {
		if headings > 0 && (i == 0 || r.IntN(headings) == 0) {
			level := 1
			if i > 0 {
				level = 2 + r.IntN(3)
			}
			m.paragraphs = append(m.paragraphs, fmt.Sprintf("%s Heading %d", strings.Repeat("#", level), i))
			m.levels = append(m.levels, level)
		}
		m.paragraphs = append(m.paragraphs, prose(r, 1, most))
		m.levels = append(m.levels, 0)
	}
	return m
}

var edits = map[string]func(r *rand.Rand, m manuscript) manuscript{
	"insert a paragraph": func(r *rand.Rand, m manuscript) manuscript {
		i := 1 + r.IntN(len(m.paragraphs))
		m.paragraphs = slices.Insert(m.paragraphs, i, prose(r, 1, 4))
		m.levels = slices.Insert(m.levels, i, 0)
		return m
	},
	"delete a paragraph": func(r *rand.Rand, m manuscript) manuscript {
		i := anyProse(r, m)
		m.paragraphs, m.levels = slices.Delete(m.paragraphs, i, i+1), slices.Delete(m.levels, i, i+1)
		return m
	},
	"replace a paragraph": func(r *rand.Rand, m manuscript) manuscript {
		m.paragraphs[anyProse(r, m)] = prose(r, 1, 4)
		return m
	},
	"replace a word": func(r *rand.Rand, m manuscript) manuscript {
		i := anyProse(r, m)
		words := strings.Split(m.paragraphs[i], " ")
		words[r.IntN(len(words))] = word(r)
		m.paragraphs[i] = strings.Join(words, " ")
		return m
	},
	"insert a sentence at the start": func(r *rand.Rand, m manuscript) manuscript {
		m.paragraphs[0] = prose(r, 1, 1) + " " + m.paragraphs[0]
		return m
	},
}

func anyProse(r *rand.Rand, m manuscript) int {
	for {
		if i := r.IntN(len(m.paragraphs)); m.levels[i] == 0 {
			return i
		}
	}
}

// The place of a cut is decided by hashes of the text around it. So the bound holds by far the most times but not
// always: of 10,000 random edits, 12 replaced four or five chunks. The test allows one in a hundred.
func TestEditStaysLocal(t *testing.T) {
	racetest.Skip(t)
	for name, write := range map[string]func(r *rand.Rand) manuscript{
		"without headings":       func(r *rand.Rand) manuscript { return write(r, 620, 0, 6, "\n\n") },
		"with headings":          func(r *rand.Rand) manuscript { return write(r, 600, 8, 6, "\n\n") },
		"single-line paragraphs": func(r *rand.Rand) manuscript { return write(r, 620, 0, 6, "\n") },
		"long paragraphs":        func(r *rand.Rand) manuscript { return write(r, 210, 0, 20, "\n\n") },
		"short paragraphs":       func(r *rand.Rand) manuscript { return write(r, 2100, 0, 1, "\n") },
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, 7))
			m, s := write(r), recursive(t, splitter.Config{})
			before := split(t, s, m)
			if len(before) < 300 || len(before) > 400 {
				t.Fatalf("the text has %d chunks, want about 350", len(before))
			}
			tried, over := 0, 0
			for _, edit := range slices.Sorted(maps.Keys(edits)) {
				for range 20 {
					n := fresh(before, split(t, s, edits[edit](r, m.clone())))
					tried++
					if n > mostNew {
						over++
						t.Logf("%s: %d new chunks", edit, n)
					}
				}
			}
			if over*100 > tried {
				t.Errorf("%d of %d edits gave more than %d new chunks", over, tried, mostNew)
			}
		})
	}
}

func split(t *testing.T, s *splitter.Splitter, m manuscript) []rag.Chunk {
	t.Helper()
	chunks, err := s.Split(t.Context(), m.document())
	if err != nil {
		t.Fatal(err)
	}
	return chunks
}

// fresh returns the number of chunks whose text is not among those before.
func fresh(before, after []rag.Chunk) int {
	known := map[string]int{}
	for _, c := range before {
		known[c.Text]++
	}
	n := 0
	for _, c := range after {
		if known[c.Text] == 0 {
			n++
		} else {
			known[c.Text]--
		}
	}
	return n
}
