package pdf

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"math"
	"slices"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"

	"github.com/seed-d8745b77/rag"
)

// How a page is shown to an OCR.
const (
	scanDPI    = 200     // tesseract reads .98 to 1.00 of the words of printed pages at this resolution
	maxScan    = 9 << 20 // pixels of a page: A4 at 300 dpi
	minDPI     = 36      // of pages so large that they would have too many pixels
	leastSure  = 0.3     // confidence below which a word is a speck or a part of a picture
	lineHeight = 0.95    // from the top of capitals to the bottom of descenders, in font sizes, as in Helvetica and Times
)

// pointsPerInch is the unit of PDF.
const pointsPerInch = 72

// recognise reads the page that was read last off its picture if it has no text, or none that makes sense. A page that
// the OCR cannot read stays as it is. The error is that of a context that is done.
func (r *reader) recognise(ctx context.Context, p instance, doc references.FPDF_DOCUMENT, c *clock, page *rawPage) error {
	if page.blank || len(page.words) > 0 && !garbled(page.words) {
		return nil
	}
	words, err := r.seen(ctx, p, doc, c)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		page.lost = append(page.lost, "OCR failed: "+err.Error())
	}
	if len(words) > 0 {
		page.words, page.scanned = words, true
	}
	return nil
}

// seen draws the page that was read last and lets the OCR read it. The time that this takes is not the file's.
func (r *reader) seen(ctx context.Context, p instance, doc references.FPDF_DOCUMENT, c *clock) ([]word, error) {
	c.next() // drawing may take as long as reading
	picture, dpi, height, err := render(p, doc, len(r.raw.pages))
	if err != nil {
		return nil, err
	}
	var words []rag.OCRWord
	c.pause(func() { words, err = r.cfg.OCR.Recognize(ctx, picture, dpi) })
	if err != nil {
		return nil, err
	}
	return scannedWords(words, float64(dpi), height), nil
}

// render draws a page (0-based) in grey and returns it as a PNG, with its resolution and its height in points.
func render(p instance, doc references.FPDF_DOCUMENT, index int) (picture []byte, dpi int, height float64, err error) {
	page := requests.Page{ByIndex: &requests.PageByIndex{Document: doc, Index: index}}
	size, err := p.GetPageSize(&requests.GetPageSize{Page: page})
	if err != nil {
		return nil, 0, 0, err
	}
	inches := size.Width / pointsPerInch * size.Height / pointsPerInch
	dpi = min(scanDPI, int(math.Sqrt(float64(maxScan)/inches)))
	if dpi < minDPI {
		return nil, 0, 0, fmt.Errorf("it is %.0f by %.0f points large", size.Width, size.Height)
	}
	res, err := p.RenderPageInDPI(&requests.RenderPageInDPI{Page: page, DPI: dpi, ImageFormat: requests.RenderImageFormatGrayscale})
	if err != nil {
		return nil, 0, 0, err
	}
	defer res.Cleanup()
	var buf bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&buf, res.Result.RenderedImage)
	return buf.Bytes(), dpi, size.Height, err
}

// scannedWords turns what an OCR saw into words on the page. The words of a line are made equally high, since those
// without ascenders are seen lower.
func scannedWords(seen []rag.OCRWord, dpi, height float64) []word {
	seen = slices.DeleteFunc(slices.Clone(seen), func(w rag.OCRWord) bool {
		return cleanText(w.Text) == "" || w.Confidence > 0 && w.Confidence < leastSure
	})
	scale := pointsPerInch / dpi
	boxes := make([]box, len(seen))
	for i, w := range seen {
		boxes[i] = box{w.Box[0] * scale, height - w.Box[3]*scale, w.Box[2] * scale, height - w.Box[1]*scale}
	}
	turn := turnOf(seen, boxes)
	var out []word
	for start := 0; start < len(seen); {
		end := start + 1
		line := boxes[start].turned(turn)
		for ; end < len(seen) && seen[end].Line == seen[start].Line; end++ {
			line = line.union(boxes[end].turned(turn))
		}
		for i := start; i < end; i++ {
			b := boxes[i].turned(turn)
			b.y0, b.y1 = line.y0, line.y1
			out = append(out, word{text: cleanText(seen[i].Text), box: b, size: roundSize(line.height() / lineHeight), turn: turn, seq: i, blank: i+1 < end})
		}
		start = end
	}
	return out
}

// turnOf is the direction of the text, in quarter turns: that from one word of a line to the next.
func turnOf(seen []rag.OCRWord, boxes []box) int {
	var turns [4]int
	for i := 1; i < len(seen); i++ {
		if seen[i].Line != seen[i-1].Line {
			continue
		}
		dx, dy := boxes[i].centerX()-boxes[i-1].centerX(), boxes[i].centerY()-boxes[i-1].centerY()
		switch {
		case math.Abs(dx) >= math.Abs(dy) && (dx >= 0 || isRTL(seen[i].Text)):
			turns[0]++
		case math.Abs(dx) >= math.Abs(dy):
			turns[2]++
		case dy > 0:
			turns[1]++
		default:
			turns[3]++
		}
	}
	best := 0
	for t, n := range turns {
		if n > turns[best] {
			best = t
		}
	}
	return best
}
