// Package unipdf reads PDF files with UniDoc's unipdf, a commercial library: it gives no text without a licence key. For
// programs that have one; all others read PDF better with package loader/pdf, which is linked by default.
//
//	l, err := unipdf.New(unipdf.Config{LicenseKey: key, Customer: "Our company"})
//	eng, err := rag.Open("kb", rag.WithLoader("unipdf", l)) // goes before the default loader
package unipdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"

	"github.com/unidoc/unipdf/v3/common/license"
	"github.com/unidoc/unipdf/v3/extractor"
	"github.com/unidoc/unipdf/v3/model"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/loader/internal/source"
)

// Config sets how PDF files are read. A key is needed: LicenseKey, LicenseFile or MeteredKey, unless the program has
// given one to unipdf itself.
type Config struct {
	LicenseKey  string `json:"license_key"`                                  // text of an offline key, with its BEGIN and END lines
	LicenseFile string `json:"license_file"`                                 // file that holds such a text
	Customer    string `json:"customer"`                                     // the name that the offline key was made out to
	MeteredKey  string `json:"metered_key"`                                  // key of a metered licence; unipdf reports its use to UniDoc over the network
	Password    string `json:"password"`                                     // opens protected files; "": none
	MaxPages    int    `json:"max_pages" range:"[0,1000000000]"`             // pages read of one file, the rest is warned of; 0: all
	MaxBytes    int64  `json:"max_bytes,omitzero" range:"[1,1099511627776]"` // a larger source is ErrInvalid; 0: 256 MiB
}

// defaultMaxBytes bounds the bytes of a file: unipdf holds all of it, and what it makes of it.
const defaultMaxBytes = 256 << 20

// Loader reads PDF files. It is safe for concurrent use. unipdf cannot be stopped within a page: a done context ends
// the reading before the next one.
type Loader struct{ cfg Config }

var (
	_ rag.Loader        = (*Loader)(nil)
	_ rag.Formatter     = (*Loader)(nil)
	_ rag.Fingerprinter = (*Loader)(nil)
)

// New gives unipdf its key, which holds for the whole process, and makes a loader. Without a key, and with one that
// unipdf does not take, the error is ErrInvalid and says what to do.
func New(c Config) (*Loader, error) {
	if c.MaxPages < 0 || c.MaxBytes < 0 {
		return nil, fmt.Errorf("max_pages and max_bytes must not be negative: %w", rag.ErrInvalid)
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = defaultMaxBytes
	}
	if err := unlock(c); err != nil {
		return nil, err
	}
	return &Loader{c}, nil
}

// errNoKey says that no licence was given.
var errNoKey = fmt.Errorf("unipdf gives no text without a licence key: set license_key or license_file with customer, or metered_key; keys are sold by UniDoc, and the loader pdf needs none: %w", rag.ErrInvalid)

// unlock sets the licence.
func unlock(c Config) error {
	key := c.LicenseKey
	if c.LicenseFile != "" {
		if key != "" {
			return fmt.Errorf("unipdf: give license_key or license_file, not both: %w", rag.ErrInvalid)
		}
		text, err := os.ReadFile(c.LicenseFile)
		if err != nil {
			return fmt.Errorf("unipdf: license_file: %w", err)
		}
		key = string(text)
	}
	var err error
	switch {
	case key != "" && c.MeteredKey != "":
		return fmt.Errorf("unipdf: give an offline key or a metered key, not both: %w", rag.ErrInvalid)
	case key != "" && c.Customer == "":
		return fmt.Errorf("unipdf: an offline key needs customer, the name that it was made out to: %w", rag.ErrInvalid)
	case key != "":
		err = license.SetLicenseKey(key, c.Customer)
	case c.MeteredKey != "":
		err = license.SetMeteredKey(c.MeteredKey)
	default:
		if k := license.GetLicenseKey(); k == nil || !k.IsLicensed() {
			return errNoKey
		}
	}
	if err != nil {
		return fmt.Errorf("unipdf does not take the licence key: %w: %w", err, rag.ErrInvalid)
	}
	return nil
}

// headerWindow is how far from the start readers look for "%PDF-": PDF 1.7, implementation note 13.
const headerWindow = 1024

func isPDF(head []byte) bool {
	return bytes.Contains(head[:min(len(head), headerWindow)], []byte("%PDF-"))
}

// Formats tells that PDF files are known by "%PDF-" near their start.
func (*Loader) Formats() []rag.Format {
	return []rag.Format{{Name: "pdf", Extensions: []string{".pdf"}, MediaTypes: []string{"application/pdf", "application/x-pdf"}, Match: isPDF}}
}

// Fingerprint names the version of what is done with unipdf's text and the settings that change it.
func (l *Loader) Fingerprint() string { return fmt.Sprintf("unipdf/3/1/%d", l.cfg.MaxPages) }

// Load yields the one document of a PDF file: the text as unipdf orders it, page by page, the entries of the outline
// whose title stands on their page as sections, and the pictures. Errors are as in package loader/pdf.
func (l *Loader) Load(ctx context.Context, src rag.Source) iter.Seq2[rag.Document, error] {
	return func(yield func(rag.Document, error) bool) {
		doc, err := l.load(ctx, src)
		if err != nil {
			yield(rag.Document{}, err)
			return
		}
		yield(doc, nil)
	}
}

func (l *Loader) load(ctx context.Context, src rag.Source) (_ rag.Document, err error) {
	data, err := source.Read(ctx, src, l.cfg.MaxBytes, "split the file or raise max_bytes")
	if err != nil {
		return rag.Document{}, err
	}
	if !isPDF(data) {
		return rag.Document{}, fmt.Errorf("no %%PDF- header in the first %d bytes: %w", headerWindow, rag.ErrUnsupported)
	}
	defer func() { // unipdf panics over some broken files
		if p := recover(); p != nil {
			err = fmt.Errorf("unipdf gave up (%v): %w", p, rag.ErrInvalid)
		}
	}()
	f, err := l.extract(ctx, data)
	if err != nil {
		return rag.Document{}, err
	}
	return f.document(), nil
}

// extract asks unipdf for all that is wanted of a file.
func (l *Loader) extract(ctx context.Context, data []byte) (*file, error) {
	r, err := l.open(data)
	if err != nil {
		return nil, err
	}
	total, err := r.GetNumPages()
	if err != nil {
		return nil, damaged(err)
	}
	f := &file{total: total, info: readInfo(r), outline: readOutline(r)}
	n := total
	if l.cfg.MaxPages > 0 {
		n = min(n, l.cfg.MaxPages)
	}
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f.pages = append(f.pages, readPage(r, i+1))
	}
	return f, ctx.Err()
}

func (l *Loader) open(data []byte) (*model.PdfReader, error) {
	r, err := model.NewPdfReaderLazy(bytes.NewReader(data))
	if err != nil {
		return nil, damaged(err)
	}
	locked, err := r.IsEncrypted()
	if err != nil {
		return nil, damaged(err)
	}
	if !locked {
		return r, nil
	}
	ok, err := r.Decrypt([]byte(l.cfg.Password))
	switch {
	case err != nil:
		return nil, damaged(err)
	case !ok && l.cfg.Password == "":
		return nil, fmt.Errorf("the file is encrypted: set its password (loader setting password): %w", rag.ErrInvalid)
	case !ok:
		return nil, fmt.Errorf("the file is encrypted and the password given does not open it: %w", rag.ErrInvalid)
	}
	return r, nil
}

func damaged(err error) error {
	return fmt.Errorf("the file is corrupt or cut short (%v): %w", err, rag.ErrInvalid)
}

// readPage reads a page (1-based). What fails is said in the page.
func readPage(r *model.PdfReader, number int) page {
	p, err := r.GetPage(number)
	if err != nil {
		return page{lost: []string{"could not be read: " + err.Error()}}
	}
	x, err := extractor.New(p)
	if err != nil {
		return page{lost: []string{"could not be read: " + err.Error()}}
	}
	var out page
	text, _, _, err := x.ExtractPageText()
	if err != nil {
		out.lost = append(out.lost, "could not be read: "+err.Error())
	} else {
		out.text = text.Text()
	}
	images, err := x.ExtractPageImages(nil)
	if err != nil {
		out.lost = append(out.lost, "pictures could not be read: "+err.Error())
		return out
	}
	for _, m := range images.Images {
		if err := out.add(m); err != nil {
			out.lost = append(out.lost, "a picture could not be read: "+err.Error())
		}
	}
	return out
}

// errNoPicture marks an image without pixels.
var errNoPicture = errors.New("it has no pixels")
