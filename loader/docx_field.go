package loader

import (
	"encoding/xml"
	"regexp"
	"slices"
)

// docxField is an open complex field: begin, instruction, separate, result, end.
type docxField struct {
	instruction bool   // the instruction is being read
	code        string // the instruction
	result      int    // where the result begins in the paragraph's text
}

// inInstruction reports whether text belongs to a field's instruction. Fields nest.
func (r *docxReader) inInstruction() bool {
	return slices.ContainsFunc(r.fields, func(f docxField) bool { return f.instruction })
}

// write adds text unless it belongs to a field's instruction.
func (r *docxReader) write(in *docxInline, s string) {
	if !r.inInstruction() {
		in.b.WriteString(s)
	}
}

// field follows the parts of a complex field.
func (r *docxReader) field(kind string, in *docxInline) {
	n := len(r.fields)
	switch {
	case kind == "begin":
		r.fields = append(r.fields, docxField{instruction: true})
	case kind == "separate" && n > 0:
		r.fields[n-1].instruction, r.fields[n-1].result = false, in.b.Len()
	case kind == "end" && n > 0:
		f := &r.fields[n-1]
		r.fields = r.fields[:n-1]
		if m := hyperlinkField.FindStringSubmatch(f.code); m != nil && !f.instruction {
			r.link(in, f.result, m[1])
		}
	}
}

// instruction keeps a field's instruction: it may hold the target of a link.
func (r *docxReader) instruction(x *xmlReader) error {
	s, err := x.text()
	if n := len(r.fields); n > 0 && r.fields[n-1].instruction {
		r.fields[n-1].code += s
	}
	return err
}

// hyperlinkField is a field that links to a target outside the document.
var hyperlinkField = regexp.MustCompile(`^\s*HYPERLINK\s+"([^"]+)"`)

// hyperlink reads a link given as an element.
func (r *docxReader) hyperlink(x *xmlReader, e xml.StartElement, in *docxInline, visit func(xml.StartElement) error) error {
	start := in.b.Len()
	if err := x.children(visit); err != nil {
		return err
	}
	if rel := r.rels[attrOf(e, "id")]; rel.external {
		r.link(in, start, rel.target)
	}
	return nil
}

// link makes the text from start on a link if links are asked for.
func (r *docxReader) link(in *docxInline, start int, target string) {
	if !r.cfg.Links || r.inInstruction() || start > in.b.Len() {
		return
	}
	_ = r.pkg.count(len(target)) // many links may share one; beyond the bound the next reading fails
	all := in.b.String()
	in.b.Reset()
	in.b.WriteString(all[:start] + linkText(all[start:], target))
}
