package splitter_test

import (
	"context"
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/splitter"
)

func Example() {
	const text = "# Ferries\n\nThe last ferry leaves at 22:40.\n\n# Berths\n\nA berth costs 12 euros a night.\n"
	doc := rag.Document{Text: text, Sections: []rag.Section{
		{Level: 1, Title: "Ferries", Start: 0, End: 44},
		{Level: 1, Title: "Berths", Start: 44, End: len(text)},
	}}
	s, err := splitter.NewSection(splitter.Config{}, splitter.Estimate{}) // an engine counts the tokens of its embedder
	if err != nil {
		fmt.Println(err)
		return
	}
	chunks, err := s.Split(context.Background(), doc)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range chunks {
		fmt.Printf("%v %q\n", c.Headings, c.Text)
	}
	// Output:
	// [Ferries] "# Ferries\n\nThe last ferry leaves at 22:40."
	// [Berths] "# Berths\n\nA berth costs 12 euros a night."
}
