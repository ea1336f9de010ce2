package weaviate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/analyze"
	"github.com/seed-d8745b77/rag/internal/bm25"
	"github.com/seed-d8745b77/rag/internal/terms"
	"github.com/seed-d8745b77/rag/vectorstore/internal/remote"
)

// Texts is a sparse index in Weaviate. Weaviate finds the candidates by its BM25, over the terms that rag's analyzer makes
// of passages; in collections of up to ExactUpTo records their scores are the embedded index's. Titles and headings are
// not looked at, and it finds no phrases, beginnings of words or similar words. It is safe for concurrent use, also by
// several processes.
type Texts struct {
	*classes
	maker terms.Maker
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
	return &Texts{s, terms.Maker{Analyzer: analyze.New(nil)}}, nil
}

// Fingerprint names the index and the analyzer.
func (x *Texts) Fingerprint() string { return "weaviate/" + x.maker.Fingerprint() }

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
		p := propertiesOf(r.ID, r.DocID, f)
		p.Terms, p.Length = x.terms(r)
		out = append(out, record{ID: uuid(r.ID), Properties: p})
	}
	if len(out) == 0 {
		return ctx.Err()
	}
	return x.write(ctx, collection, 0, func(c class) error { return x.upsert(ctx, c, out) })
}

// terms are those of a passage in order, a blank between them, and its length.
func (x *Texts) terms(r rag.TextRecord) (*string, *float64) {
	_, tokens, n := x.maker.Passage(terms.Passage{Text: r.Text, Language: r.Language})
	list := make([]string, len(tokens))
	for i, t := range tokens {
		list[i] = t.Term
	}
	text, length := strings.Join(list, " "), float64(n)
	return &text, &length
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
	clauses := x.clauses(q.Text)
	if q.K <= 0 || condition.Op == remote.None || len(clauses) == 0 {
		return nil, nil
	}
	err = x.read(ctx, collection, func(c class) error {
		ranked, err := x.ranking(ctx, c, clauses)
		if err != nil {
			return err
		}
		matches, err = remote.Search(ctx, q.K, q.Filter, nil, remote.Asked{
			Most: x.config.MaxResults,
			Nearest: func(ctx context.Context, n int) ([]remote.Row, error) {
				return ranked.best(ctx, n, q.Filter, condition)
			},
		})
		return err
	})
	return matches, err
}

// clauses are what passages are ranked by: a term each.
func (x *Texts) clauses(question string) []bm25.Clause {
	stemmings := []string{terms.Stemming(question, "")}
	for _, language := range x.config.Languages {
		if s := analyze.Stemming(language); !slices.Contains(stemmings, s) {
			stemmings = append(stemmings, s)
		}
	}
	asked := x.maker.Ask(terms.Vocabulary{Stemmings: stemmings}, question, terms.Match{})
	defer asked.GiveBack()
	clauses := make([]bm25.Clause, len(asked.Clauses))
	for i, c := range asked.Clauses {
		clauses[i] = bm25.Clause{Terms: slices.Clone(c.Terms), Weight: c.Weight}
	}
	return clauses
}
