package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

// digest is the SHA-256 of a picture's bytes, under which they are stored once.
type digest [sha256.Size]byte

// digestOf returns the digest that a picture's ID is written from; ok is false for anything else.
func digestOf(id string) (sum digest, ok bool) {
	b, err := hex.DecodeString(id)
	return sum, err == nil && copy(sum[:], b) == len(sum) && len(b) == len(sum)
}

// How an image of a document record stands to its bytes.
const (
	imageNil    = 0 // Data is nil
	imageEmpty  = 1 // Data is empty
	imageStored = 2 // the digest follows; the bytes are stored under it
)

// encodeDocument returns the document's record, in which pictures are digests, and the pictures, each once.
func encodeDocument(d rag.Document) (rec []byte, pictures map[digest][]byte, err error) {
	pictures = map[digest][]byte{}
	rec, err = finish(1024+len(d.Text), func(w *record.Writer) {
		w.String(d.ID)
		w.String(d.URI)
		w.String(d.Title)
		w.String(d.Text)
		writeList(w, d.Sections, func(s rag.Section) {
			w.Int(s.Level)
			w.String(s.Title)
			w.Int(s.Start)
			w.Int(s.End)
		})
		writeList(w, d.Pages, w.Int)
		writeList(w, d.Images, func(img rag.Image) { writeImage(w, img, pictures) })
		writeWarnings(w, d.Warnings)
		w.String(d.State)
		w.String(d.Language)
		w.Raw(d.Digest[:])
		writeValidity(w, d.Validity)
		w.Map(d.Meta)
	})
	return rec, pictures, err
}

func writeImage(w *record.Writer, img rag.Image, pictures map[digest][]byte) {
	w.String(img.ID)
	w.String(img.MediaType)
	switch {
	case img.Data == nil:
		w.Uint(imageNil)
	case len(img.Data) == 0:
		w.Uint(imageEmpty)
	default:
		sum := digest(sha256.Sum256(img.Data))
		pictures[sum] = img.Data
		w.Uint(imageStored)
		w.Raw(sum[:])
	}
	writePlace(w, img)
}

// decodeDocument reads a document's record; picture returns a copy of the bytes stored under a digest.
func decodeDocument(rec []byte, picture func(digest) ([]byte, error)) (d rag.Document, err error) {
	var missing error
	err = read(rec, func(r *record.Reader) {
		d.ID = r.String()
		d.URI = r.String()
		d.Title = r.String()
		d.Text = r.String()
		d.Sections = readList(r, func() rag.Section {
			return rag.Section{Level: r.Int(), Title: r.String(), Start: r.Int(), End: r.Int()}
		})
		d.Pages = readList(r, r.Int)
		d.Images = readList(r, func() rag.Image {
			img, err := readImage(r, picture)
			missing = cmp.Or(missing, err)
			return img
		})
		d.Warnings = readWarnings(r)
		d.State = r.String()
		d.Language = r.String()
		copy(d.Digest[:], r.Raw(sha256.Size))
		d.Validity = readValidity(r)
		d.Meta = r.Map()
	})
	if err == nil {
		err = missing
	}
	return d, err
}

func readImage(r *record.Reader, picture func(digest) ([]byte, error)) (img rag.Image, err error) {
	img.ID = r.String()
	img.MediaType = r.String()
	switch r.Uint() {
	case imageEmpty:
		img.Data = []byte{}
	case imageStored:
		var sum digest
		copy(sum[:], r.Raw(sha256.Size))
		if img.Data, err = picture(sum); err != nil {
			err = fmt.Errorf("picture %x: %w", sum, err)
		}
	}
	readPlace(r, &img)
	return img, err
}
