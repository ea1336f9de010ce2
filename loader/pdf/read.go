package pdf

import (
	"context"
	"errors"
	"fmt"

	pdferr "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"

	"github.com/seed-d8745b77/rag"
)

// rawDocument is what the engine tells of a file, before any layout.
type rawDocument struct {
	pages   []rawPage
	total   int // pages in the file; more than len(pages) under Config.MaxPages
	outline []bookmark
	links   bool              // as Config.Links
	info    map[string]string // document information by PDF key; empty values left out
}

// rawPage is the words of a page in drawing order, and what else is drawn on it.
type rawPage struct {
	words    []word
	pictures []picture
	rules    []box    // lines that are thin and straight, for tables
	links    []string // addresses; word.link counts them from 1
	lost     []string // what of the page could not be read
	blank    bool     // nothing is drawn on it
	scanned  bool     // the words were read off a picture of it
	broken   string   // why the page could not be read at all; "" if it was
}

// bookmark is one entry of the outline.
type bookmark struct {
	title string
	level int // 1 is outermost
	page  int // 0-based; -1 if it leads to no page
}

// Bounds of the outline: real ones stay far below, a cyclic one would never end.
const (
	maxBookmarks     = 5000
	maxBookmarkDepth = 12
)

// reader reads a file with one engine after the other, as far as they get.
type reader struct {
	data    []byte
	cfg     Config
	raw     rawDocument
	encoded map[[32]byte]*encoded // pictures by the digest of what stands in the file
	bytes   int                   // of the pictures
	objects int                   // looked at
}

// inPage reports whether pages are missing yet.
func (r *reader) inPage() bool { return len(r.raw.pages) < r.pages() }

// pages is how many pages are to be read; 0 before the file is open.
func (r *reader) pages() int {
	if r.cfg.MaxPages > 0 {
		return min(r.raw.total, r.cfg.MaxPages)
	}
	return r.raw.total
}

// read opens the file and reads the pages that are missing, at first also the outline and the information.
func (r *reader) read(ctx context.Context, p instance, c *clock) error {
	doc, err := open(p, r.data, r.cfg.Password)
	if err != nil {
		return err
	}
	if r.raw.total == 0 {
		count, err := p.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: doc})
		if err != nil {
			return damaged(err)
		}
		if count.PageCount == 0 {
			return fmt.Errorf("the file has no pages that can be found: %w", rag.ErrInvalid)
		}
		r.raw.outline = readOutline(ctx, p, doc)
		r.raw.info = readInfo(p, doc)
		r.raw.total = count.PageCount
	}
	for r.inPage() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.objects > maxHandles {
			r.objects = 0
			return errRenew
		}
		c.next()
		page, err := r.readPage(p, doc, len(r.raw.pages))
		if err != nil {
			if _, dead := p.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: doc}); dead != nil {
				return fmt.Errorf("%w (%w)", errLost, err)
			}
			page.broken = err.Error()
		}
		if r.cfg.OCR != nil && err == nil {
			if err := r.recognise(ctx, p, doc, c, &page); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err // the engine was stopped: what it gave of the page is not whole
		}
		r.raw.pages = append(r.raw.pages, page)
	}
	return ctx.Err()
}

// readPage reads a page (0-based).
func (r *reader) readPage(p instance, doc references.FPDF_DOCUMENT, index int) (rawPage, error) {
	var raw rawPage
	page, err := p.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: doc, Index: index})
	if err != nil {
		return raw, err
	}
	defer p.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: page.Page})
	ref := requests.Page{ByReference: &page.Page}
	links := readLinks(p, doc, ref)
	if raw.words, err = readWords(p, ref, links); err != nil {
		return raw, err
	}
	for _, l := range links {
		raw.links = append(raw.links, l.address)
	}
	o := objectReader{reader: r, p: p, doc: doc, page: ref, raw: &raw}
	err = o.read()
	raw.blank = o.seen == 0
	return raw, err
}

// open opens the document. An empty user password needs none; whether copying is allowed is not asked, since the text
// stays with its reader.
func open(p instance, data []byte, password string) (references.FPDF_DOCUMENT, error) {
	req := &requests.OpenDocument{File: &data}
	if password != "" {
		req.Password = &password
	}
	res, err := p.OpenDocument(req)
	switch {
	case err == nil:
		return res.Document, nil
	case !errors.Is(err, pdferr.ErrPassword):
		return "", damaged(err)
	case password == "":
		return "", fmt.Errorf("the file is encrypted: set its password (loader setting password): %w", rag.ErrInvalid)
	}
	return "", fmt.Errorf("the file is encrypted and the password given does not open it: %w", rag.ErrInvalid)
}

func damaged(err error) error {
	return fmt.Errorf("the file is corrupt or cut short (%v): %w", err, rag.ErrInvalid)
}

// readOutline returns the bookmarks in reading order. An outline that cannot be read is as none.
func readOutline(ctx context.Context, p instance, doc references.FPDF_DOCUMENT) []bookmark {
	var list []bookmark
	var walk func(parent *references.FPDF_BOOKMARK, level int)
	walk = func(parent *references.FPDF_BOOKMARK, level int) {
		first, err := p.FPDFBookmark_GetFirstChild(&requests.FPDFBookmark_GetFirstChild{Document: doc, Bookmark: parent})
		if err != nil {
			return
		}
		for b := first.Bookmark; b != nil && len(list) < maxBookmarks && ctx.Err() == nil; {
			if title, err := p.FPDFBookmark_GetTitle(&requests.FPDFBookmark_GetTitle{Bookmark: *b}); err == nil {
				list = append(list, bookmark{title: oneLine(title.Title), level: level, page: bookmarkPage(p, doc, *b)})
			}
			if level < maxBookmarkDepth {
				walk(b, level+1)
			}
			next, err := p.FPDFBookmark_GetNextSibling(&requests.FPDFBookmark_GetNextSibling{Document: doc, Bookmark: *b})
			if err != nil {
				return
			}
			b = next.Bookmark
		}
	}
	walk(nil, 1)
	return list
}

// bookmarkPage returns the 0-based page of a bookmark's destination or of its action's, or -1.
func bookmarkPage(p instance, doc references.FPDF_DOCUMENT, b references.FPDF_BOOKMARK) int {
	var dest *references.FPDF_DEST
	if d, err := p.FPDFBookmark_GetDest(&requests.FPDFBookmark_GetDest{Document: doc, Bookmark: b}); err == nil {
		dest = d.Dest
	}
	if dest == nil {
		a, err := p.FPDFBookmark_GetAction(&requests.FPDFBookmark_GetAction{Bookmark: b})
		if err != nil || a.Action == nil {
			return -1
		}
		d, err := p.FPDFAction_GetDest(&requests.FPDFAction_GetDest{Document: doc, Action: *a.Action})
		if err != nil || d.Dest == nil {
			return -1
		}
		dest = d.Dest
	}
	i, err := p.FPDFDest_GetDestPageIndex(&requests.FPDFDest_GetDestPageIndex{Document: doc, Dest: *dest})
	if err != nil {
		return -1
	}
	return i.Index
}

// readInfo returns the document information. What is missing is left out. The language that the catalog states is not
// asked: writing programs put the language of their menus there, and the text tells better.
func readInfo(p instance, doc references.FPDF_DOCUMENT) map[string]string {
	info := map[string]string{}
	res, err := p.GetMetaData(&requests.GetMetaData{Document: doc})
	if err != nil {
		return info
	}
	for _, t := range res.Tags {
		if v := oneLine(t.Value); v != "" {
			info[t.Tag] = v
		}
	}
	return info
}
