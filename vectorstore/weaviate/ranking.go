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

// ranking scores passages for a question as the embedded index does. Weaviate's own scores are not taken: it counts records
// that were replaced or deleted until it has merged its files, so that a word can have a weight below zero, and it does so
// for each shard by itself.
type ranking struct {
	*Texts
	class class
	query string // the terms, a blank between them
	terms []term
	mean  float64 // length of a passage
}

// term is one of a question.
type term struct {
	text   string
	weight float64 // how often it counts, times its rarity
}

// ranking counts how many records have each term of a question.
func (x *Texts) ranking(ctx context.Context, c class, clauses []bm25.Clause) (*ranking, error) {
	r := &ranking{Texts: x, class: c}
	var query strings.Builder
	query.WriteString("{Aggregate{all:" + c.name + "{meta{count} length{mean}}")
	for i, clause := range clauses {
		text := clause.Terms[0]
		r.terms = append(r.terms, term{text, clause.Weight})
		query.WriteString(" t" + strconv.Itoa(i) + ":" + c.name + `(where:{path:["terms"] operator:Equal valueText:` + quote(text) + "}){meta{count}}")
	}
	reply, err := x.query(ctx, query.String()+"}}")
	if err != nil {
		return nil, err
	}
	counted := func(name string) count {
		if list := reply.Data.Aggregate[name]; len(list) > 0 {
			return list[0]
		}
		return count{}
	}
	all := counted("all")
	r.mean = cmp.Or(all.Length.Mean, 1) // of no words none
	texts := make([]string, len(r.terms))
	for i := range r.terms {
		texts[i] = r.terms[i].text
		having := counted("t" + strconv.Itoa(i)).Meta.Count
		r.terms[i].weight *= bm25.Rarity(max(all.Meta.Count, having), having) // counted one after another, while others write
	}
	r.query = strings.Join(texts, " ")
	return r, nil
}

// candidates is how many records are asked for to find the best n of them: the server's order is not the scores'.
func candidates(n int) int { return 2*n + 200 }

// best returns the n best of what Weaviate finds.
func (r *ranking) best(ctx context.Context, n int, f rag.Filter, condition remote.Condition) ([]remote.Row, error) {
	limit := min(candidates(n), r.config.MaxResults)
	arguments := filtered([]string{"bm25:{query:" + quote(r.query) + ` properties:["terms"]}`, "limit:" + strconv.Itoa(limit)}, condition)
	hits, err := r.get(ctx, r.class, arguments, judged(f)+" length _additional{explainScore}")
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
