package pdf_test

import (
	"context"
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/loader/pdf"
)

func Example() {
	l, err := pdf.New(pdf.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for src, err := range rag.Files("handbook.pdf").All {
		if err != nil {
			fmt.Println(err)
			return
		}
		for doc, err := range l.Load(context.Background(), src) {
			fmt.Println(doc.Title, len(doc.Pages), doc.Warnings, err)
		}
	}
}
