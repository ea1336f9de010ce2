package weaviate

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/bm25"
	"github.com/seed-d8745b77/rag/vectorstore/internal/remote"
)

// ranking scores passages for a question. Weaviate's own scores count records that were replaced or deleted until it has
// merged its files, so that in a small collection a word can have a weight below zero, and they are each shard's. Where
// it is not too much to count, what they are made of is counted, and they are the embedded index's.
type ranking struct {
	*Texts
	class class
	query string // the terms, a blank between them
	terms []term
	exact bool    // the terms are counted; else the server's scores are taken
	mean  float64 // length of a passage
}

// term is one of a question.
type term struct {
	text   string
	weight float64 // how often it counts, times its rarity
}

// ranking prepares to rank by clauses of a term each.
func (x *Texts) ranking(ctx context.Context, c class, clauses []bm25.Clause) (*ranking, error) {
	r := &ranking{Texts: x, class: c}
	texts := make([]string, len(clauses))
	for i, clause := range clauses {
		texts[i] = clause.Terms[0]
		r.terms = append(r.terms, term{texts[i], clause.Weight})
	}
	r.query = strings.Join(texts, " ")
	all, err := x.count(ctx, "all:"+c.name+"{meta{count} length{mean}}")
	if err != nil {
		return nil, err
	}
	r.mean = cmp.Or(all("all").Length.Mean, 1) // of no words none
	if r.exact = all("all").Meta.Count <= x.config.ExactUpTo; r.exact {
		return r, r.count(ctx, all("all").Meta.Count)
	}
	return r, nil
}

// count counts how many of the records have each term.
func (r *ranking) count(ctx context.Context, records int) error {
	each := make([]string, len(r.terms))
	for i, t := range r.terms {
		each[i] = "t" + strconv.Itoa(i) + ":" + r.class.name + `(where:{path:["terms"] operator:Equal valueText:` + quote(t.text) + "}){meta{count}}"
	}
	counted, err := r.Texts.count(ctx, each...)
	if err != nil {
		return err
	}
	for i := range r.terms {
		having := counted("t" + strconv.Itoa(i)).Meta.Count
		r.terms[i].weight *= bm25.Rarity(max(records, having), having) // counted one after the other, while others write
	}
	return nil
}

// candidates is how many records are asked for to find the best n of them: the server's order is not the scores'.
func candidates(n int) int { return 2*n + 200 }

// best returns the n best of what Weaviate finds.
func (r *ranking) best(ctx context.Context, n int, f rag.Filter, condition remote.Condition) ([]remote.Row, error) {
	limit := min(candidates(n), r.config.MaxResults)
	arguments := filtered([]string{"bm25:{query:" + quote(r.query) + ` properties:["terms"]}`, "limit:" + strconv.Itoa(limit)}, condition)
	score := "_additional{score}"
	if r.exact {
		score = "length _additional{explainScore}"
	}
	hits, err := r.get(ctx, r.class, arguments, judged(f)+" "+score)
	if err != nil {
		return nil, err
	}
	rows := make([]remote.Row, len(hits))
	for i, h := range hits {
		rows[i] = remote.Row{ID: h.Chunk, Payload: h.Meta}
		if rows[i].Score, err = r.score(h); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(rows, func(a, b remote.Row) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
	return rows[:min(n, len(rows))], nil
}

// score is BM25 as in [bm25.Index.Search]. How often a passage has a term stands in the server's explanation, which is much
// shorter than the passage: ", BM25F_boat_frequency:2, BM25F_boat_propLength:60".
func (r *ranking) score(h hit) (sum float64, err error) {
	if !r.exact {
		return float64(h.Additional.Score), nil
	}
	norm := r.config.K1 * (1 - r.config.B + r.config.B*h.Length/r.mean)
	for _, t := range r.terms {
		_, behind, ok := strings.Cut(h.Additional.ExplainScore, "BM25F_"+t.text+"_frequency:")
		if !ok {
			continue
		}
		number, _, _ := strings.Cut(behind, ",")
		often, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return 0, r.service.Errorf("it explains a score by %q, not as version 1.35 does: %w", h.Additional.ExplainScore, rag.ErrUnsupported)
		}
		sum += t.weight * often / (often + norm)
	}
	if sum == 0 {
		return 0, r.service.Errorf("it explains a score by %q, not as version 1.35 does: %w", h.Additional.ExplainScore, rag.ErrUnsupported)
	}
	return sum, nil
}
