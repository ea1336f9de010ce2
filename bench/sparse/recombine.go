package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/seed-d8745b77/rag/bench/ir"
)

// passageWords is about how many words a recombined passage has: what a splitter gives.
const passageWords = 100

// recombine makes n passages of neighbouring sentences of two texts each, so that words keep the company they are in,
// and takes over the queries, which have no judgements here. The same sets give the same passages.
func recombine(sets []*ir.Set, n int) *ir.Set {
	var texts [][]string
	out := &ir.Set{Name: "passages"}
	for _, s := range sets {
		for _, d := range s.Docs {
			texts = append(texts, strings.SplitAfter(d.FullText(), ". "))
		}
		out.Queries = append(out.Queries, s.Queries...)
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	for i := range n {
		var b strings.Builder
		for range 2 {
			sentences := texts[rnd.IntN(len(texts))]
			words := 0
			for at := rnd.IntN(len(sentences)); at < len(sentences) && words < passageWords/2; at++ {
				b.WriteString(sentences[at])
				words += strings.Count(sentences[at], " ")
			}
			b.WriteByte('\n')
		}
		out.Docs = append(out.Docs, ir.Doc{ID: fmt.Sprintf("p%06d", i), Text: b.String()})
	}
	return out
}
