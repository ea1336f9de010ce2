package domain

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag"
)

// maxManifestBytes bounds what is read of a manifest; a line has a few hundred bytes.
const maxManifestBytes = 256 << 20

// manifest is a manifest being checked.
type manifest struct {
	d      *Domain
	lines  []*manifestLine
	list   []Problem
	places places
}

// manifestLine is what one line says of one file.
type manifestLine struct {
	number int
	path   string // as written
	column int    // of the path
	abs    string // path of the file
	place  string // the same without links on the way
	title  string
	meta   rag.Meta
	found  bool // among the files to ingest
}

// report adds a problem with its message.
func (m *manifest) report(p Problem, format string, args ...any) {
	p.Message = fmt.Sprintf(format, args...)
	m.list = append(m.list, p)
}

// reportPath adds a problem with the file that a line names.
func (m *manifest) reportPath(kind Kind, line *manifestLine, format string, args ...any) {
	m.report(Problem{Kind: kind, Line: line.number, Column: line.column, Field: FieldPath, Value: line.path}, "%s", line.path+fmt.Sprintf(format, args...))
}

// Manifest reads a JSONL file that says of each file in the roots, files or folders, in one line what it is, and returns
// the files with what it says, for an ingest with the domain. Without roots the files are those that it names, in its own folder. A document_path that
// is not absolute is seen from the manifest's folder. Links on the way to a file are resolved, on the way to the roots as well.
//
// Everything that is wrong is reported at once in a *FileError, which matches rag.ErrInvalid: a line that is no JSON
// object or not UTF-8, an unknown, repeated or missing field, a value of the wrong type or in no vocabulary, a date that
// cannot be read (if the domain refuses those), dates in the wrong order, a file named twice, absent, outside of the
// roots or passed over, a file without a line.
func (d *Domain) Manifest(file string, roots ...string) ([]rag.Sources, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	f, err := os.Open(abs)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxManifestBytes+1))
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	m := &manifest{d: d, places: places{}}
	if len(data) > maxManifestBytes {
		m.report(Problem{Kind: TooLarge}, "larger than %d MiB", maxManifestBytes>>20)
		return nil, problems(file, m.list)
	}
	m.read(filepath.Dir(abs), data)
	sets := m.match(abs, roots)
	if err := problems(file, m.list); err != nil {
		return nil, err
	}
	return sets, nil
}

// read reads the lines; blank ones are passed over.
func (m *manifest) read(dir string, data []byte) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	number := 0
	first := map[string]int{}
	for text := range bytes.Lines(data) {
		number++
		text = bytes.TrimRight(text, "\r\n")
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		if !utf8.Valid(text) {
			m.report(Problem{Kind: UnparsableLine, Line: number}, "not UTF-8")
			continue
		}
		line := m.line(number, text)
		if line == nil || line.path == "" {
			continue
		}
		line.abs = filepath.FromSlash(line.path)
		if !filepath.IsAbs(line.abs) {
			line.abs = filepath.Join(dir, line.abs)
		}
		line.abs = filepath.Clean(line.abs)
		line.place = m.places.of(line.abs)
		if earlier, twice := first[line.place]; twice {
			m.reportPath(DuplicatePath, line, " is named twice, first in line %d", earlier)
			continue
		}
		first[line.place] = number
		m.lines = append(m.lines, line)
	}
	if len(m.lines) == 0 && len(m.list) == 0 {
		m.report(Problem{Kind: EmptyManifest}, "no line in it")
	}
}

// sampledLines is of how many lines it is told whether a file is a manifest.
const sampledLines = 20

var _ rag.ManifestTeller = (*Domain)(nil)

// LooksLikeManifest reports whether a file of lines of JSON is a manifest of the domain, or one with mistakes: each of its
// first lines names a file, and most of what else they say are fields of the domain.
func (d *Domain) LooksLikeManifest(name string, data []byte) bool {
	if ext := strings.ToLower(filepath.Ext(name)); ext != ".jsonl" && ext != ".ndjson" {
		return false
	}
	lines, known, unknown := 0, 0, 0
	for text := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) {
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		object, bad := parseObject(text)
		at := slices.IndexFunc(object, func(p pair) bool { return p.key == FieldPath })
		if bad != nil || at < 0 {
			return false
		}
		if _, ok := object[at].value.(string); !ok {
			return false
		}
		for _, p := range object {
			if _, ok := d.Field(p.key); ok || p.key == FieldTitle {
				known++
			} else if p.key != FieldPath {
				unknown++
			}
		}
		if lines++; lines == sampledLines {
			break
		}
	}
	return lines > 0 && known >= unknown
}

// line checks one line, and returns nil if it is no object.
func (m *manifest) line(number int, text []byte) *manifestLine {
	object, bad := parseObject(text)
	if bad != nil {
		m.report(Problem{Kind: UnparsableLine, Line: number, Column: inCharacters(text, bad.column)}, "%s", bad.message)
		return nil
	}
	line := &manifestLine{number: number, meta: rag.Meta{}}
	for i := range object {
		object[i].column = inCharacters(text, object[i].column)
		pair := object[i]
		if pair.twice {
			m.report(Problem{Kind: RepeatedField, Line: number, Column: pair.column, Field: pair.key, Value: pair.value}, "given twice")
			continue
		}
		m.field(line, pair)
	}
	if line.column == 0 {
		m.report(Problem{Kind: MissingRequired, Line: number, Field: FieldPath}, "is required and not given")
	}
	m.whole(line, object)
	return line
}

// inCharacters turns a 1-based column in bytes into one in characters.
func inCharacters(text []byte, column int) int {
	return utf8.RuneCount(text[:min(max(column-1, 0), len(text))]) + 1
}

// field checks one pair of a line.
func (m *manifest) field(line *manifestLine, pair pair) {
	report := func(kind Kind, format string, args ...any) {
		m.report(Problem{Kind: kind, Line: line.number, Column: pair.column, Field: pair.key, Value: pair.value}, format, args...)
	}
	f, declared := m.d.Field(pair.key)
	switch {
	case pair.key == FieldPath:
		line.column = pair.column
		if path, ok := pair.value.(string); ok && strings.TrimSpace(path) != "" && !strings.ContainsRune(path, 0) {
			line.path = path
			return
		}
		report(WrongType, "want the path of a file, got %s", describe(pair.value))
		return
	case !declared && pair.key == FieldTitle:
		f = &Field{Name: FieldTitle, Type: String}
	case !declared:
		known := append([]string{FieldPath, FieldTitle}, m.d.names()...)
		report(UnknownField, "unknown field%s", rag.DidYouMean(pair.key, known))
		return
	}
	value, err := f.Value(pair.value)
	if err != nil && m.d.Validity.tolerated(f.Name, err) {
		value, err = pair.value, nil // the document will need review
	}
	switch {
	case err != nil:
		report(kindOfError(err), "%s", reason(err))
	case pair.key == FieldTitle:
		line.title, _ = value.(string)
	case value != nil:
		line.meta[pair.key] = value
	}
}

// whole checks what concerns several fields of a line.
func (m *manifest) whole(line *manifestLine, object []pair) {
	given := func(name string) bool { // also badly: that is reported already
		return slices.ContainsFunc(object, func(p pair) bool { return p.key == name && describe(p.value) != "an empty text" && p.value != nil })
	}
	byPath := []string{}
	if m.d.Paths != nil {
		byPath = m.d.Paths.fields()
	}
	for _, f := range m.d.Fields {
		if f.Required && !given(f.Name) && !slices.Contains(byPath, f.Name) {
			m.report(Problem{Kind: MissingRequired, Line: line.number, Field: f.Name}, "is required and not given")
		}
	}
	if v := m.d.Validity; v != nil {
		if err := v.inverted(line.meta, m.d.zone()); err != nil {
			m.report(Problem{Kind: kindOfError(err), Line: line.number, Field: v.Until, Value: line.meta[v.Until]}, "%s", reason(err))
		}
	}
}
