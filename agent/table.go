package agent

import (
	"fmt"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
	"github.com/seed-d8745b77/rag/internal/prompt"
)

// table numbers the passages that an agent has seen, from 1, over all of its searches: [n] means one passage for as long as
// the question is worked on. A passage that is found again keeps its number.
type table struct {
	sources []rag.AnswerSource
	numbers map[string]int // by chunk ID
}

func newTable() *table { return &table{numbers: map[string]int{}} }

// add returns the number of a passage.
func (t *table) add(h rag.Hit) int {
	if n, ok := t.numbers[h.Chunk.ID]; ok {
		return n
	}
	n := len(t.sources) + 1
	t.sources = append(t.sources, rag.AnswerSource{Number: n, Hit: h})
	t.numbers[h.Chunk.ID] = n
	return n
}

// names is how an answer may call its sources.
func (t *table) names() (names []string) {
	for i := range t.sources {
		c := &t.sources[i].Hit.Chunk
		names = append(append(names, c.Title, c.URI), c.Headings...)
	}
	return names
}

// source returns the passage of a number.
func (t *table) source(n int) (*rag.AnswerSource, bool) {
	if n < 1 || n > len(t.sources) {
		return nil, false
	}
	return &t.sources[n-1], true
}

// shownBytes is how much of a passage a model is shown; splitters make them smaller.
const shownBytes = 4000

// show writes passages as a model is shown them, each with the place that it is from. What ends a passage is taken out of it,
// so that no passage can end itself.
func show(numbers []int, t *table) string {
	var b strings.Builder
	for _, n := range numbers {
		c := &t.sources[n-1].Hit.Chunk
		fmt.Fprintf(&b, "[%d]\n%s", n, prompt.Quote("passage", "From: "+whereabouts(c)+"\n\n"+cut(c.Text, shownBytes)))
	}
	return b.String()
}

// longestPlace is how many bytes the place of a passage has, and a line of the list of topics.
const longestPlace = 300

// whereabouts is the place of a passage in a short line: title and headings, or the file.
func whereabouts(c *rag.Chunk) string {
	parts := c.Headings
	if c.Title != "" && (len(parts) == 0 || parts[0] != c.Title) {
		parts = append([]string{c.Title}, parts...)
	}
	if len(parts) == 0 {
		parts = []string{c.URI}
	}
	return prompt.Line(strings.Join(parts, " › "), longestPlace)
}

// evidence is what a verifier is shown of a passage: what it says, under the headings that it says it under.
func evidence(c *rag.Chunk) string { return whereabouts(c) + "\n" + c.Text }

// cut shortens a text to a number of bytes at most, without cutting a character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return mdtext.Cut(s, most) + "…"
}
