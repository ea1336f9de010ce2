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
	"github.com/seed-d8745b77/rag/internal/strict"
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
	qrels, err := qrelsOf(dir)
	if err != nil {
		return nil, err
	}
	if s.Judged, err = ReadQrels(qrels); err != nil {
		return nil, err
	}
	err = eachRecord(filepath.Join(dir, "corpus.jsonl"), func(r beirRecord) {
		s.Docs = append(s.Docs, BEIRDoc{r.id, r.Title, r.Text})
	})
	if err == nil && len(s.Docs) == 0 {
		err = fmt.Errorf("%s: corpus.jsonl holds no document: %w", dir, rag.ErrInvalid)
	}
	if err != nil {
		return nil, err
	}
	err = eachRecord(filepath.Join(dir, "queries.jsonl"), func(r beirRecord) {
		if s.Judged[r.id].Relevant() > 0 {
			s.Queries = append(s.Queries, BEIRQuery{r.id, r.Text})
		}
	})
	if err == nil && len(s.Queries) == 0 {
		err = fmt.Errorf("%s: no query has a relevant document in %s: there is nothing to measure: %w", dir, filepath.Base(qrels), rag.ErrInvalid)
	}
	return s, err
}

// qrelsOf returns the file of a folder's judgements.
func qrelsOf(dir string) (string, error) {
	if _, err := os.Stat(dir); err != nil {
		return "", err
	}
	for _, name := range []string{"qrels.tsv", filepath.Join("qrels", "test.tsv")} {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return path, nil // what else is wrong with it shows when it is read
		}
	}
	return "", fmt.Errorf("%s: it has neither qrels.tsv nor qrels/test.tsv, so nothing says what should be found: %w", dir, rag.ErrNotFound)
}

// beirRecord is a line of corpus.jsonl or queries.jsonl.
type beirRecord struct {
	Key   json.RawMessage `json:"_id"` // text, or a number: some sets count their documents
	Title string          `json:"title"`
	Text  string          `json:"text"`
	id    string
}

// eachRecord calls fn with the records of a file. One that is no JSON, or has no ID of its own, is ErrInvalid.
func eachRecord(path string, fn func(beirRecord)) error {
	first := map[string]int{} // line by ID
	return eachLine(path, func(number int, line string) error {
		var r beirRecord
		if err := strict.Unmarshal([]byte(line), &r); err != nil {
			return fmt.Errorf("no JSON object with _id and text: %v: %w", err, rag.ErrInvalid)
		}
		var text string
		var digits json.Number // as they are written
		switch {
		case json.Unmarshal(r.Key, &text) == nil:
			r.id = text
		case json.Unmarshal(r.Key, &digits) == nil:
			r.id = digits.String()
		}
		if r.id == "" {
			return fmt.Errorf("_id is missing or empty, or neither text nor a number: %w", rag.ErrInvalid)
		}
		if before := first[r.id]; before > 0 {
			return fmt.Errorf("the _id %q is that of line %d too: %w", r.id, before, rag.ErrInvalid)
		}
		first[r.id] = number
		fn(r)
		return nil
	})
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
	err := eachLine(path, func(line int, text string) error {
		f := strings.Split(strings.TrimSpace(text), "\t")
		if len(f) != 3 {
			if f = strings.Fields(text); len(f) == 4 {
				f = []string{f[0], f[2], f[3]}
			}
		}
		if len(f) != 3 {
			return fmt.Errorf("%d columns: want query, document and grade, or query, iteration, document and grade: %w", len(f), rag.ErrInvalid)
		}
		number, err := strconv.ParseFloat(f[2], 64) // some sets write 1.0
		if err != nil && line == 1 {
			return nil // the names of the columns
		}
		grade := int(number)
		if err != nil || float64(grade) != number {
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

// eachLine calls fn with the lines that are not blank, without a byte order mark; numbers are 1-based. Errors of fn get the
// file and the line.
func eachLine(path string, fn func(number int, line string) error) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r := bufio.NewReader(f)
	for number := 1; ; number++ {
		line, readErr := r.ReadString('\n')
		if number == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" {
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

// Problems returns what is wrong with the set: queries without text, judgements of queries that it does not have, and of
// documents that the corpus does not have, by query. The last count as not found, as in trec_eval.
func (s *BEIR) Problems() []Problem {
	have := map[string]bool{}
	for _, d := range s.Docs {
		have[d.ID] = true
	}
	var problems []Problem
	asked := map[string]bool{}
	for _, q := range s.Queries {
		asked[q.ID] = true
		if strings.TrimSpace(q.Text) == "" {
			problems = append(problems, Problem{ID: q.ID, Field: "text", Message: "it is missing or empty", Fatal: true})
		}
	}
	for _, query := range sortedKeys(s.Judged) {
		if s.Judged[query].Relevant() > 0 && !asked[query] {
			problems = append(problems, Problem{ID: query, Field: "qrels", Message: "queries.jsonl has no such query: its judgements do nothing"})
			continue
		}
		for _, doc := range sortedKeys(s.Judged[query]) {
			if !have[doc] {
				problems = append(problems, Problem{ID: query, Field: "qrels", Message: fmt.Sprintf("document %q is not in the corpus", doc), Fatal: s.Judged[query][doc] > 0})
			}
		}
	}
	return problems
}
