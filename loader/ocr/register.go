package ocr

import "github.com/seed-d8745b77/rag"

// Register adds the OCR "tesseract" to p.
func Register(p *rag.Providers) {
	p.OCRs.Register("tesseract", rag.Typed(func(_ rag.Env, c TesseractConfig) (rag.OCR, error) { return NewTesseract(c) }))
}

func init() { Register(rag.Default) }
