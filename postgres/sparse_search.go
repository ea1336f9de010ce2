package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/bm25"
	"github.com/seed-d8745b77/rag/internal/terms"
)

// Search returns the K best records that share a term with the query and match the filter, best first, ties by ID. Phrases
// and prefixes are looked for; words that are spelled otherwise (Fuzzy) are ErrUnsupported: a database has no list of its
// words that could be gone through fast.
func (x *Sparse) Search(ctx context.Context, collection string, q rag.SparseQuery) (matches []rag.Match, err error) {
	if err := errors.Join(q.Filter.Validate(), q.Match.Validate()); err != nil {
		return nil, err
	}
	err = x.read(ctx, collection, func(ctx context.Context, c wordCollection) error {
		matches = nil
		asked, err := x.ask(ctx, c, q)
		if err != nil {
			return err
		}
		defer asked.GiveBack()
		if len(asked.Clauses) == 0 || q.K <= 0 {
			return nil
		}
		s := statement{args: args{c.id, x.k1, x.b}}
		rows, err := x.pool.Query(ctx, s.search(asked, q), s.args...)
		if err != nil {
			return err
		}
		var m rag.Match
		_, err = pgx.ForEachRow(rows, []any{&m.ID, &m.Score}, func() error {
			matches = append(matches, m)
			return nil
		})
		return err
	})
	return matches, err
}

// ask makes clauses and phrases of a query's text; they are to be given back.
func (x *Sparse) ask(ctx context.Context, c wordCollection, q rag.SparseQuery) (*terms.Asked, error) {
	if q.Match.Fuzzy > 0 {
		return nil, fmt.Errorf("postgres: fuzzy words cannot be looked for: %w", rag.ErrUnsupported)
	}
	v := c.vocabulary()
	var failed error
	v.Prefixed = func(prefix string) []string {
		list, err := x.prefixed(ctx, c, prefix)
		failed = errors.Join(failed, err)
		return list
	}
	asked := x.maker.Ask(v, q.Text, terms.Match(q.Match))
	if failed != nil {
		asked.GiveBack()
		return nil, failed
	}
	return asked, nil
}

// prefixed returns the terms that begin so, and those of words that do.
func (x *Sparse) prefixed(ctx context.Context, c wordCollection, prefix string) ([]string, error) {
	prefix = textOf(prefix)
	rows, err := x.pool.Query(ctx, `
		select distinct term from word_postings where collection = $1 and term >= $2 and ($3 = '' or term < $3)
		union select term from word_forms where collection = $1 and form >= $2 and ($3 = '' or form < $3) order by 1`, c.id, prefix, afterPrefix(prefix))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// statement writes a search: $1 is the collection, $2 and $3 are K1 and B.
type statement struct{ args args }

// scoreUnit is that of package bm25: scores are sums of whole numbers of it, so that they do not depend on their order, and
// ties are ties. 2^40; a sum of 64-bit floating point numbers is exact up to 2^53 of them.
const scoreUnit = "1099511627776.0::float8"

// search ranks as [bm25.Index.Search] does: in hits the occurrences of each clause in each passage, in weights the
// rarity of each clause, in scored the sums. The planner cannot know how many they are: what is not materialized it may
// compute again for each passage, and a join with many clauses it may make by comparing all with all, hence the array.
func (s *statement) search(asked *terms.Asked, q rag.SparseQuery) string {
	from := `
		, totals as (
			select sum(passages)::float8 as n, $2 * (1 - $3::float8) as flat, $2::float8 * $3 * sum(passages) / greatest(sum(length), 1)::float8 as slope
			from word_totals where collection = $1)
		, counts as (select clause, count(*) as df from hits group by clause)
		, weights as materialized (
			select array_agg(times * ln(1 + (n - coalesce(df, 0) + 0.5) / (coalesce(df, 0) + 0.5)) * ` + scoreUnit + ` order by clause) as weights, min(flat) as flat, min(slope) as slope
			from asked_times left join counts using (clause), totals)
		, shares as (select passage, tf, length, weights[clause] as weight, flat, slope from hits, weights ` + s.phrases(asked.Phrases) + `)
		, scored as (select passage, sum(trunc(weight - weight / (1 + tf * (1 / (flat + slope * length))))) as score from shares group by passage)`
	k := s.args.add(q.K)
	if q.Filter.IsZero() { // no passage is looked at but the best
		return s.hits(asked.Clauses) + from + `
			, best as (select passage, score from scored order by score desc fetch first (` + k + `) rows with ties)
			select p.id, score / ` + scoreUnit + ` from best join word_passages p on p.no = passage order by score desc, p.id limit ` + k
	}
	// Each passage is looked up by its number, the best first, until there are enough. What a filter lets through is a guess to
	// the planner, and joined the other way round it can cost the square of the passages.
	return s.hits(asked.Clauses) + from + `
		, best as (
			select id, score from (select passage, score from scored order by score desc) as ranked join lateral (
				select p.id from word_passages p where p.no = passage and ` + s.args.where(q.Filter) + ` offset 0) as allowed on true
			order by score desc fetch first (` + k + `) rows with ties)
		select id, score / ` + scoreUnit + ` from best order by score desc, id limit ` + k
}

// hits finds the passages of each clause.
func (s *statement) hits(clauses []bm25.Clause) string {
	var numbers []int32
	var words []string
	weights := make([]float64, len(clauses))
	several := false
	for i, c := range clauses {
		weights[i] = c.Weight
		several = several || len(c.Terms) > 1
		for _, term := range c.Terms {
			numbers, words = append(numbers, int32(i+1)), append(words, textOf(term))
		}
	}
	tf, group := `p.tf::float8 as tf, p.length`, ``
	if several { // the occurrences of a clause's terms are added up
		tf, group = `sum(p.tf)::float8 as tf, min(p.length) as length`, ` group by a.clause, p.passage`
	}
	return `
		with asked as (select * from unnest(` + s.args.add(numbers) + `::integer[], ` + s.args.add(words) + `::text[]) as a(clause, term))
		, asked_times as (select clause, times from unnest(` + s.args.add(weights) + `::float8[]) with ordinality as w(times, clause))
		, hits as materialized (
			select a.clause, p.passage, ` + tf + ` from asked a join word_postings p on p.collection = $1 and p.term = a.term collate "C"` + group + `)`
}

// phrases leaves the passages that have the words of every phrase one behind the other: where the place of each, less its
// number in the phrase, is the same.
func (s *statement) phrases(list []bm25.Phrase) string {
	var conditions []string
	for _, phrase := range list {
		var at []int32
		var words []string
		places := 0
		for i, alternatives := range phrase {
			if len(alternatives) > 0 { // else any word fits
				places++
			}
			for _, term := range alternatives {
				at, words = append(at, int32(i)), append(words, textOf(term))
			}
		}
		if places == 0 {
			continue
		}
		conditions = append(conditions, `passage in (
			select passage from (
				select a.at, p.passage, unnest(p.places) - a.at as start
				from unnest(`+s.args.add(at)+`::integer[], `+s.args.add(words)+`::text[]) as a(at, term)
				join word_postings p on p.collection = $1 and p.term = a.term collate "C") as stands
			group by passage, start having count(distinct at) = `+s.args.add(places)+`)`)
	}
	if conditions == nil {
		return ""
	}
	return "where " + strings.Join(conditions, " and ")
}

// Highlight returns where words of the query stand in the records' texts, as the embedded index does. In an unknown collection
// nothing is marked.
func (x *Sparse) Highlight(ctx context.Context, collection string, q rag.SparseQuery, recs []rag.TextRecord) ([][]rag.TextRange, error) {
	if err := q.Match.Validate(); err != nil {
		return nil, err
	}
	passages := make([]terms.Passage, len(recs))
	for i, r := range recs {
		passages[i] = terms.Passage{Text: r.Text, Language: r.Language}
	}
	found := make([][]rag.TextRange, len(recs))
	err := x.read(ctx, collection, func(ctx context.Context, c wordCollection) error {
		asked, err := x.ask(ctx, c, q)
		if err != nil {
			return err
		}
		defer asked.GiveBack()
		for i, ranges := range x.maker.Highlight(asked, q.Text, passages) {
			found[i] = nil
			for _, r := range ranges {
				found[i] = append(found[i], rag.TextRange(r))
			}
		}
		return nil
	})
	return found, err
}

// Cover returns the words that a question asks for, each with its rarity in the collection as BM25 weighs it, and which of
// them each record's text has.
func (x *Sparse) Cover(ctx context.Context, collection, question string, recs []rag.TextRecord) (rag.Coverage, error) {
	var found wordCollection // an unknown one has no passages
	var words []bm25.Clause
	var wordOf map[string]int
	passages := 0
	counts := map[int]int{} // of passages, by word
	err := x.read(ctx, collection, func(ctx context.Context, c wordCollection) error {
		found = c
		words, wordOf = x.maker.Words(c.vocabulary(), question)
		s := statement{args: args{c.id}}
		rows, err := x.pool.Query(ctx, s.hits(words)+`
			select 0, (select coalesce(sum(passages), 0)::bigint from word_totals where collection = $1)
			union all select clause, count(*) from hits group by clause`, s.args...)
		if err != nil {
			return err
		}
		var clause, n int
		_, err = pgx.ForEachRow(rows, []any{&clause, &n}, func() error {
			if clause == 0 {
				passages = n
			} else {
				counts[clause-1] = n
			}
			return nil
		})
		return err
	})
	if err != nil {
		return rag.Coverage{}, err
	}
	if found.id == 0 {
		words, wordOf = x.maker.Words(found.vocabulary(), question)
	}
	c := rag.Coverage{Weights: make([]float64, len(words)), Found: make([][]bool, len(recs))}
	for i := range words {
		c.Weights[i] = bm25.Rarity(passages, counts[i])
	}
	for i, r := range recs {
		c.Found[i] = x.maker.Cover(words, wordOf, r.Text, r.Language)
	}
	return c, nil
}
