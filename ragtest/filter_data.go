package ragtest

import (
	"fmt"
	"time"

	"github.com/seed-d8745b77/rag"
)

// filterRecords have fields that are true for 1 in 1, 10, 100, 1,000 and 10,000 of them, fields that some lack, and dates.
func filterRecords(n int) []rag.VectorRecord {
	recs := vecs(n)
	for i := range recs {
		m := rag.Meta{rag.FieldURI: fmt.Sprintf("dir%d/file%d.md", i%10, i%100), "n": float64(i)}
		for _, d := range []int{1, 10, 100, 1000, 10_000} {
			if i%d == d/2 {
				m[fmt.Sprintf("one_in_%d", d)] = true
			}
		}
		if i%3 == 0 {
			m["lang"] = []string{"de", "en", "zh"}[i/3%3]
		}
		if i%4 == 0 {
			m["tags"] = []string{"red", fmt.Sprintf("t%d", i%40)}
		}
		if i%5 == 0 {
			m["date"] = time.Date(2020, 1, 1+i%1000, 0, 0, 0, 0, time.UTC).Format([]string{time.DateOnly, time.RFC3339}[i/1000%2])
		}
		recs[i].Meta = m
		if i%2 == 0 {
			recs[i].Validity = rag.Validity{From: time.Date(2021, 1, 1+i%700, 0, 0, 0, 0, time.UTC), Stated: true}
		}
		if i%6 == 0 {
			recs[i].Validity.Until = time.Date(2024, 1, 1+i%300, 0, 0, 0, 0, time.UTC)
		}
	}
	return recs
}

// suiteFilters has every operator, alone and nested.
func suiteFilters() map[string]rag.Filter {
	at := time.Date(2022, 5, 17, 12, 0, 0, 0, time.UTC)
	return map[string]rag.Filter{
		"all":                  {},
		"exists 100 %":         rag.Exists("one_in_1"),
		"exists 10 %":          rag.Exists("one_in_10"),
		"eq 1 %":               rag.Eq("one_in_100", true),
		"eq 0.1 %":             rag.Eq("one_in_1000", true),
		"eq 0.01 %":            rag.Eq("one_in_10000", true),
		"eq none":              rag.Eq("one_in_1", false),
		"eq string":            rag.Eq("lang", "zh"),
		"eq element of list":   rag.Eq("tags", "red"),
		"eq of another kind":   rag.Eq("n", "5"),
		"unknown field":        rag.Eq("nothing", 1),
		"in":                   rag.In("lang", "de", "fr"),
		"in numbers":           rag.In("n", 1, 500, 9_999, -1),
		"in nothing":           rag.In("lang"),
		"range of numbers":     rag.Range("n", rag.Bounds{GTE: 100, LT: 103}),
		"range above":          rag.Range("n", rag.Bounds{GT: 9000}),
		"range of dates":       rag.Range("date", rag.Bounds{GTE: "2021-03-01", LTE: "2021-03-31"}),
		"range between days":   rag.Range("date", rag.Bounds{GT: "2021-03-01", LT: "2021-03-31"}),
		"prefix":               rag.Prefix(rag.FieldURI, "dir3/file1"),
		"prefix of a list":     rag.Prefix("tags", "t2"),
		"valid at":             rag.ValidAt(at),
		"not exists":           rag.Not(rag.Exists("lang")),
		"not eq of absent":     rag.Not(rag.Eq("lang", "de")),
		"and":                  rag.And(rag.Eq("lang", "en"), rag.ValidAt(at), rag.Exists("tags")),
		"or":                   rag.Or(rag.Eq("one_in_1000", true), rag.Eq("n", 7)),
		"or of nothing":        {Op: rag.OpOr},
		"and, or, not, nested": rag.And(rag.Not(rag.Or(rag.Eq("lang", "en"), rag.Exists("tags"))), rag.Range("n", rag.Bounds{LT: 5000})),
	}
}
