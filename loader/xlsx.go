package loader

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"iter"
	"path"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// XLSXConfig sets how workbooks are read.
type XLSXConfig struct {
	MaxBytes    int64 `json:"max_bytes,omitzero" range:"[1,1099511627776]"`    // a larger source is ErrInvalid; 0: DefaultMaxBytes
	MaxUnzipped int64 `json:"max_unzipped,omitzero" range:"[1,1099511627776]"` // a source whose parts are larger in all, in bytes, is ErrInvalid; 0: 512 MiB
	Hidden      bool  `json:"hidden"`                                          // hidden sheets are read too
}

// XLSX reads Excel workbooks (Office Open XML). Each sheet is a section. Rows that follow one another are a table; long
// ones are cut into tables of about a chunk's size, each with the first row as its header. Cells hold the values that
// were stored with the file: dates as 2006-01-02, percentages and units as the format shows them, other numbers in full
// without grouping. A merged cell stands in each place that it spans. Pictures are in Images. It is safe for concurrent
// use.
type XLSX struct{ cfg XLSXConfig }

var (
	_ rag.Loader    = (*XLSX)(nil)
	_ rag.Formatter = (*XLSX)(nil)
)

// NewXLSX returns a loader of workbooks. Negative limits are ErrInvalid.
func NewXLSX(cfg XLSXConfig) (*XLSX, error) {
	if cfg.MaxBytes < 0 || cfg.MaxUnzipped < 0 {
		return nil, fmt.Errorf("max_bytes and max_unzipped must not be negative: %w", rag.ErrInvalid)
	}
	return &XLSX{cfg}, nil
}

// Formats says: an archive whose content types name a workbook; the old format only by extension.
func (*XLSX) Formats() []rag.Format {
	return []rag.Format{{
		Name:       "xlsx",
		Extensions: []string{".xlsx", ".xlsm", ".xltx", ".xltm", ".xls"},
		MediaTypes: []string{"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "application/vnd.ms-excel"},
		Match:      func(head []byte) bool { return isOffice(head, sheetsKind) },
	}}
}

// Load yields the one document of src. A source that is no zip archive, or one without a workbook, is ErrUnsupported;
// one with a password, in the format before 2007, broken or growing beyond the limits is ErrInvalid.
func (l *XLSX) Load(ctx context.Context, src rag.Source) iter.Seq2[rag.Document, error] {
	return single(ctx, src, l.cfg.MaxBytes, l.parse)
}

func (l *XLSX) parse(ctx context.Context, _ rag.Source, data []byte) (rag.Document, error) {
	if bytes.HasPrefix(data, oleMagic) {
		return rag.Document{}, errOLE(".xls")
	}
	pkg, err := openArchive(ctx, data, l.cfg.MaxUnzipped)
	if err != nil {
		return rag.Document{}, err
	}
	main, err := pkg.mainPart(sheetsKind)
	if err != nil {
		return rag.Document{}, err
	}
	r := &xlsxReader{pkg: pkg}
	if err := r.read(main, l.cfg.Hidden); err != nil {
		return rag.Document{}, err
	}
	doc := rag.Document{Text: r.out.text(), Images: r.images, Warnings: r.warnings}
	if err := pkg.readProperties(&doc); err != nil {
		return rag.Document{}, err
	}
	if len(r.headings) == 0 || !r.filled {
		doc.Text, doc.State = "", rag.StateEmpty
		doc.Warnings = append(doc.Warnings, rag.Warning{Message: "there is no text in the workbook"})
		for i := range doc.Images {
			doc.Images[i].Offset = 0
		}
		return doc, ctx.Err()
	}
	doc.Sections = sections(r.headings, len(doc.Text))
	return doc, ctx.Err()
}

// xlsxReader reads the parts of one workbook.
type xlsxReader struct {
	pkg      *archive
	strings  []string // shared by all cells
	formats  []cellFormat
	date1904 bool

	out      blockWriter
	headings []heading
	filled   bool // a sheet holds something
	pictures pictures
	images   []rag.Image
	warnings warnings
}

// xlsxSheet is one entry of the workbook's list.
type xlsxSheet struct{ name, id, state string }

func (r *xlsxReader) read(main string, hidden bool) error {
	var sheets []xlsxSheet
	err := r.pkg.readMain(main, sheetsKind, func(x *xmlReader) error {
		return x.children(func(e xml.StartElement) error {
			switch e.Name.Local {
			case "workbookPr":
				r.date1904 = attrOf(e, "date1904") == "1" || attrOf(e, "date1904") == "true"
			case "sheets":
				return x.children(func(e xml.StartElement) error {
					if e.Name.Local == "sheet" {
						sheets = append(sheets, xlsxSheet{attrOf(e, "name"), attrOf(e, "id"), attrOf(e, "state")})
					}
					return x.skip()
				})
			}
			return x.skip()
		})
	})
	if err != nil {
		return err
	}
	rels, err := r.pkg.relations(main)
	if err != nil {
		return err
	}
	if err := r.readStrings(related(rels, "sharedStrings")); err != nil {
		return err
	}
	if r.formats, err = readCellFormats(r.pkg, related(rels, "styles")); err != nil {
		return err
	}
	read := map[string]bool{}
	for _, s := range sheets {
		rel := rels[s.id]
		switch {
		case rel.kind == "chartsheet":
			r.warnings.add("sheets that are one chart are not read")
		case s.state != "" && s.state != "visible" && !hidden:
			r.warnings.add("hidden sheets are not read (setting hidden)")
		case read[rel.target]:
			r.warnings.add("a sheet that is listed again is read once")
		default:
			read[rel.target] = r.pkg.parts[rel.target] != nil // sheets without a part share none
			if err := r.sheet(s.name, rel.target); err != nil {
				return err
			}
		}
	}
	return nil
}

// readStrings reads the texts that cells refer to by number.
func (r *xlsxReader) readStrings(part string) error {
	return r.pkg.read(part, func(x *xmlReader, _ xml.StartElement) error {
		return x.children(func(e xml.StartElement) error {
			if e.Name.Local != "si" {
				return x.skip()
			}
			s, err := richText(x)
			r.strings = append(r.strings, s)
			return err
		})
	})
}

// richText is the text of a string item: of its runs, without the readings above Japanese words.
func richText(x *xmlReader) (string, error) {
	var b strings.Builder
	var visit func(xml.StartElement) error
	visit = func(e xml.StartElement) error {
		switch e.Name.Local {
		case "t":
			s, err := x.text()
			b.WriteString(s)
			return err
		case "r":
			return x.children(visit)
		}
		return x.skip()
	}
	err := x.children(visit)
	return unescapeXstring(b.String()), err
}

// sheet writes a sheet as a section.
func (r *xlsxReader) sheet(name, part string) error {
	s := xlsxGrid{workbook: r}
	if err := r.pkg.read(part, s.read); err != nil {
		return err
	}
	title := mdtext.Line(mdtext.Cut(name, maxTitle))
	start := r.out.block("# " + firstOf(title, "Sheet"))
	r.headings = append(r.headings, heading{1, firstOf(title, "Sheet"), start})
	if err := s.write(&r.out); err != nil {
		return fmt.Errorf("sheet %s: %w", title, err)
	}
	r.filled = r.filled || len(s.rows) > 0
	return r.drawings(part)
}

// drawings adds the pictures that lie on a sheet: they stand behind its text.
func (r *xlsxReader) drawings(part string) error {
	rels, err := r.pkg.relations(part)
	if err != nil {
		return err
	}
	drawing := related(rels, "drawing")
	if drawing == "" {
		return nil
	}
	if rels, err = r.pkg.relations(drawing); err != nil {
		return err
	}
	alt := ""
	var visit func(x *xmlReader, e xml.StartElement) error
	visit = func(x *xmlReader, e xml.StartElement) error {
		switch e.Name.Local {
		case "cNvPr":
			alt = cleanAlt(attrOf(e, "descr"))
		case "blip":
			rel := rels[attrOf(e, "embed")]
			if rel.target == "" || rel.external {
				break
			}
			img, err := r.pkg.picture(&r.pictures, rel.target)
			if err != nil {
				r.warnings.add("the picture " + path.Base(rel.target) + " could not be read: " + err.Error())
				break
			}
			if alt != "" {
				r.out.block(paragraph(alt))
			}
			placed := *img
			placed.Alt, placed.Offset = alt, r.out.out.Len()
			r.images = append(r.images, placed)
			if err := r.pkg.count(len(alt)); err != nil {
				return err
			}
		case "chart":
			text, err := r.pkg.chartText(rels[attrOf(e, "id")].target)
			if err != nil {
				r.warnings.add("a chart could not be read: " + err.Error())
			}
			r.out.block(text)
		case "AlternateContent":
			return x.alternate(func(e xml.StartElement) error { return visit(x, e) })
		}
		return x.children(func(e xml.StartElement) error { return visit(x, e) })
	}
	return r.pkg.read(drawing, visit)
}
