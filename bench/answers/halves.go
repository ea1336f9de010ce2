package main

import (
	"os"
	"path/filepath"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
)

// isLabelled reports whether a folder is a labelled retrieval set.
func isLabelled(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "corpus.jsonl"))
	return err == nil
}

// askedOf is of how many questions of a labelled set one is asked: a few hundred tell enough.
const askedOf = 6

// askHalf makes questions that cannot be answered out of a labelled set: every second passage is left out, and what it
// alone answers is asked all the same, with its neighbours of the same article there. Of those every second is asked, so
// that as in the other sets two can be answered for one that cannot. The built-in models know nothing of such sets.
func askHalf(dir, embedder string) ([]outcome, error) {
	set, err := eval.ReadBEIR(dir)
	if err != nil {
		return nil, err
	}
	kept := map[string]bool{}
	var sources []rag.Sources
	for i, d := range set.Docs {
		if kept[d.ID] = i%2 == 0; kept[d.ID] {
			sources = append(sources, rag.Bytes(d.ID+".md", []byte(d.FullText())))
		}
	}
	var questions []eval.Question
	left := 0
	for i, q := range set.Queries {
		if i%askedOf != 0 {
			continue
		}
		answerable, documents := false, eval.Grades{}
		for id, grade := range set.Judged[q.ID] {
			answerable = answerable || kept[id]
			documents[id+".md"] = grade
		}
		kind := "left_in"
		if !answerable {
			kind = "left_out"
			if left++; left%2 == 0 {
				continue
			}
		}
		questions = append(questions, eval.Question{
			ID: q.ID, Text: q.Text, Set: set.Name, Kind: kind, Answerable: &answerable, Documents: documents,
		})
	}
	return ask(sources, embedder, questions)
}
