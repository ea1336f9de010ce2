package rag

import (
	"context"
	"fmt"
	"time"
)

// deadline bounds the work on one source. The cause of its context says what to do about it.
func (c *IngestConfig) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	d := time.Duration(c.DocumentTimeoutMS) * time.Millisecond
	return context.WithTimeoutCause(ctx, d, fmt.Errorf("it took longer than %s: raise ingest.document_timeout_ms or cut it into parts: %w", d, ErrInvalid))
}

// Limits that leave a part of a document out, by the names of their settings under ingest.
const (
	limitPages  = "max_pages"
	limitImages = "max_images"
	limitChunks = "max_chunks"
)

// limit returns the value of one of these settings.
func (c *IngestConfig) limit(name string) int {
	return map[string]int{limitPages: c.MaxPages, limitImages: c.MaxImages, limitChunks: c.MaxChunks}[name]
}

// apply leaves out the pages and pictures of a document that are too many. It returns the limits that did.
func (c *IngestConfig) apply(doc *Document) (hit []string) {
	if n := len(doc.Pages); n > c.MaxPages {
		doc.cutAt(doc.Pages[c.MaxPages])
		doc.Pages = doc.Pages[:c.MaxPages]
		doc.lose("pages %d to %d were left out: the most is %d (ingest.max_pages)", c.MaxPages+1, n, c.MaxPages)
		hit = append(hit, limitPages)
	}
	if n := len(doc.Images); n > c.MaxImages {
		doc.Images = doc.Images[:c.MaxImages]
		doc.lose("%d of %d pictures were left out: the most is %d (ingest.max_images)", n-c.MaxImages, n, c.MaxImages)
		hit = append(hit, limitImages)
	}
	return hit
}

// cutChunks leaves out the chunks of a document that are too many, from the end. It returns the limit that did.
func (c *IngestConfig) cutChunks(doc *Document, chunks []Chunk) (kept []Chunk, hit []string) {
	n := len(chunks)
	if n <= c.MaxChunks {
		return chunks, nil
	}
	doc.lose("the last %d of %d passages were left out: the most is %d (ingest.max_chunks)", n-c.MaxChunks, n, c.MaxChunks)
	return chunks[:c.MaxChunks], []string{limitChunks}
}

// lose notes that a part of the document is missing.
func (d *Document) lose(format string, args ...any) {
	if d.State == StateOK {
		d.State = StatePartial
	}
	d.Warnings = append(d.Warnings, Warning{Message: fmt.Sprintf(format, args...)})
}

// cutAt drops the text from an offset on, with what stands there.
func (d *Document) cutAt(end int) {
	d.Text = d.Text[:end]
	sections := d.Sections[:0:0]
	for _, s := range d.Sections {
		if s.Start < end {
			s.End = min(s.End, end)
			sections = append(sections, s)
		}
	}
	images := d.Images[:0:0]
	for _, img := range d.Images {
		if img.Offset < end {
			images = append(images, img)
		}
	}
	d.Sections, d.Images = sections, images
}
