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
	info    map[string]string // document information by PDF key; empty values left out
}

// rawPage is the words of a page in drawing order.
type rawPage struct {
	words  []word
	broken string // why the page could not be read; "" if it was
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

// readDocument reads the words of all pages, the outline and the information.
func readDocument(ctx context.Context, p instance, data []byte, cfg Config) (*rawDocument, error) {
	doc, err := open(p, data, cfg.Password)
	if err != nil {
		return nil, err
	}
	count, err := p.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: doc})
	if err != nil {
		return nil, damaged(err)
	}
	raw := &rawDocument{total: count.PageCount}
	if raw.total == 0 {
		return nil, fmt.Errorf("the file has no pages that can be found: %w", rag.ErrInvalid)
	}
	n := raw.total
	if cfg.MaxPages > 0 {
		n = min(n, cfg.MaxPages)
	}
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		words, err := readPage(p, doc, i)
		page := rawPage{words: words}
		if err != nil {
			page.broken = err.Error()
		}
		raw.pages = append(raw.pages, page)
	}
	raw.outline = readOutline(ctx, p, doc)
	raw.info = readInfo(p, doc)
	return raw, ctx.Err()
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
