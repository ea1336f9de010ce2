// Package cite reads the citations in what a chat model wrote: it gives them one form, "[n]", takes out what names no
// source, and tells which sentence each stands by.
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

// Stream cleans a reply while it comes. The pieces that it gives, put together, are what Clean makes of the whole.
//
//	NewStream(sources int) *Stream
//	(*Stream).Write(piece string) (shown string)
//	(*Stream).Close() (shown string)     // the rest
//	(*Stream).Rejected() []Rejected
//
//	Clean(reply string, sources int) (text string, rejected []Rejected)
//	Markers(text string) []Marker        // in a cleaned text
//	Claim(text string, m Marker) string  // the sentence that the marker stands by, without markers
//	Sentences(text string) []Span        // in order; blanks between them belong to none
//	Closest(claim, passage string) Span  // the sentence of a passage that shares most with the claim
//	Overlap(claim, passage string) float64 // share of the claim's words that the passage has, 0 to 1
type Stream struct{}
