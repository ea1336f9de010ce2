package domain_test

import (
	"fmt"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/domain"
)

func Example() {
	d, err := domain.Parse("fares.yaml", []byte(`
name: fares
collection: fares
fields:
  country: {enum: {uk: [Britain], fr: [France]}, filterable: true}
  from: {type: date}
  until: {type: date}
validity: {from: from, until: until}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	q, err := d.Query(rag.Query{Text: "How much is it?", Filter: rag.Eq("country", "Britain")}, time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(q.Collection, q.Filter, q.AsOf.Format(time.DateOnly)) // the vocabulary's word, and what is in force on that day
	// Output: fares country = "uk" 2026-03-01
}
