package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-d8745b77/rag/bench/ir"
	"github.com/seed-d8745b77/rag/eval"
)

// set is what both sides read and are asked.
type set struct {
	name   string
	folder string // of the files
	how    string // split, or whole: each file is one passage
	asked  []labelled
}

// labelled is a question and the files that answer it, by their paths in the folder.
type labelled struct {
	text   string
	grades eval.Grades
}

// labelledSet writes the documents of a labelled retrieval set to files in folder: those that answer the first questions, and
// the next ones up to docs; 0: all.
func labelledSet(dir, folder string, questions, docs int) (set, error) {
	from, err := ir.Read(dir)
	if err != nil {
		return set{}, err
	}
	s := set{name: from.Name, folder: folder, how: "whole"}
	asked := from.Queries[:min(questions, len(from.Queries))]
	wanted := map[string]bool{}
	for _, q := range asked {
		grades := eval.Grades{}
		for id, grade := range from.Judged[q.ID] {
			wanted[id] = true
			grades[fileName(id)] = grade
		}
		s.asked = append(s.asked, labelled{q.Text, grades})
	}
	more := max(0, docs-len(wanted))
	for _, d := range from.Docs {
		if !wanted[d.ID] && docs > 0 {
			if more == 0 {
				continue
			}
			more--
		}
		if err := os.WriteFile(filepath.Join(folder, fileName(d.ID)), []byte(d.FullText()), 0o644); err != nil {
			return set{}, err
		}
	}
	return s, nil
}

// fileName is the name of the file of a document, whose ID may hold anything.
func fileName(id string) string { return fmt.Sprintf("%x.txt", id) }

// answersSet copies the documents of the question-answering set into folder, and takes questions all over it that they
// answer: in English, which is what the model knows, and without a business date, which the Python side has no notion of.
func answersSet(dir, folder string, questions int) (set, error) {
	s := set{name: "qa", folder: folder, how: "split"}
	for _, part := range []string{"handbook", "api", "admissions/docs", "course/docs"} {
		if err := copyFiles(dir, part, folder); err != nil {
			return set{}, err
		}
	}
	f, err := os.Open(filepath.Join(dir, "questions.jsonl"))
	if err != nil {
		return set{}, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var q struct {
			Question, Kind, Lang string
			Sources              []string `json:"expected_sources"`
		}
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return set{}, fmt.Errorf("%s: %w", f.Name(), err)
		}
		if len(q.Sources) == 0 || q.Kind == "validity" || q.Lang != "en" {
			continue
		}
		grades := eval.Grades{}
		for _, source := range q.Sources {
			grades[source] = 1
		}
		s.asked = append(s.asked, labelled{q.Question, grades})
	}
	all := s.asked
	s.asked = nil
	for i := range min(questions, len(all)) {
		s.asked = append(s.asked, all[i*len(all)/min(questions, len(all))])
	}
	return s, nil
}

// copyFiles copies what lies below part of dir to the same place below folder.
func copyFiles(dir, part, folder string) error {
	return fs.WalkDir(os.DirFS(dir), part, func(path string, d fs.DirEntry, err error) error {
		to := filepath.Join(folder, filepath.FromSlash(path))
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644)
	})
}
