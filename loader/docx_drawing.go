package loader

import (
	"encoding/xml"
	"strings"
)

// drawing reads pictures and text boxes from a drawing, a VML picture or an embedded object.
func (r *docxReader) drawing(x *xmlReader, in *docxInline) error {
	alt := ""
	var visit func(xml.StartElement) error
	visit = func(e xml.StartElement) error {
		switch e.Name.Local {
		case "docPr", "shape":
			if d := firstOf(attrOf(e, "descr"), attrOf(e, "alt")); d != "" {
				alt = cleanAlt(d)
			}
		case "blip":
			r.image(in, attrOf(e, "embed"), alt)
		case "imagedata":
			r.image(in, attrOf(e, "id"), firstOf(alt, cleanAlt(attrOf(e, "title"))))
		case "txbxContent":
			return r.body(x, func(b docxBlock) { in.asides = append(in.asides, b) })
		case "chart":
			text, err := r.pkg.chartText(r.rels[attrOf(e, "id")].target)
			r.aside(in, "", text, err)
		case "relIds":
			texts, err := r.pkg.diagramTexts(r.rels[attrOf(e, "dm")].target)
			r.aside(in, "- ", strings.Join(texts, "\n- "), err)
		case "AlternateContent":
			return x.alternate(visit)
		}
		return x.children(visit)
	}
	return x.children(visit)
}

// aside adds what a chart or diagram says behind the paragraph.
func (r *docxReader) aside(in *docxInline, prefix, text string, err error) {
	if err != nil {
		r.warnings.add("a chart or diagram could not be read: " + err.Error())
	}
	if text != "" {
		in.asides = append(in.asides, docxBlock{prefix: prefix, text: text})
	}
}

// image puts a picture where the text stands, with its alternative text.
func (r *docxReader) image(in *docxInline, id, alt string) {
	rel, ok := r.rels[id]
	if !ok {
		return
	}
	img := r.pkg.embedded(rel, &r.pictures, &r.warnings)
	if img == nil {
		return
	}
	in.images = append(in.images, placedImage{at: in.b.Len(), image: img, alt: alt})
	if alt != "" {
		_ = r.pkg.count(len(alt)) // a drawing may hold many pictures; beyond the bound the next reading fails
		if before := in.b.String(); before != "" && before[len(before)-1] != ' ' {
			r.write(in, " ")
		}
		r.write(in, alt+" ")
	}
}
