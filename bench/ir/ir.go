// Package ir reads labelled retrieval sets for benchmarks, and measures rankings by the two metrics that they report. Both
// are those of package eval.
//
//	set, err := ir.Read("../shared/data/ir/scifact")
//	var sum ir.Mean
//	for _, q := range set.Queries {
//		sum.Add(ir.NDCG(search(q.Text), set.Judged[q.ID], 10))
//	}
package ir

import "github.com/seed-d8745b77/rag/eval"

type (
	// Set is a labelled retrieval set.
	Set = eval.BEIR
	// Doc is a document of a set.
	Doc = eval.BEIRDoc
	// Query is a query of a set.
	Query = eval.BEIRQuery
)

// Read reads corpus.jsonl, queries.jsonl and qrels.tsv of a folder. Errors name the file and the line.
func Read(dir string) (*Set, error) { return eval.ReadBEIR(dir) }

// NDCG returns [eval.NDCG] of the first k of the ranked documents, 0 if nothing is relevant.
func NDCG(ranked []string, grades eval.Grades, k int) float64 {
	v, _ := eval.Metric{Kind: eval.NDCG, K: k}.Of(ranked, grades)
	return v
}

// Recall returns [eval.Recall] of the first k of the ranked documents, 0 if nothing is relevant.
func Recall(ranked []string, grades eval.Grades, k int) float64 {
	v, _ := eval.Metric{Kind: eval.Recall, K: k}.Of(ranked, grades)
	return v
}
