package eval

import (
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/seed-d8745b77/rag"
)

// Level is a kind of ground truth: what must be found. Metrics of a level stand in a run as "key_sentence/mrr".
type Level string

// The levels, from the finest to the coarsest.
const (
	LevelChunk    Level = "chunk"        // passages by ID: exact, and lost when documents are split anew
	LevelSentence Level = "key_sentence" // passages that hold a text: survives another splitting
	LevelSection  Level = "section"      // passages under a heading
	LevelDocument Level = "document"     // passages of a document
)

// Levels lists the levels.
var Levels = []Level{LevelChunk, LevelSentence, LevelSection, LevelDocument}

// grades returns the ground truth of a level.
func (q *Question) grades(l Level) Grades {
	switch l {
	case LevelChunk:
		return q.Chunks
	case LevelSection:
		return q.Sections
	case LevelDocument:
		return q.Documents
	}
	grades := Grades{}
	for _, s := range q.Sentences {
		grades[s] = 1
	}
	return grades
}

// Found is a hit as a run keeps it: enough to measure it again.
type Found struct {
	ChunkID  string   `json:"chunk_id"`
	URI      string   `json:"uri"`
	Headings []string `json:"headings,omitempty"`
	Score    float64  `json:"score"`
	Status   string   `json:"status,omitempty"`
	Text     string   `json:"text"`
}

// places returns for each hit the items of a level that it holds.
func (q *Question) places(l Level, hits []Found) [][]string {
	names := sortedKeys(q.grades(l))
	holds := make([]func(*Found, string) bool, len(names))
	for n, name := range names {
		holds[n] = l.holder(name)
	}
	places := make([][]string, len(hits))
	for i := range hits {
		folded := ""
		if l == LevelSentence && len(names) > 0 {
			folded = Fold(hits[i].Text)
		}
		for n, name := range names {
			if holds[n](&hits[i], folded) {
				places[i] = append(places[i], name)
			}
		}
	}
	return places
}

// holder returns what tells whether a hit, whose text is folded, holds an item.
func (l Level) holder(name string) func(f *Found, folded string) bool {
	switch l {
	case LevelChunk:
		return func(f *Found, _ string) bool { return f.ChunkID == name }
	case LevelDocument:
		return func(f *Found, _ string) bool { return SameDocument(f.URI, name) }
	}
	want := Fold(name)
	if l == LevelSection {
		return func(f *Found, _ string) bool { return inSection(f.Headings, want) }
	}
	return func(_ *Found, folded string) bool { return strings.Contains(folded, want) }
}

// SameDocument reports whether a URI is the one that a test set names: the URI itself, or its end from a slash on.
func SameDocument(uri, name string) bool {
	if uri == name || strings.HasSuffix(uri, "/"+name) {
		return true
	}
	if !strings.Contains(uri, "%") {
		return false
	}
	plain, err := url.PathUnescape(uri)
	return err == nil && strings.HasSuffix(plain, "/"+name)
}

// inSection reports whether one of the headings, or the path of them, is the folded section.
func inSection(headings []string, want string) bool {
	for _, h := range headings {
		if Fold(h) == want {
			return true
		}
	}
	return len(headings) > 1 && strings.HasSuffix(Fold(strings.Join(headings, " ")), want)
}

// Fold makes texts comparable that differ in case, white space, punctuation, symbols, or in the form of their characters
// (NFKC): only letters, marks and digits are left.
func Fold(s string) string {
	s = norm.NFKC.String(cases.Fold().String(norm.NFKC.String(s)))
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.L, unicode.M, unicode.N) {
			return r
		}
		return -1
	}, s)
}

// foundIn keeps the hits of a search.
func foundIn(hits []rag.Hit) []Found {
	found := make([]Found, len(hits))
	for i, h := range hits {
		found[i] = Found{h.Chunk.ID, h.Chunk.URI, h.Chunk.Headings, h.Score, h.Status, h.Chunk.Text}
	}
	return found
}
