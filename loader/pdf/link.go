package pdf

import (
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// link is an area of a page that leads to an address.
type link struct {
	box     box
	address string
}

// maxLinks bounds the links of a page, a count: a chain that leads back to itself would never end.
const maxLinks = 2000

// readLinks returns the links of a page that lead out of the file.
func readLinks(p instance, doc references.FPDF_DOCUMENT, page requests.Page) []link {
	var out []link
	for start := 0; len(out) < maxLinks; {
		l, err := p.FPDFLink_Enumerate(&requests.FPDFLink_Enumerate{Page: page, StartPos: start})
		if err != nil || l.Link == nil || l.NextStartPos == nil || *l.NextStartPos <= start {
			break
		}
		start = *l.NextStartPos
		action, err := p.FPDFLink_GetAction(&requests.FPDFLink_GetAction{Link: *l.Link})
		if err != nil || action.Action == nil {
			continue
		}
		uri, err := p.FPDFAction_GetURIPath(&requests.FPDFAction_GetURIPath{Document: doc, Action: *action.Action})
		if err != nil || uri.URIPath == nil {
			continue
		}
		rect, err := p.FPDFLink_GetAnnotRect(&requests.FPDFLink_GetAnnotRect{Link: *l.Link})
		if err != nil || rect.Rect == nil {
			continue
		}
		r := rect.Rect
		address := oneLine(*uri.URIPath)
		if b := newBox(r.Left, r.Bottom, r.Right, r.Top); b.finite() && isAddress(address) {
			out = append(out, link{b, address})
		}
	}
	return out
}

// linkAt returns which link, from 1, a word's middle lies in, or 0.
func linkAt(links []link, b box) int {
	for i, l := range links {
		if l.box.contains(b.centerX(), b.centerY()) {
			return i + 1
		}
	}
	return 0
}
