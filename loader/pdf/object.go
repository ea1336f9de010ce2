package pdf

import (
	"fmt"
	"math"

	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// Bounds of what is looked at on a page, counts. A page with more is a map or a drawing.
const (
	maxObjects  = 50_000  // objects of a page, those in forms included
	maxForms    = 8       // forms in forms
	maxSegments = 4_000   // segments of one path
	maxRules    = 20_000  // rules of a page
	maxHandles  = 200_000 // objects that one engine holds, some 200 bytes each, before a new one goes on
)

// Rules are thin: a line that is wider is a bar or a box. Points.
const (
	ruleWidth  = 3.0 // at most
	ruleLength = 4.0 // at least
)

// matrix maps the space of an object to that of the page: x' = ax + cy + e, y' = bx + dy + f.
type matrix struct{ a, b, c, d, e, f float64 }

var identity = matrix{a: 1, d: 1}

// then is m followed by n.
func (m matrix) then(n matrix) matrix {
	return matrix{
		m.a*n.a + m.b*n.c, m.a*n.b + m.b*n.d,
		m.c*n.a + m.d*n.c, m.c*n.b + m.d*n.d,
		m.e*n.a + m.f*n.c + n.e, m.e*n.b + m.f*n.d + n.f,
	}
}

func (m matrix) point(x, y float64) (float64, float64) {
	return m.a*x + m.c*y + m.e, m.b*x + m.d*y + m.f
}

// box is the smallest box around the corners of b.
func (m matrix) box(b box) box {
	x0, y0 := m.point(b.x0, b.y0)
	out := box{x0, y0, x0, y0}
	for _, c := range [3][2]float64{{b.x0, b.y1}, {b.x1, b.y0}, {b.x1, b.y1}} {
		x, y := m.point(c[0], c[1])
		out = out.union(box{x, y, x, y})
	}
	return out
}

// objectReader finds the pictures and the rules of a page.
type objectReader struct {
	*reader
	p    instance
	doc  references.FPDF_DOCUMENT
	page requests.Page
	raw  *rawPage
	seen int
}

// read walks the objects of the page.
func (o *objectReader) read() error {
	count, err := o.p.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: o.page})
	if err != nil {
		return err
	}
	for i := 0; i < count.Count && o.more(); i++ {
		if obj, err := o.p.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: o.page, Index: i}); err == nil {
			o.visit(obj.PageObject, identity, 0)
		}
	}
	if o.seen > maxObjects {
		o.raw.rules = nil // a drawing
		o.lose(fmt.Sprintf("has more than %d objects: pictures behind them were not looked for", maxObjects))
	}
	return nil
}

// more counts an object and reports whether it may be looked at.
func (o *objectReader) more() bool {
	o.seen++
	o.objects++
	return o.seen <= maxObjects
}

// lose notes once what of the page could not be read.
func (o *objectReader) lose(what string) {
	for _, l := range o.raw.lost {
		if l == what {
			return
		}
	}
	o.raw.lost = append(o.raw.lost, what)
}

// visit looks at an object; to maps the space in which it lies to the page's.
func (o *objectReader) visit(obj references.FPDF_PAGEOBJECT, to matrix, depth int) {
	kind, err := o.p.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: obj})
	if err != nil {
		return
	}
	switch kind.Type {
	case enums.FPDF_PAGEOBJ_IMAGE:
		if !o.cfg.SkipPictures {
			o.picture(obj, to)
		}
	case enums.FPDF_PAGEOBJ_PATH:
		if len(o.raw.rules) < maxRules {
			o.path(obj, to)
		}
	case enums.FPDF_PAGEOBJ_FORM:
		count, err := o.p.FPDFFormObj_CountObjects(&requests.FPDFFormObj_CountObjects{PageObject: obj})
		if err != nil || depth == maxForms {
			return
		}
		to = o.matrix(obj).then(to)
		for i := 0; i < count.Count && o.more(); i++ {
			if in, err := o.p.FPDFFormObj_GetObject(&requests.FPDFFormObj_GetObject{PageObject: obj, Index: uint64(i)}); err == nil {
				o.visit(in.PageObject, to, depth+1)
			}
		}
	}
}

func (o *objectReader) matrix(obj references.FPDF_PAGEOBJECT) matrix {
	res, err := o.p.FPDFPageObj_GetMatrix(&requests.FPDFPageObj_GetMatrix{PageObject: obj})
	if err != nil {
		return identity
	}
	m := res.Matrix
	return matrix{float64(m.A), float64(m.B), float64(m.C), float64(m.D), float64(m.E), float64(m.F)}
}

// bounds is the box of an object in the space in which it lies.
func (o *objectReader) bounds(obj references.FPDF_PAGEOBJECT) (box, bool) {
	r, err := o.p.FPDFPageObj_GetBounds(&requests.FPDFPageObj_GetBounds{PageObject: obj})
	if err != nil {
		return box{}, false
	}
	b := newBox(r.Left, r.Bottom, r.Right, r.Top)
	return b, b.finite()
}

// path keeps what of a path is a rule: the path itself where it is thin, and its segments where they are drawn.
func (o *objectReader) path(obj references.FPDF_PAGEOBJECT, to matrix) {
	b, ok := o.bounds(obj)
	if !ok {
		return
	}
	if whole := to.box(b); min(whole.width(), whole.height()) <= ruleWidth {
		o.rule(whole)
		return
	}
	mode, err := o.p.FPDFPath_GetDrawMode(&requests.FPDFPath_GetDrawMode{PageObject: obj})
	if err != nil || !mode.Stroke && mode.FillMode == enums.FPDF_FILLMODE_NONE {
		return
	}
	count, err := o.p.FPDFPath_CountSegments(&requests.FPDFPath_CountSegments{PageObject: obj})
	if err != nil || count.Count > maxSegments || !mode.Stroke && count.Count <= oneBox {
		return
	}
	o.segments(obj, count.Count, mode.Stroke, o.matrix(obj).then(to))
}

// oneBox is how many segments draw a rectangle. One that is filled and not thin is a background.
const oneBox = 5

// segments keeps the straight lines of a path that is drawn, and the thin parts of one that is filled.
func (o *objectReader) segments(obj references.FPDF_PAGEOBJECT, n int, stroked bool, to matrix) {
	var first, last, part box // points, as boxes without extent; what the subpath covers
	closePart := func() {
		if !stroked {
			o.rule(part)
		}
	}
	for i := range n {
		seg, err := o.p.FPDFPath_GetPathSegment(&requests.FPDFPath_GetPathSegment{PageObject: obj, Index: i})
		if err != nil {
			return
		}
		kind, kerr := o.p.FPDFPathSegment_GetType(&requests.FPDFPathSegment_GetType{PathSegment: seg.PathSegment})
		pt, perr := o.p.FPDFPathSegment_GetPoint(&requests.FPDFPathSegment_GetPoint{PathSegment: seg.PathSegment})
		if kerr != nil || perr != nil {
			return
		}
		x, y := to.point(float64(pt.X), float64(pt.Y))
		at := box{x, y, x, y}
		switch {
		case kind.Type == enums.FPDF_SEGMENT_MOVETO:
			if i > 0 {
				closePart()
			}
			first, part = at, at
		case kind.Type == enums.FPDF_SEGMENT_LINETO && stroked:
			o.rule(last.union(at))
		}
		last, part = at, part.union(at)
		if end, err := o.p.FPDFPathSegment_GetClose(&requests.FPDFPathSegment_GetClose{PathSegment: seg.PathSegment}); err == nil && end.IsClose && stroked {
			o.rule(last.union(first))
		}
	}
	closePart()
}

// rule keeps a box that is thin and long.
func (o *objectReader) rule(b box) {
	if b.finite() && min(b.width(), b.height()) <= ruleWidth && max(b.width(), b.height()) >= ruleLength {
		o.raw.rules = append(o.raw.rules, b)
	}
}

// newBox is a box of two corners in any order.
func newBox(x0, y0, x1, y1 float32) box {
	return box{float64(min(x0, x1)), float64(min(y0, y1)), float64(max(x0, x1)), float64(max(y0, y1))}
}

func (b box) finite() bool {
	s := b.x0 + b.y0 + b.x1 + b.y1
	return !math.IsNaN(s) && !math.IsInf(s, 0)
}

func (b box) contains(x, y float64) bool { return b.x0 <= x && x <= b.x1 && b.y0 <= y && y <= b.y1 }
