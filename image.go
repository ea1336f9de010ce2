package rag

import (
	"context"
)

// Image returns the bytes of a picture of the collection by its ID, as [Chunk] Images name it, or ErrNotFound. ""
// means the configured collection.
func (e *Engine) Image(ctx context.Context, collection, id string) ([]byte, error) {
	return e.catalog.Image(ctx, e.collection(collection), id)
}

// placeImages tells the chunks which pictures of their document stand in them. One that stands in none, such as a
// picture behind the last paragraph, goes to the last chunk before it, or to the first.
func placeImages(doc *Document, chunks []Chunk) {
	for i := range chunks {
		chunks[i].Images = nil
	}
	for _, img := range doc.Images {
		img.Data = nil
		for _, i := range holders(chunks, img.Offset) {
			chunks[i].Images = append(chunks[i].Images, img)
		}
	}
}

// holders returns the indexes of the chunks that a picture at an offset stands in.
func holders(chunks []Chunk, offset int) (in []int) {
	before := 0
	for i := range chunks {
		c := &chunks[i]
		if c.Start <= offset && offset < c.End {
			in = append(in, i)
		}
		if c.Start <= offset {
			before = i
		}
	}
	if in == nil && len(chunks) > 0 {
		in = []int{before}
	}
	return in
}
