package pdf_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	_ "image/png"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/pdffile"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/internal/testdata"
	"github.com/seed-d8745b77/rag/loader/ocr"
	"github.com/seed-d8745b77/rag/loader/pdf"
)

// seen is an OCR that sees the same words on each picture, or fails.
type seen struct {
	words []rag.OCRWord
	err   error
	calls int
}

func (s *seen) Recognize(_ context.Context, picture []byte, dpi int) ([]rag.OCRWord, error) {
	s.calls++
	c, _, err := image.DecodeConfig(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	if want := 612 * dpi / 72; c.Width < want-1 || c.Width > want+1 {
		return nil, errors.New("the picture has not the resolution that is said")
	}
	return s.words, s.err
}

// line are words of one line, each 100 pixels wide, from x on.
func seenLine(n int, x, y float64, words ...string) []rag.OCRWord {
	var out []rag.OCRWord
	for i, w := range words {
		left := x + 110*float64(i)
		out = append(out, rag.OCRWord{Text: w, Box: [4]float64{left, y, left + 100, y + 30}, Line: n, Confidence: .9})
	}
	return out
}

func TestOCR(t *testing.T) {
	scan := extra{pictures: []string{rawPicture(20, 20, "\x00\x00\x00")}, draw: pdffile.Draw("P0", 0, 0, 612, 792)}
	pages := makePDFWith([]sheet{nil, column(72, 700, "Text of its own."), nil}, []extra{scan, {}, {}}, nil, "")
	two := append(seenLine(1, 200, 300, "Words", "on", "a", "scan-"), seenLine(2, 200, 340, "ned", "page.")...)
	two = append(two, rag.OCRWord{Text: "speck", Box: [4]float64{700, 900, 710, 910}, Line: 3, Confidence: .1})
	var upward []rag.OCRWord // a page that was scanned lying on its side
	for i, w := range []string{"Lying", "on", "its", "side."} {
		bottom := 1500 - 110*float64(i)
		upward = append(upward, rag.OCRWord{Text: w, Box: [4]float64{400, bottom - 100, 430, bottom}, Line: 1})
	}
	tests := []struct {
		name     string
		ocr      seen
		text     string
		state    string
		warnings []string
		scanned  any
	}{
		{"words are laid out as others", seen{words: two}, "Words on a scanned page.\n\nText of its own.\n", rag.StatePartial, []string{"page 3: has no text: it is blank"}, 1.0},
		{"a page on its side", seen{words: upward}, "Lying on its side.\n\nText of its own.\n", rag.StatePartial, []string{"page 3: has no text: it is blank"}, 1.0},
		{"nothing seen", seen{}, "Text of its own.\n", rag.StatePartial, []string{"page 1: has no text: scanned, or drawn (ocr can read it)", "page 3: has no text: it is blank"}, nil},
		{"a failure", seen{err: errors.New("no paper")}, "Text of its own.\n", rag.StatePartial, []string{"page 1: has no text: scanned, or drawn (ocr can read it)", "page 1: OCR failed: no paper", "page 3: has no text: it is blank"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := load(t, pdf.Config{OCR: &tt.ocr}, pages)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.text, doc.Text); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			var warnings []string
			for _, w := range doc.Warnings {
				warnings = append(warnings, w.String())
			}
			if diff := cmp.Diff(tt.warnings, warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			if doc.State != tt.state || doc.Meta["ocr_pages"] != tt.scanned || tt.ocr.calls != 1 {
				t.Errorf("state %q, ocr_pages %v, %d calls", doc.State, doc.Meta["ocr_pages"], tt.ocr.calls)
			}
		})
	}
}

func TestOCRCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	scan := extra{pictures: []string{rawPicture(20, 20, "\x00\x00\x00")}, draw: pdffile.Draw("P0", 0, 0, 612, 792)}
	l, err := pdf.New(pdf.Config{OCR: cancelling{cancel}})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range l.Load(ctx, source(makePDFWith([]sheet{nil}, []extra{scan}, nil, ""))) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	}
}

// cancelling is an OCR during which the caller gives up.
type cancelling struct{ cancel context.CancelFunc }

func (c cancelling) Recognize(ctx context.Context, _ []byte, _ int) ([]rag.OCRWord, error) {
	c.cancel()
	return nil, ctx.Err()
}

// The scan of the shared corpus, read by the program itself.
func TestScan(t *testing.T) {
	racetest.Skip(t)
	path := testdata.Shared(t, "data", "docs", "pdf", "ocr_test.pdf")
	if _, err := exec.LookPath("tesseract"); err != nil && os.Getenv("RAG_REQUIRE_SERVICES") == "" {
		t.Skip("skipped: tesseract is not installed")
	}
	o, err := ocr.NewTesseract(ocr.TesseractConfig{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := load(t, pdf.Config{OCR: o, TimeoutMS: patience, PageTimeoutMS: patience}, data)
	if err != nil {
		t.Fatal(err)
	}
	const want = "Docling bundles PDF document conversion to JSON and Markdown in an easy self contained package"
	if got := strings.Join(strings.Fields(doc.Text), " "); got != want || doc.State != rag.StateOK {
		t.Errorf("state %q, text %q, want %q", doc.State, got, want)
	}
}
