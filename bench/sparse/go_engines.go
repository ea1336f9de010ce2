package main

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/lang/cjk"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/mapping"
	bindex "github.com/blevesearch/bleve_index_api"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/bench/ir"
	"github.com/seed-d8745b77/rag/sparse"
)

// batch is the number of documents that are indexed in one call.
const batch = 200

func runRag(set *ir.Set, dir string, k int) (o outcome, err error) {
	ctx := context.Background()
	x, err := sparse.OpenBM25(dir, sparse.BM25Config{})
	if err != nil {
		return o, err
	}
	defer func() { _ = x.Close() }() // nothing is read of it any more
	o.IndexSeconds, err = timed(func() error {
		for part := range slices.Chunk(set.Docs, batch) {
			recs := make([]rag.TextRecord, len(part))
			for i, d := range part {
				recs[i] = rag.TextRecord{ID: d.ID, DocID: d.ID, Text: d.FullText()}
			}
			if err := x.Upsert(ctx, "bench", recs); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return o, err
	}
	err = ask(&o, set, func(query string) ([]string, error) {
		found, err := x.Search(ctx, "bench", rag.SparseQuery{Text: query, K: k})
		ids := make([]string, len(found))
		for i, m := range found {
			ids[i] = m.ID
		}
		return ids, err
	})
	if err != nil {
		return o, err
	}
	o.Bytes, err = folderSize(dir)
	return o, err
}

// ask runs the queries once to warm up, and once for the clock.
func ask(o *outcome, set *ir.Set, search func(query string) ([]string, error)) error {
	for _, q := range set.Queries {
		if _, err := search(q.Text); err != nil {
			return err
		}
	}
	for _, q := range set.Queries {
		var ids []string
		seconds, err := timed(func() (err error) {
			ids, err = search(q.Text)
			return err
		})
		if err != nil {
			return err
		}
		o.QuerySeconds = append(o.QuerySeconds, seconds)
		o.Ranked = append(o.Ranked, ids)
	}
	return nil
}

func runBleve(set *ir.Set, dir string, k int) (o outcome, err error) {
	analyzer := en.AnalyzerName
	if set.Name == "cmrc2018" {
		analyzer = cjk.AnalyzerName
	}
	path := filepath.Join(dir, "bleve")
	x, err := bleve.New(path, bleveMapping(analyzer))
	if err != nil {
		return o, err
	}
	defer func() { _ = x.Close() }() // nothing is read of it any more
	o.IndexSeconds, err = timed(func() error {
		for part := range slices.Chunk(set.Docs, batch) {
			b := x.NewBatch()
			for _, d := range part {
				if err := b.Index(d.ID, map[string]any{"text": d.FullText()}); err != nil {
					return err
				}
			}
			if err := x.Batch(b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return o, err
	}
	err = ask(&o, set, func(query string) ([]string, error) {
		q := bleve.NewMatchQuery(query)
		q.SetField("text")
		found, err := x.Search(bleve.NewSearchRequestOptions(q, k, 0, false))
		if err != nil {
			return nil, err
		}
		var ids []string
		for _, hit := range found.Hits {
			ids = append(ids, hit.ID)
		}
		return ids, nil
	})
	if err != nil {
		return o, err
	}
	o.Bytes, err = folderSize(dir)
	return o, err
}

// bleveMapping indexes one field with BM25 and stores nothing beside.
func bleveMapping(analyzer string) mapping.IndexMapping {
	text := bleve.NewTextFieldMapping()
	text.Analyzer, text.Store, text.IncludeTermVectors, text.IncludeInAll, text.DocValues = analyzer, false, false, false, false
	doc := bleve.NewDocumentStaticMapping()
	doc.AddFieldMappingsAt("text", text)
	m := bleve.NewIndexMapping()
	m.DefaultMapping, m.DefaultAnalyzer, m.ScoringModel = doc, analyzer, bindex.BM25Scoring
	return m
}
