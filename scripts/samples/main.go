// Command samples makes the PDF files of the examples admissions and course. From the project's folder:
//
//	go run ./scripts/samples
package main

import (
	_ "embed" // the texts
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/seed-d8745b77/rag/internal/pdffile"
)

var (
	//go:embed how-to-apply.txt
	howToApply string
	//go:embed transactions.txt
	transactions string
)

func main() {
	if err := writeFiles("."); err != nil {
		log.Fatal(err)
	}
}

// writeFiles makes the files below a folder.
func writeFiles(root string) error {
	guide, err := guide()
	if err != nil {
		return fmt.Errorf("draw the flow chart: %w", err)
	}
	lecture := pdffile.New()
	write(lecture, transactions)
	lecture.Info("/Title(Transactions)")
	for name, data := range map[string][]byte{
		"examples/admissions/documents/westmoor-how-to-apply-2026.pdf": guide,
		"examples/course/docs/databases/lectures/03-transactions.pdf":  lecture.Bytes(),
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// guide is a page of text, and one with the picture of the flow chart.
func guide() ([]byte, error) {
	width, height, pixels, err := draw()
	if err != nil {
		return nil, err
	}
	f := pdffile.New()
	write(f, howToApply)
	picture := f.Gray(width, height, pixels)
	content := pdffile.Text(pdffile.Bold, 15, left, top, "The way of an application") +
		pdffile.Text(pdffile.Regular, 10, left, top-24, "Figure 1 shows the steps from the form to the offer, and the time that each of them takes.") +
		pdffile.Draw("P0", left, top-60-chartHeight, chartWidth, chartHeight) +
		pdffile.Text(pdffile.Regular, 10, left, top-84-chartHeight, "Figure 1. Steps of an application to the University of Westmoor.")
	f.Page(pageWidth, pageHeight, content, "", picture)
	f.Info("/Title(How to apply to Westmoor 2026)")
	return f.Bytes(), nil
}
