// Package cite reads the citations in what a chat model wrote: it gives them one form, "[n]", takes out what names no
// source, and tells which sentence each stands by.
//
//	text, rejected := cite.Clean("30 days【1】 or more [7].", 4) // "30 days[1] or more.", [7]: there are 4 sources
//	markers := cite.Markers(text)
//	for i, claim := range cite.Claims(text, markers) {
//		fmt.Println(markers[i].Number, claim)
//	}
//
// A text is read as Markdown: what stands in code, in addresses and in formulas is no citation.
package cite

// Marker is a citation in a cleaned text, written "[n]".
type Marker struct {
	Number     int // of the source, from 1
	Start, End int // bytes of the text
}

// Rejected is a citation that was taken out.
type Rejected struct {
	Marker string // as it was written
	Reason string
}

// Span is a part of a text in bytes, half-open.
type Span struct{ Start, End int }

// Clean returns the reply with its citations of sources 1 to sources in the form [n], and those that name none taken
// out. Cleaning a cleaned text changes nothing. A reply in JSON with an answer and citations is put into words first.
func Clean(reply string, sources int) (text string, rejected []Rejected) {
	s := NewStream(sources)
	text = s.Write(reply)
	text += s.Close()
	return text, s.Rejected()
}

// Markers returns the citations of a cleaned text, in order.
func Markers(text string) []Marker {
	c := cleaner{sources: anyNumber}
	c.write(text)
	return c.markers
}
