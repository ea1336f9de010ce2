package rag

import (
	"context"
)

// OCR reads printed text off pictures, for loaders of formats that hold scanned pages.
type OCR interface {
	// Recognize returns the words on a picture, a PNG or JPEG file, in reading order, and none where it sees none. dpi is
	// the picture's resolution in dots per inch; 0: unknown. ErrInvalid if the picture cannot be read; a done context
	// ends it soon, with the context's error.
	Recognize(ctx context.Context, picture []byte, dpi int) ([]OCRWord, error)
}

// OCRWord is one word on a picture.
type OCRWord struct {
	Text       string
	Box        [4]float64 // x0, y0, x1, y1 in pixels from the picture's upper left
	Line       int        // words of one printed line share a number; it grows in reading order
	Confidence float64    // 0 to 1; 0 if unknown
}

// makeOCR returns the OCR given as an option, or makes the configured one; nil if there is none.
func makeOCR(s *settings, env Env) (OCR, error) {
	c := s.config.OCR
	if s.ocr != nil || c.Provider == None {
		return s.ocr, nil
	}
	return s.providers.OCRs.make("ocr", c, env)
}
