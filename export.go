package rag

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag/internal/strict"
)

// exportVersion is that of the lines that Export writes; see docs/formats.md.
// Version 1 had no domain and nothing given.
const exportVersion = 2

// exportLine is a line of an export: the first has Export, the last End, those between Document.
type exportLine struct {
	Export   *exportHead       `json:"export,omitempty"`
	Document *exportedDocument `json:"document,omitempty"`
	End      *exportEnd        `json:"end,omitempty"`
}

type exportHead struct {
	Version    int           `json:"version"`
	Collection string        `json:"collection"`
	Domain     *DomainRecord `json:"domain,omitempty"`    // as in Header
	Manifests  []string      `json:"manifests,omitempty"` // likewise
}

type exportEnd struct {
	Documents int `json:"documents"`
}

type exportedDocument struct {
	URI      string           `json:"uri"`
	Title    string           `json:"title"`
	State    string           `json:"state"`
	Language string           `json:"language"`
	Text     string           `json:"text"`
	Sections []exportSection  `json:"sections,omitempty"`
	Pages    []int            `json:"pages,omitempty"`
	Images   []exportedImage  `json:"images,omitempty"`
	Warnings []Warning        `json:"warnings,omitempty"`
	Meta     Meta             `json:"meta,omitempty"`
	Validity exportedValidity `json:"validity"`
	Source   exportedSource   `json:"source"`
}

type exportSection struct {
	Level int    `json:"level"`
	Title string `json:"title"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

type exportedImage struct {
	ID        string     `json:"id"`
	MediaType string     `json:"media_type"`
	Page      int        `json:"page,omitempty"`
	Box       [4]float64 `json:"box"`
	Offset    int        `json:"offset"`
	Alt       string     `json:"alt"`
	Data      []byte     `json:"data"`
}

type exportedValidity struct {
	From   time.Time `json:"from,omitzero"`
	Until  time.Time `json:"until,omitzero"`
	Stated bool      `json:"stated"`
}

// exportedSource is what the ledger knows of the source, so that it is not read again after an import.
type exportedSource struct {
	Digest     string         `json:"digest"`      // hex SHA-256 of its bytes
	MetaDigest string         `json:"meta_digest"` // hex; see Entry
	Size       int64          `json:"size"`
	Loader     string         `json:"loader"` // fingerprint
	Parts      []exportedPart `json:"parts,omitempty"`
	Given      *Given         `json:"given,omitempty"` // see Entry
}

// exportedPart is a file beside the source; see [Part].
type exportedPart struct {
	Name   string `json:"name"`
	Digest string `json:"digest"` // hex SHA-256 of its bytes; "" if it could not be read
}

// ExportReport says what an export wrote. Its JSON form is part of what `rag export --json` prints.
type ExportReport struct {
	Collection string `json:"collection"`
	Documents  int    `json:"documents"`
	Images     int    `json:"images"` // pictures in them, those that stand in several counted each time
}

// Export writes the documents of a collection as lines of JSON, by URI: text, outline, pages, metadata, validity and
// pictures, all that another engine needs to split, embed and index them its own way; see [Exported]. Passages, vectors and
// what transforms made are not in it. Ingests and deletes of the collection wait for it. "" means the configured collection.
func (e *Engine) Export(ctx context.Context, collection string, w io.Writer) (_ *ExportReport, err error) {
	defer e.hide(&err)
	name := e.collection(collection)
	unlock, err := e.lock(ctx, name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	rep := &ExportReport{Collection: name}
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	h, _, err := e.readHeader(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := enc.Encode(exportLine{Export: &exportHead{exportVersion, name, h.Domain, h.Manifests}}); err != nil {
		return nil, err
	}
	for entry, err := range e.Documents(ctx, name) {
		if err != nil {
			return nil, err
		}
		doc, err := e.catalog.Document(ctx, name, entry.URI)
		if err != nil {
			return nil, err
		}
		if err := enc.Encode(exportLine{Document: exportDocument(&entry, &doc)}); err != nil {
			return nil, fmt.Errorf("export %s: %w", entry.URI, err)
		}
		rep.Documents++
		rep.Images += len(doc.Images)
	}
	if err := enc.Encode(exportLine{End: &exportEnd{rep.Documents}}); err != nil {
		return nil, err
	}
	return rep, out.Flush()
}

func exportDocument(entry *Entry, doc *Document) *exportedDocument {
	var made pipeline
	_ = json.Unmarshal([]byte(entry.Pipeline), &made) // of another version: the next ingest reads the source again
	out := &exportedDocument{
		URI: doc.URI, Title: doc.Title, State: doc.State, Language: doc.Language, Text: doc.Text, Pages: doc.Pages,
		Warnings: doc.Warnings, Meta: doc.Meta, Validity: exportedValidity(doc.Validity),
		Source: exportedSource{hex.EncodeToString(entry.Digest[:]), hex.EncodeToString(entry.MetaDigest[:]), entry.Size, made.Loader, nil, entry.Given},
	}
	for _, p := range entry.Parts {
		digest := hex.EncodeToString(p.Digest[:])
		if p.Digest == ([32]byte{}) {
			digest = ""
		}
		out.Source.Parts = append(out.Source.Parts, exportedPart{p.Name, digest})
	}
	for _, s := range doc.Sections {
		out.Sections = append(out.Sections, exportSection(s))
	}
	for _, m := range doc.Images {
		out.Images = append(out.Images, exportedImage{m.ID, m.MediaType, m.Page, m.Box, m.Offset, m.Alt, m.Data})
	}
	return out
}

// storedSource is a document of an export as a source: what its ledger line is to say of the file it once was.
type storedSource struct {
	digest, metaDigest [32]byte
	size               int64
	loader             string
	parts              []Part
	given              *Given
}

// Exported is the documents of a file that [Engine.Export] wrote, as sources of an ingest. The file is checked whole
// first: every line that is wrong is in the error, which matches ErrInvalid. Documents come with the identity of
// their old sources, so that an ingest of those finds them unchanged. They replace documents of the same URI and remove none.
func Exported(path string) (Sources, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Sources{}, err
	}
	file, err := os.OpenFile(abs, os.O_RDONLY|dontWait, 0)
	if err != nil {
		return Sources{}, readable(err)
	}
	f, err := regular(file) // it is read twice
	if err != nil {
		return Sources{}, err
	}
	defer f.Close() // read only: nothing to lose
	list, head, err := listExport(f, abs)
	if err != nil {
		return Sources{}, err
	}
	return Sources{exported: head, All: func(yield func(Source, error) bool) {
		for _, src := range list {
			if !yield(src, nil) {
				return
			}
		}
	}}, nil
}

// listExport reads an export once and notes where each document stands.
func listExport(r io.Reader, path string) (list []Source, head *exportHead, err error) {
	var problems []error
	var offset int64
	ended, seen := false, map[string]int{} // the line of each URI
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, nil, err
		}
		if len(line) == 0 {
			break
		}
		src, l, wrong := checkExportLine(line, n, len(list))
		end := l.End != nil
		if l.Export != nil {
			head = l.Export
		}
		switch {
		case ended:
			wrong = errors.New("there is something behind the end")
		case src != nil && seen[src.URI] > 0:
			wrong = fmt.Errorf("%s stands in line %d already", src.URI, seen[src.URI])
		case src != nil:
			seen[src.URI] = n
			src.Size = int64(len(line))
			src.Open = openSection(path, offset, src.Size)
			list = append(list, *src)
		}
		ended = ended || end
		if wrong != nil {
			problems = append(problems, fmt.Errorf("line %d: %w", n, wrong))
			if n == 1 { // what follows is no export, or one of another version: there is nothing to hold it against
				break
			}
		}
		offset += int64(len(line))
	}
	if !ended && len(problems) == 0 {
		problems = append(problems, errors.New("the last line is missing: the export was cut short"))
	}
	if len(problems) > 0 {
		return nil, nil, fmt.Errorf("%w: %w", errors.Join(problems...), ErrInvalid)
	}
	return list, head, nil
}

// checkExportLine reads the n-th line (1-based) of an export, before which there were so many documents; src is the one in it.
func checkExportLine(line []byte, n, before int) (src *Source, l exportLine, err error) {
	l, err = decodeExportLine(line)
	switch {
	case err != nil && n == 1:
		return nil, l, fmt.Errorf("this is no export: %w", err)
	case err != nil:
		return nil, l, err
	case (l.Export != nil) != (n == 1):
		return nil, l, errors.New("the first line, and no other, says that this is an export")
	case l.Export != nil && (l.Export.Version < 1 || l.Export.Version > exportVersion):
		return nil, l, fmt.Errorf("version %d, this program reads %d and those before it", l.Export.Version, exportVersion)
	case l.End != nil && l.End.Documents != before:
		return nil, l, fmt.Errorf("the export had %d documents, there are %d", l.End.Documents, before)
	case l.Document == nil:
		return nil, l, nil
	}
	doc, stored, err := l.Document.restore()
	if err != nil {
		return nil, l, err
	}
	return &Source{URI: doc.URI, stored: stored}, l, nil
}

// decodeExportLine reads a line with exactly one of the three things.
func decodeExportLine(line []byte) (l exportLine, err error) {
	if err := strict.Decode(line, &l); err != nil {
		return l, err
	}
	n := 0
	for _, is := range []bool{l.Export != nil, l.Document != nil, l.End != nil} {
		if is {
			n++
		}
	}
	if n != 1 {
		return l, errors.New("not one of export, document and end")
	}
	return l, nil
}

// restore checks a document and makes it what it was.
func (x *exportedDocument) restore() (*Document, *storedSource, error) {
	stored := &storedSource{size: x.Source.Size, loader: x.Source.Loader}
	if err := x.cleanMeta(); err != nil {
		return nil, nil, err
	}
	stored.given = x.Source.Given
	type digest struct {
		name, text string
		into       *[32]byte
	}
	digests := []digest{{"digest", x.Source.Digest, &stored.digest}, {"meta_digest", x.Source.MetaDigest, &stored.metaDigest}}
	for _, p := range x.Source.Parts {
		stored.parts = append(stored.parts, Part{Name: p.Name})
	}
	for i, p := range x.Source.Parts {
		if p.Digest != "" {
			digests = append(digests, digest{"parts.digest", p.Digest, &stored.parts[i].Digest})
		}
	}
	for _, d := range digests {
		b, err := hex.DecodeString(d.text)
		if err != nil || len(b) != len(d.into) {
			return nil, nil, fmt.Errorf("source.%s is not 64 hex digits", d.name)
		}
		copy(d.into[:], b)
	}
	doc := &Document{
		URI: x.URI, Title: x.Title, Text: x.Text, Pages: x.Pages, Warnings: x.Warnings, State: x.State, Language: x.Language,
		Digest: stored.digest, Validity: Validity{x.Validity.From, x.Validity.Until, x.Validity.Stated}, Meta: x.Meta,
	}
	for _, s := range x.Sections {
		doc.Sections = append(doc.Sections, Section(s))
	}
	for i, m := range x.Images {
		id := imageID(m.Data)
		if m.ID != "" && m.ID != id { // by its ID it could not be found
			return nil, nil, fmt.Errorf("images.%d.id is not the SHA-256 of the picture in hex", i)
		}
		doc.Images = append(doc.Images, Image{id, m.MediaType, m.Data, m.Page, m.Box, m.Offset, m.Alt})
	}
	return doc, stored, doc.check()
}

// cleanMeta gives all metadata the kinds of values that they had before they were JSON.
func (x *exportedDocument) cleanMeta() (err error) {
	if x.Meta, err = x.Meta.Clean(); err != nil {
		return err
	}
	if given := x.Source.Given; given != nil && given.Meta != nil {
		if given.Meta, err = given.Meta.Clean(); err != nil {
			return fmt.Errorf("source.given: %w", err)
		}
	}
	return nil
}

// check reports what no loader would yield.
func (d *Document) check() error {
	inside := func(offset int) bool { return offset >= 0 && offset <= len(d.Text) }
	switch {
	case d.URI == "" || len(d.URI) > maxURI:
		return fmt.Errorf("uri has %d bytes: it must have 1 to %d", len(d.URI), maxURI)
	case !utf8.ValidString(d.Text) || strings.ContainsRune(d.Text, '\r'):
		return errors.New("text is not UTF-8 with LF line ends")
	case !slices.Contains([]string{StateOK, StatePartial, StateEmpty}, d.State):
		return fmt.Errorf("state is %q: it must be %s, %s or %s", d.State, StateOK, StatePartial, StateEmpty)
	case !slices.IsSorted(d.Pages) || slices.ContainsFunc(d.Pages, func(p int) bool { return !inside(p) }):
		return errors.New("pages are not ascending offsets in the text")
	case slices.ContainsFunc(d.Sections, func(s Section) bool { return !inside(s.Start) || !inside(s.End) || s.Start > s.End }):
		return errors.New("a section is not in the text")
	case !slices.IsSortedFunc(d.Sections, func(a, b Section) int { return a.Start - b.Start }):
		return errors.New("sections are not in order")
	case slices.ContainsFunc(d.Images, func(m Image) bool { return !inside(m.Offset) }):
		return errors.New("a picture is not in the text")
	}
	return nil
}

// imageID is the name of a picture's bytes; see [Image.ID].
func imageID(data []byte) string { return fmt.Sprintf("%x", sha256Sum(data)) }

// openSection opens a part of a file.
func openSection(path string, offset, size int64) func(context.Context) (io.ReadCloser, error) {
	return func(context.Context) (io.ReadCloser, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, readable(err)
		}
		return struct {
			io.Reader
			io.Closer
		}{io.NewSectionReader(f, offset, size), f}, nil
	}
}

// storedDocument reads the document of an export's line for a ledger.
func storedDocument(uri string, line []byte) (*Document, error) {
	l, err := decodeExportLine(line)
	if err == nil && (l.Document == nil || l.Document.URI != uri) {
		err = errors.New("the file has changed since it was checked")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrInvalid)
	}
	doc, _, err := l.Document.restore()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrInvalid)
	}
	return doc, nil
}
