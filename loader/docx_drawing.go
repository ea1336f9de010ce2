package loader

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"io"
	"path"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// maxImageBytes bounds the pictures that one document holds in memory.
const maxImageBytes = 256 << 20

// understood are the extensions of the format whose content is read here; mc:AlternateContent asks for them.
var understood = map[string]bool{
	"wps": true, "wpg": true, "wpc": true, "wpi": true, "wp14": true, "a14": true, "pic": true, "v": true,
	"w14": true, "w15": true, "w16": true, "w16se": true, "w16cid": true, "w16cex": true, "w16du": true,
}

// alternate reads the first choice that is understood, else the fallback, and never both: they hold the same text.
func (r *docxReader) alternate(x *xmlReader, visit func(xml.StartElement) error) error {
	taken := false
	return x.children(func(e xml.StartElement) error {
		switch {
		case taken:
		case e.Name.Local == "Choice" && allUnderstood(attrOf(e, "Requires")), e.Name.Local == "Fallback":
			taken = true
			return x.children(visit)
		}
		return x.skip()
	})
}

func allUnderstood(requires string) bool {
	for _, name := range strings.Fields(requires) {
		if !understood[name] {
			return false
		}
	}
	return true
}

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
		case "chart", "relIds":
			r.warn("charts and diagrams are not read")
		case "AlternateContent":
			return r.alternate(x, visit)
		}
		return x.children(visit)
	}
	return x.children(visit)
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// cleanAlt is an alternative text without what Word adds to those it makes up; a file's name is none.
func cleanAlt(s string) string {
	s = mdtext.Line(s)
	if imageType(strings.ToLower(s)) != unknownType && !strings.Contains(s, " ") {
		return ""
	}
	for _, made := range []string{"Description automatically generated", "AI-generated content may be incorrect."} {
		s = strings.TrimSpace(strings.TrimSuffix(s, made))
	}
	return s
}

// image puts a picture where the text stands, with its alternative text.
func (r *docxReader) image(in *docxInline, id, alt string) {
	rel, ok := r.rels[id]
	if !ok {
		return
	}
	if rel.external {
		r.warn("a picture that is linked, not embedded, is not read")
		return
	}
	img, err := r.readImage(rel.target)
	if err != nil {
		r.warn("the picture " + path.Base(rel.target) + " could not be read")
		return
	}
	in.images = append(in.images, placedImage{at: in.b.Len(), image: img, alt: alt})
	if alt != "" {
		if before := in.b.String(); before != "" && before[len(before)-1] != ' ' {
			r.write(in, " ")
		}
		r.write(in, alt+" ")
	}
}

// readImage reads a picture once, however often it is shown.
func (r *docxReader) readImage(name string) (*rag.Image, error) {
	if img, ok := r.images[name]; ok {
		return img, nil
	}
	part, ok, err := r.pkg.open(name)
	if err != nil || !ok {
		return nil, firstError(err, io.ErrUnexpectedEOF)
	}
	defer part.Close()
	data, err := io.ReadAll(io.LimitReader(part, int64(maxImageBytes-r.imageBytes)+1))
	if err != nil {
		return nil, err
	}
	if r.imageBytes += len(data); r.imageBytes > maxImageBytes {
		return nil, io.ErrShortBuffer
	}
	sum := sha256.Sum256(data)
	img := &rag.Image{ID: hex.EncodeToString(sum[:]), MediaType: imageType(name), Data: data}
	r.images[name] = img
	return img, nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// unknownType is the media type of bytes of which nothing is known.
const unknownType = "application/octet-stream"

// imageType is the media type that a part's name tells.
func imageType(name string) string {
	switch ext := strings.TrimPrefix(path.Ext(name), "."); ext {
	case "png", "jpeg", "gif", "bmp", "tiff", "webp":
		return "image/" + ext
	case "jpg", "jfif":
		return "image/jpeg"
	case "tif":
		return "image/tiff"
	case "svg":
		return "image/svg+xml"
	case "emf", "wmf":
		return "image/x-" + ext
	case "pict", "pct":
		return "image/x-pict"
	}
	return unknownType
}
