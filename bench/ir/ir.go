// Package ir reads labelled retrieval sets and measures rankings as trec_eval defines the measures.
//
//	set, err := ir.Read("../shared/data/ir/scifact")
//	var sum ir.Mean
//	for _, q := range set.Queries {
//		sum.Add(ir.NDCG(search(q.Text), set.Judged[q.ID], 10))
//	}
package ir

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Set is a labelled retrieval set.
type Set struct {
	Name    string // of the folder
	Docs    []Doc
	Queries []Query                   // those with at least one relevant document
	Judged  map[string]map[string]int // query ID to document ID to grade; above 0 is relevant
}

// Doc is a document of a set.
type Doc struct {
	ID    string `json:"_id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// FullText returns the title and the text, one below the other.
func (d Doc) FullText() string {
	if d.Title == "" {
		return d.Text
	}
	return d.Title + "\n" + d.Text
}

// Query is a query of a set.
type Query struct {
	ID   string `json:"_id"`
	Text string `json:"text"`
}

// Read reads corpus.jsonl, queries.jsonl and qrels.tsv of a folder. Errors name the file and the line.
func Read(dir string) (*Set, error) {
	s := &Set{Name: filepath.Base(dir), Judged: map[string]map[string]int{}}
	if err := eachLine(filepath.Join(dir, "qrels.tsv"), s.addJudgement); err != nil {
		return nil, err
	}
	if err := eachLine(filepath.Join(dir, "corpus.jsonl"), func(_ int, line string) error {
		var d Doc
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			return err
		}
		s.Docs = append(s.Docs, d)
		return nil
	}); err != nil {
		return nil, err
	}
	err := eachLine(filepath.Join(dir, "queries.jsonl"), func(_ int, line string) error {
		var q Query
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			return err
		}
		if relevant(s.Judged[q.ID]) > 0 {
			s.Queries = append(s.Queries, q)
		}
		return nil
	})
	return s, err
}

// addJudgement reads "query-id, corpus-id, score", tabs between; the first line is the header.
func (s *Set) addJudgement(number int, line string) error {
	if number == 1 {
		return nil
	}
	f := strings.Split(line, "\t")
	if len(f) != 3 {
		return fmt.Errorf("%d fields, want 3", len(f))
	}
	grade, err := strconv.Atoi(f[2])
	if err != nil {
		return err
	}
	if s.Judged[f[0]] == nil {
		s.Judged[f[0]] = map[string]int{}
	}
	s.Judged[f[0]][f[1]] = grade
	return nil
}

// eachLine calls fn with the lines that are not empty; numbers are 1-based.
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
