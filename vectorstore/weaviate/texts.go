package weaviate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/analyze"
	"github.com/seed-d8745b77/rag/internal/lang"
	"github.com/seed-d8745b77/rag/vectorstore/internal/remote"
)

// Texts is a sparse index in Weaviate: its BM25 over the terms that rag's analyzer makes of passages, so that words agree
// with those of other indexes. Titles and headings are not looked at, and it finds no phrases, beginnings of words or
// similar words. It is safe for concurrent use, also by several processes.
type Texts struct {
	*classes
	analyzer *analyze.Analyzer
}

var (
	_ rag.SparseIndex   = (*Texts)(nil)
	_ rag.IDLister      = (*Texts)(nil)
	_ rag.Dropper       = (*Texts)(nil)
	_ rag.Fingerprinter = (*Texts)(nil)
)

// NewTexts returns a sparse index; it asks the server nothing yet. Settings out of range are ErrInvalid.
func NewTexts(c Config) (*Texts, error) {
	s, err := open(c, words)
	if err != nil {
		return nil, err
	}
	return &Texts{s, analyze.New(nil)}, nil
}

// Fingerprint names the index and the analyzer.
func (x *Texts) Fingerprint() string { return "weaviate/" + x.analyzer.Fingerprint() }

// stemming says how the words of a text are stemmed.
func stemming(text, language string) string {
	if language == "" {
		language = lang.Detect(text)
	}
	return analyze.Stemming(language)
}

// Upsert writes the records. Words are stemmed in the record's language; if that is unknown, in the one its text seems to
// be in, else as English.
func (x *Texts) Upsert(ctx context.Context, collection string, recs []rag.TextRecord) error {
	last := make(map[string]int, len(recs))
	for i, r := range recs {
		if r.ID == "" {
			return fmt.Errorf("record %d has no ID: %w", i, rag.ErrInvalid)
		}
		last[r.ID] = i
	}
	var out []record
	for i, r := range recs {
		if last[r.ID] != i {
			continue
		}
		f, err := remote.FieldsOf(r.Meta, r.Validity)
		if err != nil {
			return x.service.Errorf("record %s: %w", r.ID, err)
		}
		p, terms := propertiesOf(r.ID, r.DocID, f), x.terms(r)
		p.Terms = &terms
		out = append(out, record{ID: uuid(r.ID), Properties: p})
	}
	if len(out) == 0 {
		return ctx.Err()
	}
	c, err := x.make(ctx, collection, 0)
	if err != nil {
		return err
	}
	for i := range out {
		out[i].Class = c.name
	}
	return x.write(ctx, collection, out)
}

// terms are those of a passage in order, a blank between them.
func (x *Texts) terms(r rag.TextRecord) string {
	var b strings.Builder
	x.analyzer.Passage(r.Text, stemming(r.Text, r.Language), func(t analyze.Term) {
		b.WriteString(t.Text)
		b.WriteByte(' ')
	})
	return strings.TrimSuffix(b.String(), " ")
}

// Search returns the K best records that share a term with the query and match the filter, best first, ties by ID. A
// [rag.TextMatch] that is not zero is ErrUnsupported, and so are more matches than MaxResults.
func (x *Texts) Search(ctx context.Context, collection string, q rag.SparseQuery) (matches []rag.Match, err error) {
	if err := errors.Join(ctx.Err(), q.Filter.Validate()); err != nil {
		return nil, err
	}
	if q.Match != (rag.TextMatch{}) {
		return nil, x.service.Errorf("phrases, beginnings of words and similar words: %w", rag.ErrUnsupported)
	}
	condition := remote.Narrow(q.Filter)
	terms := x.analyzer.Query(q.Text, x.stemmings(q.Text))
	if q.K <= 0 || condition.Op == remote.None || len(terms) == 0 {
		return nil, nil
	}
	err = x.read(ctx, collection, func(c class) error {
		var err error
		matches, err = remote.Search(ctx, q.K, q.Filter, nil, remote.Asked{
			Most:    x.config.MaxResults,
			Nearest: func(ctx context.Context, n int) ([]remote.Row, error) { return x.best(ctx, c, terms, n, condition) },
		})
		return err
	})
	return matches, err
}

// stemmings are the ways in which the words of a question are stemmed.
func (x *Texts) stemmings(question string) []string {
	out := []string{stemming(question, "")}
	for _, language := range x.config.Languages {
		if s := analyze.Stemming(language); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// best asks for the n best.
func (x *Texts) best(ctx context.Context, c class, terms []string, n int, condition remote.Condition) ([]remote.Row, error) {
	query := "bm25:{query:" + quote(strings.Join(terms, " ")) + ` properties:["terms"]}`
	hits, err := x.get(ctx, c, filtered([]string{query, "limit:" + strconv.Itoa(n)}, condition), "chunk meta _additional{score}")
	rows := make([]remote.Row, len(hits))
	for i, h := range hits {
		rows[i] = remote.Row{ID: h.Chunk, Score: float64(h.Additional.Score), Payload: h.Meta}
	}
	return rows, err
}
