package catalog

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
	"github.com/seed-d8745b77/rag/internal/strict"
)

// layoutVersion is the version byte of all records of the catalog. docs/formats.md describes them.
const layoutVersion = 1

// finish seals a record made by fields.
func finish(size int, fields func(w *record.Writer)) ([]byte, error) {
	w := record.NewWriter(layoutVersion, size)
	fields(w)
	return w.Finish()
}

// read opens a record and has fields read it.
func read(rec []byte, fields func(r *record.Reader)) error {
	r, _, err := record.Open(rec, layoutVersion)
	if err != nil {
		return err
	}
	fields(r)
	return r.Close()
}

// writeList writes a list by what writes one of it; nil stays apart from empty.
func writeList[T any](w *record.Writer, list []T, one func(T)) {
	w.Len(len(list), list == nil)
	for _, x := range list {
		one(x)
	}
}

// readList reads what writeList wrote.
func readList[T any](r *record.Reader, one func() T) []T {
	n, isNil := r.Len()
	if isNil {
		return nil
	}
	list := make([]T, n)
	for i := range list {
		list[i] = one()
	}
	return list
}

// headerVersion is the version byte of a collection's header. Version 1 ended before Pending,
// version 2 before Run, version 3 before Touched and Calibration, version 4 before Domain and Manifests, version 5 before Away.
const headerVersion = 6

func encodeHeader(h rag.Header) ([]byte, error) {
	w := record.NewWriter(headerVersion, 128)
	w.String(h.Embedder)
	w.Int(h.Dims)
	w.String(h.Sparse)
	w.Time(h.Created)
	w.Bool(h.Dirty)
	w.Strings(h.Pending)
	w.Uint(uint64(h.Generation))
	w.String(h.Run)
	w.Strings(h.Touched)
	if err := writeJSON(w, h.Calibration); err != nil {
		return nil, fmt.Errorf("calibration: %w", err)
	}
	if err := writeJSON(w, h.Domain); err != nil {
		return nil, fmt.Errorf("domain: %w", err)
	}
	w.Strings(h.Manifests)
	writeList(w, h.Away, func(a rag.AwaySource) {
		w.String(a.URI)
		writeGiven(w, a.Given)
	})
	return w.Finish()
}

func decodeHeader(rec []byte) (rag.Header, error) {
	r, version, err := record.Open(rec, headerVersion)
	if err != nil {
		return rag.Header{}, err
	}
	h := rag.Header{Embedder: r.String(), Dims: r.Int(), Sparse: r.String(), Created: r.Time(), Dirty: r.Bool()}
	if version > 1 {
		h.Pending, h.Generation = r.Strings(), int(r.Uint())
	}
	if version > 2 {
		h.Run = r.String()
	}
	if version > 3 {
		h.Touched = r.Strings()
		if h.Calibration, err = readJSON[rag.Calibration](r); err != nil {
			return rag.Header{}, fmt.Errorf("calibration: %w", err)
		}
	}
	if version > 4 {
		if h.Domain, err = readJSON[rag.DomainRecord](r); err != nil {
			return rag.Header{}, fmt.Errorf("domain: %w", err)
		}
		h.Manifests = r.Strings()
	}
	if version > 5 {
		h.Away = readList(r, func() rag.AwaySource { return rag.AwaySource{URI: r.String(), Given: readGiven(r)} })
	}
	return h, r.Close()
}

// writeJSON writes a value as a string, nil as the empty one.
func writeJSON[T any](w *record.Writer, v *T) error {
	if v == nil {
		w.String("")
		return nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%w: %w", err, rag.ErrInvalid)
	}
	w.String(string(data))
	return nil
}

// readJSON reads what writeJSON wrote.
func readJSON[T any](r *record.Reader) (*T, error) {
	data := r.String()
	if data == "" {
		return nil, nil
	}
	v := new(T)
	if err := strict.Unmarshal([]byte(data), v); err != nil {
		return nil, fmt.Errorf("%v: %w", err, rag.ErrInvalid)
	}
	return v, nil
}

// storedEntry is an entry record: the ledger line without its chunk references, which have a record of their own, so
// that counting documents does not read thousands of them.
type storedEntry struct {
	docNo  uint64 // names the document's other records; never used twice
	chunks int
	rag.Entry
}

// entryVersion is the version byte of an entry. Version 1 ended before Parts, version 2 before Given.
const entryVersion = 3

func encodeEntry(e storedEntry) ([]byte, error) {
	w := record.NewWriter(entryVersion, 512)
	w.Uint(e.docNo)
	w.Uint(uint64(e.chunks))
	w.Time(e.Ingested)
	w.String(e.URI)
	w.String(e.DocID)
	w.String(e.Title)
	w.String(e.State)
	w.Raw(e.Digest[:])
	w.Raw(e.MetaDigest[:])
	w.String(e.Pipeline)
	w.Uint(uint64(e.Size))
	w.String(e.Language)
	w.Map(e.Meta)
	writeValidity(w, e.Validity)
	writeWarnings(w, e.Warnings)
	w.Int(e.Images)
	writeList(w, e.Parts, func(p rag.Part) {
		w.String(p.Name)
		w.Raw(p.Digest[:])
	})
	w.Bool(e.Given != nil)
	if e.Given != nil {
		writeGiven(w, *e.Given)
	}
	return w.Finish()
}

func decodeEntry(rec []byte) (e storedEntry, err error) {
	r, version, err := record.Open(rec, entryVersion)
	if err != nil {
		return e, err
	}
	e.docNo = r.Uint()
	e.chunks = int(r.Uint())
	e.Ingested = r.Time()
	e.URI = r.String()
	e.DocID = r.String()
	e.Title = r.String()
	e.State = r.String()
	copy(e.Digest[:], r.Raw(sha256.Size))
	copy(e.MetaDigest[:], r.Raw(sha256.Size))
	e.Pipeline = r.String()
	e.Size = int64(r.Uint())
	e.Language = r.String()
	e.Meta = r.Map()
	e.Validity = readValidity(r)
	e.Warnings = readWarnings(r)
	e.Images = r.Int()
	if version > 1 {
		e.Parts = readList(r, func() (p rag.Part) {
			p.Name = r.String()
			copy(p.Digest[:], r.Raw(sha256.Size))
			return p
		})
	}
	if version > 2 && r.Bool() {
		e.Given = new(readGiven(r))
	}
	return e, r.Close()
}

func writeGiven(w *record.Writer, g rag.Given) {
	w.String(g.Title)
	w.Map(g.Meta)
}

func readGiven(r *record.Reader) rag.Given { return rag.Given{Title: r.String(), Meta: r.Map()} }

func encodeRefs(refs []rag.ChunkRef) ([]byte, error) {
	return finish(160*len(refs), func(w *record.Writer) {
		writeList(w, refs, func(c rag.ChunkRef) {
			w.String(c.ID)
			w.String(c.Input)
			w.String(c.Index)
		})
	})
}

func decodeRefs(rec []byte) (refs []rag.ChunkRef, err error) {
	err = read(rec, func(r *record.Reader) {
		refs = readList(r, func() rag.ChunkRef { return rag.ChunkRef{ID: r.String(), Input: r.String(), Index: r.String()} })
	})
	return refs, err
}

// chunkVersion is the version byte of a chunk. Version 1 ended before Images.
const chunkVersion = 2

func encodeChunk(c rag.Chunk) ([]byte, error) {
	w := record.NewWriter(chunkVersion, 512+len(c.Text)+len(c.Context))
	w.String(c.ID)
	w.String(c.DocID)
	w.String(c.URI)
	w.String(c.Title)
	w.Int(c.Ordinal)
	w.String(c.Text)
	w.String(c.Context)
	writeList(w, c.Captions, func(p rag.Caption) {
		w.String(p.ImageID)
		w.String(p.Text)
	})
	w.Int(c.Start)
	w.Int(c.End)
	w.Int(c.Page)
	w.Strings(c.Headings)
	w.String(c.Language)
	w.String(c.ParentID)
	writeValidity(w, c.Validity)
	w.Map(c.Meta)
	writeList(w, c.Images, func(img rag.Image) {
		w.String(img.ID)
		w.String(img.MediaType)
		writePlace(w, img)
	})
	return w.Finish()
}

func decodeChunk(rec []byte) (rag.Chunk, error) {
	r, version, err := record.Open(rec, chunkVersion)
	if err != nil {
		return rag.Chunk{}, err
	}
	c := rag.Chunk{ID: r.String(), DocID: r.String(), URI: r.String(), Title: r.String(), Ordinal: r.Int(), Text: r.String(), Context: r.String()}
	c.Captions = readList(r, func() rag.Caption { return rag.Caption{ImageID: r.String(), Text: r.String()} })
	c.Start = r.Int()
	c.End = r.Int()
	c.Page = r.Int()
	c.Headings = r.Strings()
	c.Language = r.String()
	c.ParentID = r.String()
	c.Validity = readValidity(r)
	c.Meta = r.Map()
	if version > 1 {
		c.Images = readList(r, func() rag.Image {
			img := rag.Image{ID: r.String(), MediaType: r.String()}
			readPlace(r, &img)
			return img
		})
	}
	return c, r.Close()
}

// writePlace writes where a picture stands in its document, and what its author calls it.
func writePlace(w *record.Writer, img rag.Image) {
	w.Int(img.Page)
	for _, x := range img.Box {
		w.Float64(x)
	}
	w.Int(img.Offset)
	w.String(img.Alt)
}

func readPlace(r *record.Reader, img *rag.Image) {
	img.Page = r.Int()
	for i := range img.Box {
		img.Box[i] = r.Float64()
	}
	img.Offset = r.Int()
	img.Alt = r.String()
}

func writeValidity(w *record.Writer, v rag.Validity) {
	w.Time(v.From)
	w.Time(v.Until)
	w.Bool(v.Stated)
}

func readValidity(r *record.Reader) rag.Validity {
	return rag.Validity{From: r.Time(), Until: r.Time(), Stated: r.Bool()}
}

func writeWarnings(w *record.Writer, list []rag.Warning) {
	writeList(w, list, func(x rag.Warning) {
		w.Int(x.Page)
		w.String(x.Message)
	})
}

func readWarnings(r *record.Reader) []rag.Warning {
	return readList(r, func() rag.Warning { return rag.Warning{Page: r.Int(), Message: r.String()} })
}
