// Package transform improves what the indexes see of chunks, without touching their text.
//
//	chunks, err := transform.NewContext().Transform(ctx, doc, chunks)
package transform

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// separator stands between the elements of a context.
const separator = " > "

// The context of a chunk takes room from its text in the embedder's window, and a long one would drown the text. 160
// bytes are about 40 tokens of English; scripts with more bytes a character have about as many tokens in them.
const (
	longestContext = 160
	omitted        = "…"
)

// Context is the transformer "context": it puts the document's title and the headings the chunk stands under, joined by
// " > ", first in each chunk's Context. It needs no settings and is safe for concurrent use.
type Context struct{}

var (
	_ rag.Transformer   = Context{}
	_ rag.Fingerprinter = Context{}
)

// NewContext returns the transformer.
func NewContext() Context { return Context{} }

// Fingerprint names the version of the rules.
func (Context) Fingerprint() string { return "context/v1" }

// Transform sets Context and returns the chunks; a chunk without title and headings gets "". It fails only with the
// error of ctx.
func (Context) Transform(ctx context.Context, doc rag.Document, chunks []rag.Chunk) ([]rag.Chunk, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := make([]rag.Chunk, len(chunks))
	copy(out, chunks)
	for i := range out {
		out[i].Context = joinLines(join(path(doc.Title, out[i].Headings)), out[i].Context)
	}
	return out, nil
}

// joinLines puts lines of a context below each other, without the empty ones.
func joinLines(lines ...string) string {
	return strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "\n")
}

// path returns the title and the headings, each valid UTF-8 on one line, without what is empty or repeats the element before it.
func path(title string, headings []string) []string {
	var all []string
	for _, s := range append([]string{title}, headings...) {
		s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
		if s == "" || len(all) > 0 && strings.EqualFold(s, all[len(all)-1]) {
			continue
		}
		all = append(all, s)
	}
	return all
}

// join joins the elements to at most longestContext bytes: elements in the middle are left out first, from the outer
// ones on, because the title says what the text is part of and the last heading what it is about.
func join(elements []string) string {
	whole := strings.Join(elements, separator)
	if len(whole) <= longestContext {
		return whole
	}
	first, last := elements[0], elements[len(elements)-1]
	for from := 2; from < len(elements); from++ {
		shorter := strings.Join(append([]string{first, omitted}, elements[from:]...), separator)
		if len(shorter) <= longestContext {
			return shorter
		}
	}
	if len(elements) == 1 {
		return cut(first, longestContext)
	}
	half := (longestContext - len(separator)) / 2
	if len(last) <= half {
		return cut(first, longestContext-len(separator)-len(last)) + separator + last
	}
	first = cut(first, half)
	return first + separator + cut(last, longestContext-len(separator)-len(first))
}

// cut shortens s to at most so many bytes, at a word if there is one in the second half.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	s = strings.ToValidUTF8(s[:most-len(omitted)], "")
	if at := strings.LastIndexByte(s, ' '); at > len(s)/2 {
		s = s[:at]
	}
	return s + omitted
}
