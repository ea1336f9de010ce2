// Package loader reads sources into documents: text, Markdown, HTML, Word, PowerPoint, Excel, EPUB, mail, CSV, JSON,
// notebooks and source code. Package loader/pdf reads PDF.
//
// Each loader decides by content whether bytes are in its format; the engine asks them in turn. Used alone:
//
//	md, err := loader.NewMarkdown(loader.MarkdownConfig{})
//	for doc, err := range md.Load(ctx, src) { … }
//
// Importing the package registers its loaders in [rag.Default].
package loader

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
	"github.com/seed-d8745b77/rag/loader/internal/source"
)

// DefaultMaxBytes is the size of the largest source a loader reads unless its MaxBytes says otherwise: what the
// engine lets through by default.
const DefaultMaxBytes = 64 << 20

// single is the sequence of a loader that makes one document of a source: it reads the source, closes it, parses.
func single(ctx context.Context, src rag.Source, limit int64, parse func(context.Context, rag.Source, []byte) (rag.Document, error)) iter.Seq2[rag.Document, error] {
	return func(yield func(rag.Document, error) bool) {
		data, err := readSource(ctx, src, limit)
		if err != nil {
			yield(rag.Document{}, err)
			return
		}
		doc, err := parse(ctx, src, data)
		if err != nil {
			yield(rag.Document{}, err)
			return
		}
		yield(doc, nil)
	}
}

// several is the sequence of a loader that makes several documents of a source. parse must stop when its yield says so.
func several(ctx context.Context, src rag.Source, limit int64, parse func(context.Context, rag.Source, []byte, func(rag.Document) bool) error) iter.Seq2[rag.Document, error] {
	return func(yield func(rag.Document, error) bool) {
		data, err := readSource(ctx, src, limit)
		if err != nil {
			yield(rag.Document{}, err)
			return
		}
		stopped := false
		err = parse(ctx, src, data, func(doc rag.Document) bool {
			stopped = stopped || !yield(doc, nil)
			return !stopped
		})
		if err != nil && !stopped {
			yield(rag.Document{}, err)
		}
	}
}

// readSource returns the bytes of a source. More than limit bytes (0: DefaultMaxBytes) are ErrInvalid.
func readSource(ctx context.Context, src rag.Source, limit int64) ([]byte, error) {
	if limit <= 0 {
		limit = DefaultMaxBytes
	}
	return source.Read(ctx, src, limit, "split the file or raise max_bytes")
}

// heading is one entry of an outline while its document is being read.
type heading struct {
	level int
	title string
	start int
}

// sections turns headings in order of start into sections of a text of the given length.
func sections(headings []heading, total int) []rag.Section {
	if len(headings) == 0 {
		return nil
	}
	levels, starts := make([]int, len(headings)), make([]int, len(headings))
	for i, h := range headings {
		levels[i], starts[i] = h.level, h.start
	}
	out := make([]rag.Section, len(headings))
	for i, end := range mdtext.Ends(levels, starts, total) {
		out[i] = rag.Section{Level: levels[i], Title: headings[i].title, Start: starts[i], End: end}
	}
	return out
}

// warnings collects what of a document was lost, each thing once.
type warnings []rag.Warning

func (w *warnings) add(message string) {
	if warning := (rag.Warning{Message: message}); !slices.Contains(*w, warning) {
		*w = append(*w, warning)
	}
}

// linkText returns text as a Markdown link to the target, or as it is if one of them says nothing by itself.
func linkText(text, target string) string {
	label := strings.TrimSpace(text)
	if label == "" || target == "" || label == target || strings.HasPrefix(target, "#") || strings.ContainsAny(target, " \n<>") {
		return text
	}
	return strings.Replace(text, label, "["+label+"]("+strings.NewReplacer("(", "%28", ")", "%29").Replace(target)+")", 1)
}
