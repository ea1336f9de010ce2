// Package sparse ranks passages by their words.
//
//	index, err := sparse.OpenBM25(dir, sparse.BM25Config{})
//	err = index.Upsert(ctx, "handbook", []rag.TextRecord{{ID: "c1", Text: "Leave is 25 days a year."}})
//	matches, err := index.Search(ctx, "handbook", rag.SparseQuery{Text: "annual leave", K: 10})
package sparse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/analyze"
	"github.com/seed-d8745b77/rag/internal/bm25"
	"github.com/seed-d8745b77/rag/internal/terms"
)

// Defaults of [BM25Config]: what Lucene and most of the literature use.
const (
	DefaultK1 = bm25.DefaultK1
	DefaultB  = bm25.DefaultB
)

// BM25Config holds the settings of [OpenBM25]. K1 and B work at search time: changing them needs no new ingest. The
// others decide what is stored, and are part of the fingerprint.
type BM25Config struct {
	K1 float64 `json:"k1,omitzero" range:"(0,1000000]"` // how much repetition of a term counts, > 0; 0: DefaultK1. Below 0.01 only presence counts
	B  float64 `json:"b,omitzero" range:"(0,1]"`        // how much long passages are marked down, 0 to 1; 0: DefaultB. 1e-9 is as good as not at all

	Fields FieldWeights `json:"fields"` // words of title and headings beside those of the text; zero: not looked at

	// Segmenter finds the words of Chinese, which are added to the pairs of characters; nil: none are. See sparse/gse.
	Segmenter Segmenter `json:"-"`
}

// FieldWeights says how often a word of a title or of a heading counts, where a word of the text counts once: BM25F in
// its simple form (Robertson and Zaragoza 2009, section 3.6, with one length for all fields), occurrences weighted and
// added up before the score saturates. It comes on top of what Text holds: a text that the engine gives begins with
// its headings already. In steps of 0.25, up to 16; 0: the field is not looked at.
type FieldWeights struct {
	Title    float64 `json:"title" range:"[0,16]"`    // a common value is 2
	Headings float64 `json:"headings" range:"[0,16]"` // a common value is 1.5
}

// Segmenter cuts Chinese text into words.
type Segmenter interface {
	// Fingerprint names the segmenter and its dictionary, short and printable.
	Fingerprint() string
	// Segment returns the words of a run of Han characters, in order and without gaps. It is safe for concurrent use.
	Segment(run string) []string
}

func (c BM25Config) params() (bm25.Params, error) {
	p, err := bm25.Params{K1: c.K1, B: c.B}.Chosen()
	if err != nil {
		return p, fmt.Errorf("bm25: %w: %w", err, rag.ErrInvalid)
	}
	return p, nil
}

// BM25 is an inverted index with exact statistics. It is safe for concurrent use. A collection is read into memory at
// its first use and searched there; about 300 bytes for each passage of 100 words, more once phrases are asked for, and
// the fields that filters name.
type BM25 struct {
	params bm25.Params
	maker  terms.Maker
	keep   keeper
}

var (
	_ rag.SparseIndex   = (*BM25)(nil)
	_ rag.IDLister      = (*BM25)(nil)
	_ rag.Dropper       = (*BM25)(nil)
	_ rag.Fingerprinter = (*BM25)(nil)
	_ io.Closer         = (*BM25)(nil)
)

// OpenBM25 opens the index in <dir>/rag.db and makes it if it is not there; dir "" keeps everything in memory. The
// caller closes it. Errors: ErrInvalid for settings out of range and for a damaged or foreign file, ErrLocked if
// another process has the file open.
func OpenBM25(dir string, c BM25Config) (*BM25, error) {
	params, err := c.params()
	if err != nil {
		return nil, err
	}
	fields, err := terms.NewFields(c.Fields.Title, c.Fields.Headings)
	if err != nil {
		return nil, fmt.Errorf("bm25: %w: %w", err, rag.ErrInvalid)
	}
	x := &BM25{params: params, maker: terms.Maker{Analyzer: analyze.New(c.Segmenter), Fields: fields}}
	x.params.K1 *= fields.Unit()
	if x.keep, err = openKeeper(dir, x.stored()); err != nil {
		return nil, err
	}
	return x, nil
}

// Fingerprint names the index, and the analyzer and the settings that decide what is stored of a passage.
func (x *BM25) Fingerprint() string { return "bm25/" + x.stored() }

func (x *BM25) stored() string { return x.maker.Fingerprint() }

// Close releases the file.
func (x *BM25) Close() error { return x.keep.close() }

// Upsert adds the records, replacing those of the same ID; of two with one ID in the call the later one stays. Words
// are stemmed in the record's language; if that is unknown, in the one its text seems to be in, else as English. An
// empty ID, metadata of another kind than rag.Meta allows and a collection name that cannot be kept are ErrInvalid;
// then nothing of the call is written.
func (x *BM25) Upsert(ctx context.Context, collection string, recs []rag.TextRecord) error {
	if err := checkCollection(collection); err != nil {
		return err
	}
	docs, err := x.docs(ctx, recs)
	if err != nil || len(docs) == 0 {
		return err
	}
	segment, err := bm25.Build(docs)
	if err != nil {
		return fmt.Errorf("index %d records: %w", len(docs), err)
	}
	return x.keep.change(collection, func(index *bm25.Index, load bm25.LoadDetail) (*bm25.Index, error) {
		return index.With(nil, segment, load)
	})
}

// docs analyses the records.
func (x *BM25) docs(ctx context.Context, recs []rag.TextRecord) ([]bm25.Doc, error) {
	last := make(map[string]int, len(recs))
	for i, r := range recs {
		if r.ID == "" {
			return nil, fmt.Errorf("record %d has no ID: %w", i, rag.ErrInvalid)
		}
		last[r.ID] = i
	}
	docs := make([]bm25.Doc, 0, len(last))
	for i, r := range recs {
		if last[r.ID] != i {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		payload, err := encodePayload(r.Meta, r.Validity)
		if err != nil {
			return nil, fmt.Errorf("record %s: %w", r.ID, err)
		}
		docs = append(docs, x.doc(r, payload))
	}
	return docs, nil
}

// passage is what terms are made of.
func passage(r rag.TextRecord) terms.Passage {
	return terms.Passage{Text: r.Text, Title: r.Title, Headings: r.Headings, Language: r.Language}
}

func (x *BM25) doc(r rag.TextRecord, payload string) bm25.Doc {
	d := bm25.Doc{ID: r.ID, Payload: payload}
	d.Stemming, d.Tokens, d.Length = x.maker.Passage(passage(r))
	return d
}

// ask makes clauses and phrases of a query's text.
func (x *BM25) ask(index *bm25.Index, q rag.SparseQuery) *terms.Asked {
	return x.maker.Ask(terms.Vocabulary{Stemmings: index.Stemmings(), Prefixed: index.Prefixed, Similar: index.Similar}, q.Text, terms.Match(q.Match))
}

// Search returns the K best records that share a term with the query and match the filter, best first, ties by ID. An
// invalid filter or match is ErrInvalid.
func (x *BM25) Search(ctx context.Context, collection string, q rag.SparseQuery) ([]rag.Match, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := errors.Join(q.Filter.Validate(), q.Match.Validate()); err != nil {
		return nil, err
	}
	index, err := x.keep.index(collection, q.Match != rag.TextMatch{})
	if err != nil || index.Len() == 0 || q.K <= 0 {
		return nil, err
	}
	asked := x.ask(index, q)
	defer asked.GiveBack()
	found, err := index.Search(ctx, bm25.Query{K: q.K, Clauses: asked.Clauses, Phrases: asked.Phrases, Allow: allow(q.Filter), Params: x.params})
	if err != nil {
		return nil, err
	}
	matches := make([]rag.Match, len(found))
	for i, m := range found {
		matches[i] = rag.Match{ID: m.ID, Score: m.Score}
	}
	return matches, nil
}

// Delete removes records; absent IDs and an unknown collection are not an error.
func (x *BM25) Delete(ctx context.Context, collection string, ids []string) error {
	if err := ctx.Err(); err != nil || len(ids) == 0 {
		return err
	}
	return x.keep.change(collection, func(index *bm25.Index, load bm25.LoadDetail) (*bm25.Index, error) {
		return index.With(ids, nil, load)
	})
}

// IDs yields the IDs of all records, sorted, as they were when the iteration began.
func (x *BM25) IDs(ctx context.Context, collection string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		index, err := x.keep.index(collection, false)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			yield("", err)
			return
		}
		for _, id := range index.IDs() {
			if !yield(id, nil) {
				return
			}
		}
	}
}

// Drop removes the collection; an unknown one is not an error.
func (x *BM25) Drop(ctx context.Context, collection string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return x.keep.drop(collection)
}

// Compact makes the file smaller by the space that deleted records left.
func (x *BM25) Compact(ctx context.Context) (freed int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return x.keep.compact()
}
