// Package pdf reads PDF files. The characters and their places come from PDFium, compiled to WebAssembly and run
// by wazero: no cgo, no file system, no network. What makes text of them (lines, columns, paragraphs, tables,
// headings) is this package's own.
//
//	l, err := pdf.New(pdf.Config{})
//	for doc, err := range l.Load(ctx, src) { … }
package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/loader/internal/source"
)

// Config sets how PDF files are read. The zero value reads every unprotected file.
type Config struct {
	Password  string `json:"password"`                                 // opens protected files; unprotected ones open as well; "": none
	CacheDir  string `json:"cache_dir"`                                // keeps the compiled engine (21 MB) between runs; "": rag/wazero in the user's cache folder; "none": no cache. The first PDF of a process decides
	MaxPages  int    `json:"max_pages" range:"[0,1000000000]"`         // pages read of one file, the rest is warned of; 0: all
	TimeoutMS int    `json:"timeout_ms,omitzero" range:"[1,86400000]"` // longest one file may take, in milliseconds, without the wait for a free engine; 0: 120000

	PageTimeoutMS int  `json:"page_timeout_ms,omitzero" range:"[1,86400000]"` // longest one page may take, in milliseconds, before it is given up and the next is read; 0: 10000
	Links         bool `json:"links"`                                         // links to the web are [text](target) instead of their text alone
	SkipPictures  bool `json:"skip_pictures"`                                 // leaves pictures out; text costs a part of what they do

	OCR rag.OCR `json:"-"` // reads pages that have no text or none that makes sense; nil: they are warned of
}

// Times that no file of use takes: some ten thousand pages, and ten times the largest scan that was seen.
const (
	defaultTimeout     = 2 * time.Minute
	defaultPageTimeout = 10 * time.Second
)

// maxBytes bounds what is read into memory. The engine's memory ends at maxMemoryPages and has to hold the file and
// what PDFium makes of it.
const maxBytes = 512 << 20

// headerWindow is how far from the start readers look for "%PDF-": PDF 1.7, implementation note 13.
const headerWindow = 1024

// Loader reads PDF files. It is safe for concurrent use: all loaders of a process share one compiled engine, which is
// made on the first PDF, and each file gets an instance with memory of its own.
type Loader struct {
	cfg         Config
	timeout     time.Duration
	pageTimeout time.Duration
}

var (
	_ rag.Loader        = (*Loader)(nil)
	_ rag.Formatter     = (*Loader)(nil)
	_ rag.Fingerprinter = (*Loader)(nil)
)

// New makes a loader. Negative numbers are rag.ErrInvalid.
func New(c Config) (*Loader, error) {
	if c.MaxPages < 0 || c.TimeoutMS < 0 || c.PageTimeoutMS < 0 {
		return nil, fmt.Errorf("max_pages, timeout_ms and page_timeout_ms must not be negative: %w", rag.ErrInvalid)
	}
	return &Loader{cfg: c, timeout: milliseconds(c.TimeoutMS, defaultTimeout), pageTimeout: milliseconds(c.PageTimeoutMS, defaultPageTimeout)}, nil
}

func milliseconds(n int, unset time.Duration) time.Duration {
	if n == 0 {
		return unset
	}
	return time.Duration(n) * time.Millisecond
}

// Formats tells that PDF files are known by "%PDF-" near their start.
func (l *Loader) Formats() []rag.Format {
	return []rag.Format{{
		Name: "pdf", Extensions: []string{".pdf"}, MediaTypes: []string{"application/pdf", "application/x-pdf"}, Match: isPDF,
	}}
}

// Fingerprint names the version of the layout rules and the settings that change the text.
func (l *Loader) Fingerprint() string {
	name := fmt.Sprintf("pdf/3/%d/%t/%t", l.cfg.MaxPages, l.cfg.Links, l.cfg.SkipPictures)
	if f, ok := l.cfg.OCR.(rag.Fingerprinter); ok {
		name += "/" + f.Fingerprint()
	} else if l.cfg.OCR != nil {
		name += "/ocr"
	}
	return name
}

func isPDF(head []byte) bool {
	return bytes.Contains(head[:min(len(head), headerWindow)], []byte("%PDF-"))
}

// Load yields the one document of a PDF file: its pages in Pages, its headings as "#" lines and Sections, table rows
// as lines of cells between bars. A page without text is a Warning and makes the document partial, or empty if no page
// has text; with Config.OCR such pages are read off their picture. A file that is protected, broken or slower than the time limit is rag.ErrInvalid.
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

func (l *Loader) load(ctx context.Context, src rag.Source) (rag.Document, error) {
	data, err := source.Read(ctx, src, maxBytes, "split the file")
	if err != nil {
		return rag.Document{}, err
	}
	if !isPDF(data) {
		return rag.Document{}, fmt.Errorf("no %%PDF- header in the first %d bytes: %w", headerWindow, rag.ErrUnsupported)
	}
	raw, err := l.extract(ctx, data)
	if err != nil {
		return rag.Document{}, err
	}
	return assemble(ctx, raw)
}

// extract runs PDFium over the file under the time limits. A page over which the engine is lost is left out, and a new
// engine goes on behind it.
func (l *Loader) extract(ctx context.Context, data []byte) (*rawDocument, error) {
	engine, err := sharedEngine(l.cfg.CacheDir)
	if err != nil {
		return nil, err
	}
	r := &reader{data: data, cfg: l.cfg, raw: rawDocument{links: l.cfg.Links}, encoded: map[[32]byte]*encoded{}}
	left := l.timeout
	for {
		err := engine.run(ctx, &left, l.pageTimeout, r.read)
		switch {
		case err == nil:
			return &r.raw, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, errRenew):
		case r.inPage() && errors.Is(err, errPageTimeout):
			r.raw.pages = append(r.raw.pages, rawPage{broken: fmt.Sprintf("it takes longer than %s (setting page_timeout_ms)", l.pageTimeout)})
		case r.inPage() && errors.Is(err, errLost):
			r.raw.pages = append(r.raw.pages, rawPage{broken: err.Error()})
		case errors.Is(err, errTimeout), errors.Is(err, errPageTimeout):
			return nil, fmt.Errorf("not read within %s (settings timeout_ms and page_timeout_ms): %w", l.timeout, rag.ErrInvalid)
		default:
			return nil, err
		}
	}
}
