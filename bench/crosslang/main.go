// Crosslang measures how often the passage that answers a question is among the first five hits, by the languages of
// the question and of the passage, for each mode and each embedder.
//
//	go run ./bench/crosslang ../shared/data/qa
//
// The folder holds questions.jsonl and the documents that it names. A hit is a passage of the right document that holds
// the key sentence, compared without white space, punctuation and case.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	_ "github.com/seed-d8745b77/rag/embed/local/multilingual"
	"github.com/seed-d8745b77/rag/internal/lang"
)

// depth is how many hits count.
const depth = 5

type question struct {
	Set         string `json:"set"`
	Lang        string `json:"lang"`
	Question    string `json:"question"`
	Answerable  bool   `json:"answerable"`
	KeySentence string `json:"key_sentence"`
	Evidence    []struct {
		Source string `json:"source"`
	} `json:"evidence"`
}

func main() {
	sets := flag.String("sets", "admissions,course", "sets of questions, by comma")
	embedders := flag.String("embedders", "local,multilingual", "embedders, by comma")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: crosslang [flags] FOLDER")
		os.Exit(2)
	}
	for _, embedder := range strings.Split(*embedders, ",") {
		if err := run(os.Stdout, flag.Arg(0), strings.Split(*sets, ","), embedder); err != nil {
			fmt.Fprintln(os.Stderr, "crosslang:", err)
			os.Exit(1)
		}
	}
}

// score counts the questions of one kind and those whose passage was found.
type score struct{ found, asked int }

func run(w io.Writer, root string, sets []string, embedder string) error {
	questions, err := read(filepath.Join(root, "questions.jsonl"))
	if err != nil {
		return err
	}
	scores := map[string]map[rag.Mode]*score{} // by languages
	for _, set := range sets {
		asked := slices.DeleteFunc(slices.Clone(questions), func(q question) bool { return q.Set != set })
		if err := measure(filepath.Join(root, set), embedder, asked, scores); err != nil {
			return fmt.Errorf("%s: %w", set, err)
		}
	}
	for _, languages := range slices.Sorted(maps.Keys(scores)) {
		fmt.Fprintf(w, "| %s | %s | %d ", embedder, languages, scores[languages][rag.Sparse].asked)
		for _, mode := range []rag.Mode{rag.Sparse, rag.Dense, rag.Hybrid} {
			s := scores[languages][mode]
			fmt.Fprintf(w, "| %.3f ", float64(s.found)/float64(s.asked))
		}
		fmt.Fprintln(w, "|")
	}
	return nil
}

// measure ingests a folder and asks its questions.
func measure(folder, embedder string, questions []question, scores map[string]map[rag.Mode]*score) error {
	dir, err := os.MkdirTemp("", "rag-crosslang")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c := rag.DefaultConfig()
	c.Embedder.Provider = embedder
	eng, err := rag.Open(dir, rag.WithConfig(c))
	if err != nil {
		return err
	}
	defer eng.Close()
	ctx := context.Background()
	if _, err := eng.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{rag.Dir(filepath.Join(folder, "docs"))}}); err != nil {
		return err
	}
	for _, q := range questions {
		languages := q.Lang + " → " + cmp.Or(lang.Detect(q.KeySentence), "en")
		if scores[languages] == nil {
			scores[languages] = map[rag.Mode]*score{rag.Sparse: {}, rag.Dense: {}, rag.Hybrid: {}}
		}
		for mode, s := range scores[languages] {
			res, err := eng.Search(ctx, rag.Query{Text: q.Question, Mode: mode, TopK: depth})
			if err != nil {
				return err
			}
			s.asked++
			if slices.ContainsFunc(res.Hits, func(h rag.Hit) bool { return answers(h, q) }) {
				s.found++
			}
		}
	}
	return nil
}

func answers(h rag.Hit, q question) bool {
	source := filepath.Base(q.Evidence[0].Source)
	return strings.HasSuffix(h.Chunk.URI, "/"+source) && strings.Contains(bare(h.Chunk.Text), bare(q.KeySentence))
}

// bare is text without what differs between a document and a quotation of it.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, norm.NFKC.String(text))
}

func read(name string) ([]question, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var questions []question
	decoder := json.NewDecoder(bufio.NewReader(f))
	for {
		var q question
		if err := decoder.Decode(&q); err == io.EOF {
			return questions, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if q.Answerable && len(q.Evidence) > 0 {
			questions = append(questions, q)
		}
	}
}
