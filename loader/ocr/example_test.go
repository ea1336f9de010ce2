package ocr_test

import (
	"fmt"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/loader/ocr"
)

// Scanned pages are read where the program tesseract is installed.
func Example() {
	o, err := ocr.NewTesseract(ocr.TesseractConfig{Languages: []string{"eng", "deu"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	eng, err := rag.Open("kb", rag.WithOCR(o))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer eng.Close()
}
