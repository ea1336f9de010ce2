package rag

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Loaders chooses a loader for each source and runs it. Engines hold one; [NewLoaders] makes one without an engine.
type Loaders struct {
	list   []namedLoader // in order of preference
	limits IngestConfig
	ocr    OCR // nil: none
}

// errNoLoader marks a source that no loader claims, as against one whose loader refused it.
var errNoLoader = fmt.Errorf("no loader reads this kind of file: %w", ErrUnsupported)

// NewLoaders makes the loaders an engine opened with these options would use; it opens no data.
func NewLoaders(c Config, opts ...Option) (*Loaders, error) {
	s := settings{config: c, providers: Default}
	for _, opt := range opts {
		opt(&s)
	}
	s.config.fillDefaults()
	return newLoaders(&s, Env{})
}

// newLoaders puts the loaders given as options before the registered ones.
func newLoaders(s *settings, env Env) (*Loaders, error) {
	env.Ingest = s.config.Ingest
	ls := &Loaders{list: slices.Clone(s.loaders), limits: s.config.Ingest}
	for _, l := range s.loaders {
		if err := checkFormats(l); err != nil {
			return nil, err
		}
	}
	var err error
	if ls.ocr, err = makeOCR(s, env); err != nil {
		return nil, err
	}
	env.OCR = ls.ocr
	registered := s.providers.Loaders.inOrder()
	for _, name := range slices.Sorted(maps.Keys(s.config.Loaders)) {
		if !slices.Contains(registered, name) {
			return nil, &ConfigError{"loaders." + name, fmt.Errorf("no loader has this name%s (linked in: %s): %w", DidYouMean(name, registered), strings.Join(s.providers.Loaders.Names(), ", "), ErrUnknownProvider)}
		}
	}
	for _, name := range registered {
		if s.config.leavesOut(name) {
			continue // its formats are for the others
		}
		l, err := s.providers.Loaders.make("loaders."+name, ProviderConfig{name, s.config.Loaders[name]}, env)
		if err != nil {
			return nil, err
		}
		ls.list = append(ls.list, namedLoader{name, l})
	}
	if len(ls.list)+len(registered) == 0 {
		_, err := s.providers.Loaders.New("text", env, json.RawMessage(nil))
		return nil, fmt.Errorf("loaders: %w", err)
	}
	return ls, nil
}

// leavesOut reports whether the settings say that a loader is not to be used.
func (c *Config) leavesOut(loader string) bool { return string(c.Loaders[loader]) == `"`+None+`"` }

// checkFormats reports an extension that no file name can have.
func checkFormats(l namedLoader) error {
	f, ok := l.Loader.(Formatter)
	if !ok {
		return nil
	}
	for _, format := range f.Formats() {
		for _, ext := range format.Extensions {
			if !strings.HasPrefix(ext, ".") || ext != strings.ToLower(ext) {
				return fmt.Errorf("loader %s: the extension %q of format %s must begin with a dot and be lower case: %w", l.name, ext, format.Name, ErrInvalid)
			}
		}
	}
	return nil
}

// Names returns the loaders' names in order of preference.
func (ls *Loaders) Names() []string {
	names := make([]string, len(ls.list))
	for i, l := range ls.list {
		names[i] = l.name
	}
	return names
}

// Load reads the source and returns its documents, at least one, and the name of the loader that read it. Text is
// checked and State, Digest and image IDs are filled in. Errors: ErrUnsupported if no loader reads this kind of
// file, ErrInvalid if its loader could not, or if it is larger than Ingest.MaxSourceBytes.
func (ls *Loaders) Load(ctx context.Context, src Source) ([]Document, string, error) {
	data, err := ls.read(ctx, src)
	if err != nil {
		return nil, "", err
	}
	l, err := ls.choose(src, data)
	if err != nil {
		return nil, "", err
	}
	made, err := ls.parse(ctx, l, src, data)
	if err != nil {
		return nil, l.name, err
	}
	return made.docs, l.name, nil
}

// read returns all bytes of a source, unless there are too many.
func (ls *Loaders) read(ctx context.Context, src Source) ([]byte, error) {
	limits := ls.limits
	if src.stored != nil { // its pictures are written as text, and it was read and checked whole before
		limits.MaxSourceBytes = src.Size
	}
	if src.Size > limits.MaxSourceBytes { // not even opened
		return nil, limits.tooLarge()
	}
	if src.Open == nil {
		return nil, fmt.Errorf("the source has no Open function: %w", ErrInvalid)
	}
	r, err := src.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close() // read-only: nothing to lose
	return limits.readAll(untilDone{ctx, r}, src.Size)
}

// choose picks the loader: declared media type, content, extension, weak content.
func (ls *Loaders) choose(src Source, data []byte) (namedLoader, error) {
	head := data[:min(len(data), SniffLen)]
	ext := strings.ToLower(path.Ext(src.BaseName()))
	media, _, _ := strings.Cut(src.MediaType, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	for _, fits := range []func(Format) bool{
		func(f Format) bool { return media != "" && slices.Contains(f.MediaTypes, media) },
		func(f Format) bool { return !f.Weak && f.Match != nil && f.Match(head) },
		func(f Format) bool { return ext != "" && slices.Contains(f.Extensions, ext) },
		func(f Format) bool { return f.Weak && f.Match != nil && f.Match(head) },
	} {
		for _, l := range ls.list {
			f, ok := l.Loader.(Formatter)
			if ok && slices.ContainsFunc(f.Formats(), fits) {
				return l, nil
			}
			if !ok && media == l.name && media != "" {
				return l, nil
			}
		}
	}
	return namedLoader{}, errNoLoader
}

// parsed is what a loader made of a source.
type parsed struct {
	docs   []Document
	parts  []Part   // what it asked for beside the source
	limits []string // that left something out, as often as they did
}

// parse runs the loader over the bytes and checks what it yields. Loaders stand on parsers that others wrote, and are given
// whatever lies in a folder: a panic there is the file's failure, not the program's.
func (ls *Loaders) parse(ctx context.Context, l namedLoader, src Source, data []byte) (made *parsed, err error) {
	defer func() {
		if p := recover(); p != nil {
			made, err = nil, fmt.Errorf("loader %s gave up on it (panic: %v): %w", l.name, p, ErrInvalid)
		}
	}()
	if len(data) == 0 {
		doc := Document{Warnings: []Warning{{Message: "the file is empty"}}, Digest: sha256Sum(nil)}
		err := finishDocument(&doc, src, 0)
		return &parsed{docs: []Document{doc}}, err
	}
	mem := src
	mem.Size = int64(len(data))
	mem.Open = func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	beside := &partReader{open: src.Beside, limits: ls.limits}
	if src.Beside != nil {
		mem.Beside = beside.Open
	}
	digest := sha256Sum(data)
	made = &parsed{}
	for doc, err := range l.Load(ctx, mem) {
		if err != nil {
			return nil, err
		}
		if err := finishDocument(&doc, src, len(made.docs)); err != nil {
			return nil, fmt.Errorf("loader %s: %w", l.name, err)
		}
		made.limits = append(made.limits, ls.limits.apply(&doc)...)
		doc.Digest = digest
		made.docs = append(made.docs, doc)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(made.docs) == 0 {
		return nil, fmt.Errorf("loader %s: no document in it: %w", l.name, ErrInvalid)
	}
	if beside.full {
		made.limits = append(made.limits, limitImages)
	}
	made.parts = beside.list()
	return made, nil
}

// furtherURI is the URI of a source's n-th document (0-based, n > 0).
func furtherURI(source string, n int) string { return fmt.Sprintf("%s#%d", source, n+1) }

// finishDocument checks a loaded document and fills in what every document has. The n-th document (0-based) of a
// source after the first gets a URI of its own.
func finishDocument(doc *Document, src Source, n int) error {
	if !utf8.ValidString(doc.Text) || strings.ContainsRune(doc.Text, '\r') {
		return errors.New("the text is not UTF-8 with LF line ends")
	}
	doc.URI = src.URI
	if n > 0 {
		doc.URI = furtherURI(src.URI, n)
	}
	if doc.State == "" {
		doc.State = StateOK
	}
	if strings.TrimSpace(doc.Text) == "" {
		doc.State = StateEmpty
		if len(doc.Warnings) == 0 {
			doc.Warnings = []Warning{{Message: "there is no text in it"}}
		}
	}
	if oddName(src.BaseName()) {
		doc.Warnings = append(doc.Warnings, Warning{Message: "the file name holds characters that cannot be shown; the URI has them percent-encoded"})
	}
	merged := Meta{}
	for _, m := range []Meta{doc.Meta, src.Meta} {
		clean, err := m.Clean()
		if err != nil {
			return err
		}
		for k, v := range clean {
			merged[k] = v
		}
	}
	for i := range doc.Images {
		doc.Images[i].ID = imageID(doc.Images[i].Data)
	}
	return describe(doc, src, merged, n)
}

// describe gives a document its metadata, and what follows from it and from the source.
func describe(doc *Document, src Source, m Meta, n int) (err error) {
	switch {
	case src.Policy != nil:
		var warnings []Warning
		m, doc.Validity, warnings = src.Policy.Apply(m)
		doc.Warnings = append(doc.Warnings, warnings...)
	case doc.Validity == (Validity{}):
		doc.Validity = statedValidity(m)
	}
	if doc.Meta, err = m.Clean(); err != nil {
		return err
	}
	if src.Title != "" && (n == 0 || doc.Title == "") {
		doc.Title = src.Title
	}
	if language, ok := src.Meta[FieldLanguage].(string); ok && language != "" {
		doc.Language = language
	}
	return nil
}
