package loader

import (
	"context"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// CodeConfig sets how source code is read.
type CodeConfig struct {
	Encoding string `json:"encoding"`                                     // WHATWG label for files without a byte order mark; "": by their bytes
	MaxBytes int64  `json:"max_bytes,omitzero" range:"[1,1099511627776]"` // a larger source is ErrInvalid; 0: DefaultMaxBytes
}

// Code reads source code. Each function and type is a section titled by its name, methods by that of their type too
// ("Engine.Search"), with the comment above it; the code stands in fences, verbatim. What stands before the first one
// is the document's beginning. Meta holds the language ("code") and the file's name is the title. It is safe for
// concurrent use.
//
// Go is read by its own parser. Other languages are read line by line: a definition is known by its keyword or form,
// and what it holds by indentation.
type Code struct{ cfg CodeConfig }

var (
	_ rag.Loader    = (*Code)(nil)
	_ rag.Formatter = (*Code)(nil)
)

// NewCode returns a loader of source code. An unknown encoding is ErrInvalid.
func NewCode(cfg CodeConfig) (*Code, error) {
	if err := checkEncoding(cfg.Encoding); err != nil {
		return nil, err
	}
	return &Code{cfg}, nil
}

// codeExtensions are sorted once: formats are asked for with every source.
var codeExtensions = slices.Sorted(maps.Keys(languageOfExtension))

// Formats says: by extension.
func (*Code) Formats() []rag.Format {
	return []rag.Format{{Name: "code", Extensions: slices.Clone(codeExtensions), MediaTypes: []string{"text/x-go", "text/x-python", "text/x-c", "text/x-java", "text/javascript", "application/javascript", "text/x-rust", "text/x-shellscript"}}}
}

// Load yields the one document of src.
func (c *Code) Load(ctx context.Context, src rag.Source) iter.Seq2[rag.Document, error] {
	return single(ctx, src, c.cfg.MaxBytes, c.parse)
}

func (c *Code) parse(ctx context.Context, src rag.Source, data []byte) (rag.Document, error) {
	d, err := decode(data, c.cfg.Encoding, "")
	if err != nil {
		return rag.Document{}, err
	}
	name := src.BaseName()
	language := languageOfExtension[strings.ToLower(path.Ext(name))]
	defs, ok := []definition(nil), false
	if language == "go" {
		defs, ok = goDefinitions(d.text)
	}
	if !ok {
		defs = lineDefinitions(d.text, codeRules[language], newCodeSpans(language))
	}
	doc := rag.Document{Title: mdtext.Line(strings.ToValidUTF8(name, "\ufffd")), Warnings: d.warnings}
	if language != "" {
		doc.Meta = rag.Meta{"code": language}
	}
	doc.Text, doc.Sections = fencedCode(d.text, language, defs)
	doc.State = d.state(doc.Text)
	return doc, ctx.Err()
}

// definition is a definition in source code.
type definition struct {
	name  string
	level int // 1 is outermost
	start int // where its first line, or that of its comment, begins
}

// fencedCode lays code out: each definition is a heading with its code in a fence below, down to the next definition.
func fencedCode(code, language string, defs []definition) (string, []rag.Section) {
	var out blockWriter
	var headings []heading
	piece := func(start, end int) {
		if text := strings.Trim(code[start:end], "\n"); strings.TrimSpace(text) != "" {
			out.block(mdtext.Fence(language, text))
		}
	}
	first := len(code)
	if len(defs) > 0 {
		first = defs[0].start
	}
	piece(0, first)
	for i, s := range defs {
		end := len(code)
		if i+1 < len(defs) {
			end = defs[i+1].start
		}
		start := out.block(strings.Repeat("#", min(s.level, maxHeading)) + " " + s.name)
		headings = append(headings, heading{s.level, s.name, start})
		piece(s.start, end)
	}
	text := out.text()
	return text, sections(headings, len(text))
}

// lineDefinitions finds definitions line by line. One within a function is none of its own, nor is one in a string or a
// comment.
func lineDefinitions(code string, rules codeRule, spans codeSpans) []definition {
	if rules.function == nil {
		return nil
	}
	type open struct {
		indent    int
		name      string
		container bool
	}
	var stack []open
	var defs []definition
	var lead leadLines
	offset := 0
	for line := range strings.Lines(code) {
		start := offset
		offset += len(line)
		text := strings.TrimRight(line, " \t\n")
		span := spans.next(text)
		if span != nil && !span.comment {
			lead.reset()
			continue
		}
		if span != nil || rules.comment(text) {
			lead.add(start)
			continue
		}
		name, container := rules.define(text)
		if name == "" {
			lead.reset()
			continue
		}
		indent := indentOf(text)
		for len(stack) > 0 && stack[len(stack)-1].indent >= indent {
			stack = stack[:len(stack)-1]
		}
		if len(stack) > 0 && !stack[len(stack)-1].container {
			lead.reset()
			continue
		}
		full := name
		if len(stack) > 0 {
			full = stack[len(stack)-1].name + "." + name
		}
		defs = append(defs, definition{mdtext.Cut(full, maxTitle), len(stack) + 1, lead.take(start)})
		stack = append(stack, open{indent, mdtext.Cut(full, maxTitle), container})
	}
	return defs
}

// leadLines are the lines of comments and annotations right above a line.
type leadLines struct {
	start int
	any   bool
}

func (l *leadLines) add(start int) {
	if !l.any {
		l.start, l.any = start, true
	}
}

func (l *leadLines) reset() { l.any = false }

// take returns where the lines begin, or start if there are none.
func (l *leadLines) take(start int) int {
	if l.any {
		start = l.start
	}
	l.any = false
	return start
}

// indentOf is the width of the white space that begins a line, a tab being four wide.
func indentOf(line string) int {
	width := 0
	for _, c := range line {
		switch c {
		case ' ':
			width++
		case '\t':
			width += 4
		default:
			return width
		}
	}
	return width
}
