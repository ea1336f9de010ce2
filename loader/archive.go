package loader

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/loader/internal/source"
)

// Limits of an archive. Real files stay far below each.
const (
	archiveMaxUnzipped = 512 << 20 // bytes of all parts
	archiveMaxParts    = 20_000    // parts; one for each picture and a dozen more
	archiveMaxRatio    = 250       // unzipped to zipped size, of all parts; XML that repeats itself reaches 100
	archiveRatioFrom   = 16 << 20  // bytes from which the ratio counts
	archiveMaxXML      = 128 << 20 // bytes of one part of text; a manual of 900 pages has 10 MB
)

// archive is a zip archive whose entries are the parts of a document: Office Open XML, EPUB.
type archive struct {
	ctx   context.Context //nolint:containedctx // lives as long as one Load
	parts map[string]*zip.File
	left  int64 // bytes that may still be unpacked: a part that is read again counts again
	text  int64 // bytes of text that may still be made of what stands in the file once
}

// openArchive opens the archive and refuses one that would unpack to too much, before unpacking anything.
func openArchive(ctx context.Context, data []byte, maxUnzipped int64) (*archive, error) {
	if !bytes.HasPrefix(data, []byte("PK")) {
		return nil, fmt.Errorf("no zip archive: %w", rag.ErrUnsupported)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("the archive is corrupt or cut short (%v): %w", err, rag.ErrInvalid)
	}
	if maxUnzipped == 0 {
		maxUnzipped = archiveMaxUnzipped
	}
	if len(z.File) > archiveMaxParts {
		return nil, fmt.Errorf("the archive has %d parts, more than %d: %w", len(z.File), archiveMaxParts, rag.ErrInvalid)
	}
	p := &archive{ctx: ctx, parts: map[string]*zip.File{}, left: maxUnzipped, text: maxUnzipped}
	var total uint64
	for _, f := range z.File {
		total += min(f.UncompressedSize64, 1<<40) // the sum of declared sizes must not overflow
		name, ok := partName(f.Name)
		if _, taken := p.parts[name]; ok && !taken {
			p.parts[name] = f
		}
	}
	if total > uint64(maxUnzipped) || total > archiveRatioFrom && total > archiveMaxRatio*uint64(len(data)) {
		return nil, fmt.Errorf("%d bytes unpack to %d: too many (ingest.max_unpacked_bytes, or max_unzipped of the loader), or an archive made to exhaust memory: %w", len(data), total, rag.ErrInvalid)
	}
	return p, nil
}

// partName returns the key of a part: names are compared without case. A name that leads out of the archive is none.
func partName(name string) (string, bool) {
	if name == "" || strings.Contains(name, `\`) || strings.HasSuffix(name, "/") {
		return "", false
	}
	for e := range strings.SplitSeq(name, "/") {
		if e == ".." {
			return "", false
		}
	}
	return strings.ToLower(strings.TrimPrefix(path.Clean("/"+name), "/")), true
}

// data returns all bytes of a part, or false if there is none of that name.
func (p *archive) data(name string) ([]byte, bool, error) {
	part, ok, err := p.open(name)
	if err != nil || !ok {
		return nil, ok, err
	}
	defer part.Close()
	data, err := io.ReadAll(part)
	if cerr := p.ctx.Err(); cerr != nil {
		return nil, true, cerr
	}
	if err != nil {
		return nil, true, fmt.Errorf("unpack %s: %v: %w", name, err, rag.ErrInvalid)
	}
	return data, true, nil
}

// open returns a part's bytes, no more than its entry in the archive says.
func (p *archive) open(name string) (io.ReadCloser, bool, error) {
	f, ok := p.parts[name]
	if !ok {
		return nil, false, nil
	}
	if f.UncompressedSize64 > uint64(p.left) { //nolint:gosec // never negative
		return nil, true, fmt.Errorf("its parts are read so often that they unpack to too many bytes (ingest.max_unpacked_bytes, or max_unzipped of the loader): %w", rag.ErrInvalid)
	}
	p.left -= int64(f.UncompressedSize64) //nolint:gosec // at most left
	r, err := f.Open()
	if err != nil {
		return nil, true, fmt.Errorf("open %s: %v: %w", name, err, rag.ErrInvalid)
	}
	limited := io.LimitReader(countedReader{p, source.Reader(p.ctx, r)}, int64(f.UncompressedSize64)+1) //nolint:gosec // bounded by maxUnzipped
	return struct {
		io.Reader
		io.Closer
	}{limited, r}, true, nil
}

// count notes n bytes of text that repeat what stands in the file once, or fill a table up: a few bytes of a file must
// not grow into a text without end. Beyond the bound it fails, and so does whatever is still read of the file.
func (p *archive) count(n int) error {
	if p.text -= int64(n); p.text < 0 {
		return fmt.Errorf("its text repeats itself so often that it has too many bytes (ingest.max_unpacked_bytes, or max_unzipped of the loader): %w", rag.ErrInvalid)
	}
	return nil
}

// countedReader reads a part until the text that is made of it is too large.
type countedReader struct {
	of *archive
	io.Reader
}

func (r countedReader) Read(b []byte) (int, error) {
	if err := r.of.count(0); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}

// table counts rows that are to be a table, with its empty cells.
func (p *archive) table(rows [][]string) error {
	columns, bytes := 0, 0
	for _, row := range rows {
		columns = max(columns, len(row))
		for _, cell := range row {
			bytes += len(cell)
		}
	}
	return p.count(bytes + len(rows)*columns*len(" | "))
}

// read parses a part: visit is given its root element. A part that is missing is as an empty one.
func (p *archive) read(name string, visit func(*xmlReader, xml.StartElement) error) error {
	if f := p.parts[name]; f != nil && f.UncompressedSize64 > archiveMaxXML {
		return fmt.Errorf("%s has %d bytes, more than %d: %w", name, f.UncompressedSize64, archiveMaxXML, rag.ErrInvalid)
	}
	part, ok, err := p.open(name)
	if err != nil || !ok {
		return err
	}
	defer part.Close()
	err = readXML(part, visit)
	if cerr := p.ctx.Err(); cerr != nil {
		return cerr
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// readXML parses XML in UTF-8, UTF-16 or a declared encoding.
func readXML(r io.Reader, visit func(*xmlReader, xml.StartElement) error) error {
	dec := xml.NewDecoder(transform.NewReader(r, unicode.BOMOverride(transform.Nop)))
	dec.CharsetReader = func(label string, in io.Reader) (io.Reader, error) {
		if strings.HasPrefix(strings.ToLower(label), "utf-16") {
			return in, nil // turned into UTF-8 by its byte order mark
		}
		return charset.NewReaderLabel(label, in)
	}
	x := &xmlReader{dec: dec}
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("no element: %w", rag.ErrInvalid)
		}
		if err != nil {
			return x.fail(err)
		}
		if start, ok := tok.(xml.StartElement); ok {
			return visit(x, start)
		}
	}
}

// relation is one line of a part's relationships.
type relation struct {
	kind     string // last element of the type's URI: "image", "hyperlink"
	target   string // part name, or a URI if external
	external bool
}

// relations returns the relationships of a part by ID; "" is the package itself.
func (p *archive) relations(part string) (map[string]relation, error) {
	dir, base := path.Split(part)
	out := map[string]relation{}
	err := p.read(dir+"_rels/"+base+".rels", func(x *xmlReader, _ xml.StartElement) error {
		return x.children(func(e xml.StartElement) error {
			if e.Name.Local == "Relationship" {
				r := relation{kind: path.Base(attrOf(e, "Type")), target: attrOf(e, "Target"), external: attrOf(e, "TargetMode") == "External"}
				if !r.external {
					if !strings.HasPrefix(r.target, "/") {
						r.target = dir + r.target
					}
					r.target = strings.ToLower(strings.TrimPrefix(path.Clean("/"+r.target), "/"))
				}
				out[attrOf(e, "Id")] = r
			}
			return x.skip()
		})
	})
	return out, err
}

// related returns the name of the part that has a kind of relation to another; "" if there is none.
func related(rels map[string]relation, kind string) string {
	name := ""
	for _, r := range rels {
		if r.kind == kind && !r.external && (name == "" || r.target < name) {
			name = r.target
		}
	}
	return name
}
