package pdf

import (
	"slices"
	"strings"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// link is the areas of a page that lead to one address.
type link struct {
	boxes   []box
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
		if address := oneLine(*uri.URIPath); isAddress(address) {
			out = addLink(out, address, areas(p, *l.Link))
		}
	}
	return out
}

// addLink adds areas to the link of this address, so that one that is cut by a line's end stays one.
func addLink(links []link, address string, boxes []box) []link {
	i := slices.IndexFunc(links, func(l link) bool { return l.address == address })
	if i < 0 {
		return append(links, link{boxes, address})
	}
	links[i].boxes = append(links[i].boxes, boxes...)
	return links
}

// areas are the boxes of a link: those of its lines where it has some, else the one around it.
func areas(p instance, l references.FPDF_LINK) []box {
	var out []box
	if n, err := p.FPDFLink_CountQuadPoints(&requests.FPDFLink_CountQuadPoints{Link: l}); err == nil {
		for i := range min(n.Count, maxLinks) {
			q, err := p.FPDFLink_GetQuadPoints(&requests.FPDFLink_GetQuadPoints{Link: l, QuadIndex: i})
			if err != nil || q.Points == nil {
				break
			}
			if b := newBox(q.Points.X1, q.Points.Y1, q.Points.X4, q.Points.Y4); b.finite() {
				out = append(out, b)
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	if rect, err := p.FPDFLink_GetAnnotRect(&requests.FPDFLink_GetAnnotRect{Link: l}); err == nil && rect.Rect != nil {
		if b := newBox(rect.Rect.Left, rect.Rect.Bottom, rect.Rect.Right, rect.Rect.Top); b.finite() {
			out = append(out, b)
		}
	}
	return out
}

// linkAt returns which link, from 1, a word's middle lies in, or 0.
func linkAt(links []link, b box) int {
	for i, l := range links {
		if slices.ContainsFunc(l.boxes, func(area box) bool { return area.contains(b.centerX(), b.centerY()) }) {
			return i + 1
		}
	}
	return 0
}

// isAddress reports an address that a reader can follow and that stands in Markdown as it is.
func isAddress(s string) bool {
	for _, scheme := range []string{"http://", "https://", "mailto:", "ftp://"} {
		if strings.HasPrefix(strings.ToLower(s), scheme) {
			return !strings.ContainsAny(s, "() <>\n")
		}
	}
	return false
}
