package eval

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// BEIR is a labelled retrieval set in the form of the benchmark of this name: documents, queries and judgements.
type BEIR struct {
	Name    string // of the folder
	Docs    []BEIRDoc
	Queries []BEIRQuery       // those with at least one relevant document
	Judged  map[string]Grades // query ID to document ID to grade
}

// BEIRDoc is a document of a set.
type BEIRDoc struct {
	ID    string `json:"_id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// FullText returns the title and the text, one below the other.
func (d BEIRDoc) FullText() string {
	if d.Title == "" {
		return d.Text
	}
	return d.Title + "\n" + d.Text
}

// BEIRQuery is a query of a set.
type BEIRQuery struct {
	ID   string `json:"_id"`
	Text string `json:"text"`
}

// ReadBEIR reads corpus.jsonl, queries.jsonl and qrels.tsv, or qrels/test.tsv, of a folder. Errors name the file and the
// line; what is no such set is ErrInvalid.
func ReadBEIR(dir string) (*BEIR, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	s := &BEIR{Name: filepath.Base(abs)}
	qrels := filepath.Join(dir, "qrels.tsv")
	if _, err := os.Stat(qrels); errors.Is(err, fs.ErrNotExist) {
		if split := filepath.Join(dir, "qrels", "test.tsv"); exists(split) {
			qrels = split
		}
	}
	if s.Judged, err = ReadQrels(qrels); err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	err = eachLine(filepath.Join(dir, "corpus.jsonl"), func(_ int, line string) error {
		var d BEIRDoc
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			return fmt.Errorf("%v: %w", err, rag.ErrInvalid)
		}
		if d.ID == "" || ids[d.ID] {
			return fmt.Errorf("the document's _id %q is empty or was there before: %w", d.ID, rag.ErrInvalid)
		}
		ids[d.ID] = true
		s.Docs = append(s.Docs, d)
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = eachLine(filepath.Join(dir, "queries.jsonl"), func(_ int, line string) error {
		var q BEIRQuery
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			return fmt.Errorf("%v: %w", err, rag.ErrInvalid)
		}
		if s.Judged[q.ID].Relevant() > 0 {
			s.Queries = append(s.Queries, q)
		}
		return nil
	})
	if err == nil && len(s.Queries) == 0 {
		err = fmt.Errorf("%s: no query has a relevant document in %s: there is nothing to measure: %w", dir, filepath.Base(qrels), rag.ErrInvalid)
	}
	return s, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Questions returns the queries as questions whose ground truth is documents, by the URIs that [BEIR.Sources] gives them.
func (s *BEIR) Questions() []Question {
	list := make([]Question, len(s.Queries))
	for i, q := range s.Queries {
		grades := Grades{}
		for id, g := range s.Judged[q.ID] {
			grades[beirURI(id)] = g
		}
		list[i] = Question{ID: q.ID, Text: q.Text, Documents: grades}
	}
	return list
}

// ReadQrels reads judgements: lines of query, document and grade with tabs between (BEIR), the first of which may name the
// columns, or of query, iteration, document and grade with any blanks (TREC). Errors name the file and the line.
func ReadQrels(path string) (map[string]Grades, error) {
	judged := map[string]Grades{}
	err := eachLine(path, func(number int, line string) error {
		f := strings.Split(line, "\t")
		if len(f) != 3 {
			if f = strings.Fields(line); len(f) == 4 {
				f = []string{f[0], f[2], f[3]}
			}
		}
		if len(f) != 3 {
			return fmt.Errorf("%d columns: want query, document and grade, or query, iteration, document and grade: %w", len(f), rag.ErrInvalid)
		}
		grade, err := strconv.Atoi(f[2])
		if err != nil {
			if number == 1 {
				return nil // the names of the columns
			}
			return fmt.Errorf("the grade %q is no whole number: %w", f[2], rag.ErrInvalid)
		}
		if judged[f[0]] == nil {
			judged[f[0]] = Grades{}
		}
		judged[f[0]][f[1]] = grade
		return nil
	})
	return judged, err
}

// eachLine calls fn with the lines that are not empty; numbers are 1-based. Errors of fn get the file and the line.
func eachLine(path string, fn func(number int, line string) error) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r := bufio.NewReader(f)
	for number := 1; ; number++ {
		line, readErr := r.ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			if err := fn(number, line); err != nil {
				return fmt.Errorf("%s line %d: %w", path, number, err)
			}
		}
		if errors.Is(readErr, io.EOF) {
			return nil
		}
		if readErr != nil {
			return readErr
		}
	}
}

// Problems returns what is wrong with the judgements of the set: documents that the corpus does not have, by query.
func (s *BEIR) Problems() []Problem {
	have := map[string]bool{}
	for _, d := range s.Docs {
		have[d.ID] = true
	}
	var problems []Problem
	for _, query := range sortedKeys(s.Judged) {
		for _, doc := range sortedKeys(s.Judged[query]) {
			if !have[doc] {
				problems = append(problems, Problem{ID: query, Field: "qrels", Message: fmt.Sprintf("document %q is not in the corpus", doc), Fatal: s.Judged[query][doc] > 0})
			}
		}
	}
	return problems
}
