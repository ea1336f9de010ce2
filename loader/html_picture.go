package loader

import (
	"context"
	"path"
	"strings"

	"golang.org/x/net/html"

	"github.com/seed-d8745b77/rag"
)

// htmlPictures are the pictures of a page whose bytes are at hand.
type htmlPictures struct {
	pictures pictures
	beside   func(src string) (name string, read func() ([]byte, error)) // finds a picture that came with the page; nil: none did
	pending  []placedImage                                               // met in the running text, not placed yet
	placed   []rag.Image
	warnings warnings
}

// pageBeside finds the pictures that lie beside a page, relative to what its base element says.
func pageBeside(ctx context.Context, src rag.Source, root *html.Node) func(string) (string, func() ([]byte, error)) {
	folder := "./"
	if base := baseHref(root); base != "" {
		folder = besideName(base)
	}
	if src.Beside == nil || folder == "" { // the page says that it belongs elsewhere
		return nil
	}
	return func(ref string) (string, func() ([]byte, error)) {
		name := besideName(ref)
		if name == "" {
			return "", nil
		}
		if !strings.HasPrefix(name, "/") {
			name = path.Join(path.Dir(folder), name)
		}
		return name, func() ([]byte, error) { return readBeside(ctx, src, name) }
	}
}

// picture writes the alternative text of a picture, and keeps the picture if its bytes are at hand: in a data: URI, in
// the archive or message that the page is part of, or beside it.
func (h *htmlWalk) picture(img *html.Node) {
	alt := cleanAlt(attr(img.Attr, "alt"))
	h.keep(strings.TrimSpace(attr(img.Attr, "src")), alt, h.inline.b.Len())
	h.inline.words(alt)
}

// leastPicture is the size in bytes of the smallest picture that is kept: what is below only holds a place open until a
// script loads the real one. A GIF of one dot has 43.
const leastPicture = 100

// keep notes a picture that stands at a place in the running text.
func (p *htmlPictures) keep(src, alt string, at int) {
	name, read := src, func() ([]byte, error) { return dataURI(src) }
	if len(src) < len("data:") || !strings.EqualFold(src[:len("data:")], "data:") {
		if p.beside == nil || src == "" {
			return
		}
		if name, read = p.beside(src); name == "" {
			return
		}
	}
	image, err := p.pictures.get(name, read)
	if err != nil {
		p.warnings.lostPicture(err)
		return
	}
	if len(image.Data) < leastPicture {
		return
	}
	p.pending = append(p.pending, placedImage{at: at, image: image, alt: alt})
}

// place puts the pictures met since the last call into the block from start to end; start is -1 if nothing was
// written, and they stand at the end of the text so far. Marks before the lines of a block are not counted, so that a
// picture in a list may stand a few bytes early.
func (p *htmlPictures) place(start, end int) {
	for _, pic := range p.pending {
		img := *pic.image
		img.Alt, img.Offset = pic.alt, end
		if start >= 0 {
			img.Offset = min(start+pic.at, end)
		}
		p.placed = append(p.placed, img)
	}
	p.pending = p.pending[:0]
}
