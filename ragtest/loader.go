package ragtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// Sample is a source that a loader must be able to read.
type Sample struct {
	Name string // file name, with the extension that loaders go by
	Data []byte
	Want string // words that must stand in the text, white space aside
}

// TestLoader checks the contract of [rag.Loader] on samples, of which there must be one at least, and on bytes that
// are in no format. newLoader is called once for each subtest.
func TestLoader(t *testing.T, newLoader func(t *testing.T) rag.Loader, samples ...Sample) {
	if len(samples) == 0 {
		t.Fatal("TestLoader needs a sample")
	}
	t.Run("samples", func(t *testing.T) {
		for _, s := range samples {
			t.Run(s.Name, func(t *testing.T) { testSample(t, newLoader, s) })
		}
	})
	first := samples[0]
	t.Run("bytes in no format are ErrUnsupported or ErrInvalid", func(t *testing.T) { testWrongBytes(t, newLoader(t)) })
	t.Run("an empty source gives an empty document or an error", func(t *testing.T) { testEmptySource(t, newLoader(t)) })
	t.Run("an error of Open is passed on", func(t *testing.T) { testOpenError(t, newLoader(t), first) })
	t.Run("an error while reading is passed on and the source closed", func(t *testing.T) { testReadError(t, newLoader(t), first) })
	t.Run("a cancelled context ends the sequence", func(t *testing.T) { testCancelled(t, newLoader(t), first) })
	t.Run("it is safe for concurrent use", func(t *testing.T) { testConcurrentLoads(t, newLoader(t), samples) })
}

func testSample(t *testing.T, newLoader func(t *testing.T) rag.Loader, s Sample) {
	t.Run("the text holds what the sample says", func(t *testing.T) {
		docs := loadAll(t, newLoader(t), s)
		var all strings.Builder
		for _, d := range docs {
			all.WriteString(d.Text)
		}
		if got := strings.Join(strings.Fields(all.String()), " "); !strings.Contains(got, strings.Join(strings.Fields(s.Want), " ")) {
			t.Errorf("the text does not hold %q:\n%.2000s", s.Want, got)
		}
	})
	t.Run("documents are well-formed", func(t *testing.T) {
		for _, d := range loadAll(t, newLoader(t), s) {
			if err := CheckDocument(d); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("the same bytes give the same documents", func(t *testing.T) {
		l := newLoader(t)
		if diff := cmp.Diff(loadAll(t, l, s), loadAll(t, l, s)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("src is opened when iteration begins and closed once", func(t *testing.T) { testOpens(t, newLoader(t), s) })
	t.Run("a truncated source gives documents or an error", func(t *testing.T) { testTruncated(t, newLoader(t), s) })
	t.Run("its formats recognise the sample", func(t *testing.T) { testFormats(t, newLoader(t), s) })
}

// CheckDocument returns an error naming what of a loader's document breaks the contract: the text must be UTF-8
// with LF line ends and no byte order mark; sections lie in it, in order, each ending where the next of the same or
// an outer level begins; pages ascend; images stand in the text, with bytes, type and an ID that is their SHA-256 if it
// is set; metadata has the kinds that [rag.Meta] allows.
func CheckDocument(d rag.Document) error {
	switch {
	case !utf8.ValidString(d.Text):
		return errors.New("the text is not UTF-8")
	case strings.ContainsRune(d.Text, '\r'):
		return errors.New("the text has a CR: line ends are LF")
	case strings.HasPrefix(d.Text, "\ufeff"):
		return errors.New("the text begins with a byte order mark")
	}
	switch d.State {
	case "", rag.StateOK, rag.StatePartial:
	case rag.StateEmpty:
		if strings.TrimSpace(d.Text) != "" {
			return fmt.Errorf("state is %q but there is text", d.State)
		}
	default:
		return fmt.Errorf("unknown state %q", d.State)
	}
	if strings.TrimSpace(d.Text) == "" && d.State != rag.StateEmpty {
		return fmt.Errorf("there is no text but state is %q", d.State)
	}
	if strings.ContainsAny(d.Title, "\n\r") || !utf8.ValidString(d.Title) {
		return fmt.Errorf("the title has several lines or is not UTF-8: %q", d.Title)
	}
	if _, err := d.Meta.Clean(); err != nil {
		return err
	}
	for name, v := range d.Meta {
		if s, ok := v.(string); ok && !utf8.ValidString(s) {
			return fmt.Errorf("metadata %q is not UTF-8: %q", name, s)
		}
	}
	if err := checkSections(d); err != nil {
		return err
	}
	if err := checkPlaces(d); err != nil {
		return err
	}
	return checkImages(d)
}

func checkSections(d rag.Document) error {
	for i, s := range d.Sections {
		switch {
		case s.Level < 1:
			return fmt.Errorf("section %q has level %d: 1 is the outermost", s.Title, s.Level)
		case s.Title == "" || strings.ContainsAny(s.Title, "\n\r") || !utf8.ValidString(s.Title):
			return fmt.Errorf("section %d has the title %q: it must be one line of UTF-8", i, s.Title)
		case s.Start < 0 || s.End > len(d.Text) || s.Start >= s.End:
			return fmt.Errorf("section %q takes bytes %d to %d of %d", s.Title, s.Start, s.End, len(d.Text))
		case i > 0 && s.Start <= d.Sections[i-1].Start:
			return fmt.Errorf("section %q starts at %d, not behind the one before", s.Title, s.Start)
		case !utf8.RuneStart(d.Text[s.Start]):
			return fmt.Errorf("section %q starts within a character", s.Title)
		}
	}
	// Going backwards, ends holds the starts that can end a section, by descending level towards the top.
	type start struct{ level, at int }
	var ends []start
	for i := len(d.Sections) - 1; i >= 0; i-- {
		s := d.Sections[i]
		for len(ends) > 0 && ends[len(ends)-1].level > s.Level {
			ends = ends[:len(ends)-1]
		}
		want := len(d.Text)
		if len(ends) > 0 {
			want = ends[len(ends)-1].at
		}
		if s.End != want {
			return fmt.Errorf("section %q ends at %d, want %d", s.Title, s.End, want)
		}
		ends = append(ends, start{s.Level, s.Start})
	}
	return nil
}

func checkPlaces(d rag.Document) error {
	for i, at := range d.Pages {
		if at < 0 || at > len(d.Text) || i > 0 && at < d.Pages[i-1] {
			return fmt.Errorf("page %d begins at %d: pages ascend within the text", i+1, at)
		}
	}
	for _, w := range d.Warnings {
		if w.Message == "" || w.Page < 0 || w.Page > len(d.Pages) {
			return fmt.Errorf("warning %q is about page %d of %d", w.Message, w.Page, len(d.Pages))
		}
	}
	return nil
}

// checkImages looks at pictures: they stand in the text, say what they are, and their ID is that of their bytes.
func checkImages(d rag.Document) error {
	for i, img := range d.Images {
		switch {
		case img.Offset < 0 || img.Offset > len(d.Text) || img.Page < 0 || img.Page > len(d.Pages):
			return fmt.Errorf("image %d stands at offset %d, page %d of %d", i, img.Offset, img.Page, len(d.Pages))
		case img.Offset < len(d.Text) && !utf8.RuneStart(d.Text[img.Offset]):
			return fmt.Errorf("image %d stands within a character, at offset %d", i, img.Offset)
		case len(img.Data) == 0 || img.MediaType == "":
			return fmt.Errorf("image %d is %d bytes of type %q", i, len(img.Data), img.MediaType)
		case img.ID != "" && img.ID != fmt.Sprintf("%x", sha256.Sum256(img.Data)):
			return fmt.Errorf("image %d has the ID %s, which is not the SHA-256 of its bytes", i, img.ID)
		case strings.ContainsAny(img.Alt, "\n\r") || !utf8.ValidString(img.Alt):
			return fmt.Errorf("image %d has the alternative text %q: it must be one line of UTF-8", i, img.Alt)
		}
	}
	return nil
}

// probe is a source that counts how often it is opened and closed.
type probe struct {
	data           []byte
	openErr        error
	readErr        error // after the data
	opened, closed atomic.Int32
}

func (p *probe) source(name string) rag.Source {
	return rag.Source{URI: "test:/" + name, Name: name, Size: int64(len(p.data)), Open: func(context.Context) (io.ReadCloser, error) {
		p.opened.Add(1)
		if p.openErr != nil {
			return nil, p.openErr
		}
		var r io.Reader = bytes.NewReader(p.data)
		if p.readErr != nil {
			r = io.MultiReader(r, failingReader{p.readErr})
		}
		return &probeReader{Reader: r, closed: &p.closed}, nil
	}}
}

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

type probeReader struct {
	io.Reader
	closed *atomic.Int32
}

func (p *probeReader) Close() error {
	p.closed.Add(1)
	return nil
}

// loadAll returns the documents of a sample, which must have no error.
func loadAll(t *testing.T, l rag.Loader, s Sample) []rag.Document {
	t.Helper()
	docs, err := drain(t, t.Context(), l, (&probe{data: s.Data}).source(s.Name))
	if err != nil {
		t.Fatalf("load %s: %v", s.Name, err)
	}
	if len(docs) == 0 {
		t.Fatalf("load %s: no document and no error", s.Name)
	}
	return docs
}

// drain ranges over all documents of src and checks what the contract says of errors.
func drain(t *testing.T, ctx context.Context, l rag.Loader, src rag.Source) (docs []rag.Document, err error) { //nolint:revive // t first, as everywhere in tests
	t.Helper()
	for d, e := range l.Load(ctx, src) {
		if err != nil {
			t.Fatal("the sequence went on after an error")
		}
		if e == nil {
			docs = append(docs, d)
			continue
		}
		err = e
		if diff := cmp.Diff(rag.Document{}, d); diff != "" {
			t.Errorf("an error comes with a zero Document: %s", diff)
		}
	}
	return docs, err
}

func testOpens(t *testing.T, l rag.Loader, s Sample) {
	p := &probe{data: s.Data}
	seq := l.Load(t.Context(), p.source(s.Name))
	if n := p.opened.Load(); n != 0 {
		t.Errorf("opened %d times before iteration", n)
	}
	for _, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	if o, c := p.opened.Load(), p.closed.Load(); o != 1 || c != 1 {
		t.Errorf("after a break: opened %d times, closed %d times", o, c)
	}
	p = &probe{data: s.Data}
	if _, err := drain(t, t.Context(), l, p.source(s.Name)); err != nil {
		t.Fatal(err)
	}
	if o, c := p.opened.Load(), p.closed.Load(); o != 1 || c != 1 {
		t.Errorf("after the end: opened %d times, closed %d times", o, c)
	}
}

// testTruncated cuts a sample at up to 64 places.
func testTruncated(t *testing.T, l rag.Loader, s Sample) {
	step := max(1, len(s.Data)/64)
	for n := 0; n < len(s.Data); n += step {
		p := &probe{data: s.Data[:n]}
		docs, _ := drain(t, t.Context(), l, p.source(s.Name))
		for _, d := range docs {
			if err := CheckDocument(d); err != nil {
				t.Errorf("cut at byte %d: %v", n, err)
			}
		}
		if p.closed.Load() != 1 {
			t.Errorf("cut at byte %d: closed %d times", n, p.closed.Load())
		}
	}
}

func testFormats(t *testing.T, l rag.Loader, s Sample) {
	f, ok := l.(rag.Formatter)
	if !ok {
		t.Skip("the loader has no Formats")
	}
	head := s.Data[:min(len(s.Data), rag.SniffLen)]
	for _, format := range f.Formats() {
		if format.Name == "" {
			t.Error("a format has no name")
		}
		if format.Match != nil && format.Match(head) {
			return
		}
		for _, ext := range format.Extensions {
			if strings.HasSuffix(strings.ToLower(s.Name), ext) {
				return
			}
		}
	}
	t.Errorf("neither the content nor the name %s is recognised", s.Name)
}

// wrongBytes are in no document format: a picture's header, zeros, noise, a broken archive.
func wrongBytes() map[string][]byte {
	noise := make([]byte, 4096)
	x := uint32(1)
	for i := range noise { // a linear congruential generator: the same noise each time
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	return map[string][]byte{
		"picture": append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x10\x00\x00\x00\x10\x08\x06\x00\x00\x00"), noise[:256]...),
		"zeros":   make([]byte, 1024),
		"noise":   noise,
		"archive": append([]byte("PK\x03\x04\x14\x00\x00\x00\x08\x00"), noise[:64]...),
	}
}

func testWrongBytes(t *testing.T, l rag.Loader) {
	for name, data := range wrongBytes() {
		p := &probe{data: data}
		docs, err := drain(t, t.Context(), l, p.source("wrong"))
		if !errors.Is(err, rag.ErrUnsupported) && !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%s: got %d documents and the error %v, want ErrUnsupported or ErrInvalid", name, len(docs), err)
		}
		if p.closed.Load() != 1 {
			t.Errorf("%s: closed %d times", name, p.closed.Load())
		}
	}
}

func testEmptySource(t *testing.T, l rag.Loader) {
	docs, err := drain(t, t.Context(), l, (&probe{}).source("empty"))
	if err == nil && len(docs) == 0 {
		t.Error("neither a document nor an error: nobody would hear of the source")
	}
	for _, d := range docs {
		if d.State != rag.StateEmpty {
			t.Errorf("state is %q, want %q", d.State, rag.StateEmpty)
		}
	}
}

func testOpenError(t *testing.T, l rag.Loader, s Sample) {
	want := errors.New("no permission")
	p := &probe{data: s.Data, openErr: want}
	if docs, err := drain(t, t.Context(), l, p.source(s.Name)); !errors.Is(err, want) || len(docs) > 0 {
		t.Errorf("got %d documents and the error %v, want %v", len(docs), err, want)
	}
	if p.closed.Load() != 0 {
		t.Error("closed what could not be opened")
	}
}

func testReadError(t *testing.T, l rag.Loader, s Sample) {
	want := errors.New("the disk is gone")
	p := &probe{data: s.Data, readErr: want}
	if _, err := drain(t, t.Context(), l, p.source(s.Name)); !errors.Is(err, want) {
		t.Errorf("got the error %v, want %v", err, want)
	}
	if n := p.closed.Load(); n != 1 {
		t.Errorf("closed %d times", n)
	}
}

func testCancelled(t *testing.T, l rag.Loader, s Sample) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := &probe{data: s.Data}
	docs, err := drain(t, ctx, l, p.source(s.Name))
	if !errors.Is(err, context.Canceled) || len(docs) > 0 {
		t.Errorf("got %d documents and the error %v, want context.Canceled", len(docs), err)
	}
	if o, c := p.opened.Load(), p.closed.Load(); o != c {
		t.Errorf("opened %d times, closed %d times", o, c)
	}
}

func testConcurrentLoads(t *testing.T, l rag.Loader, samples []Sample) {
	want := make([][]rag.Document, len(samples))
	for i, s := range samples {
		want[i] = loadAll(t, l, s)
	}
	var wg sync.WaitGroup
	for range 4 {
		for i, s := range samples {
			wg.Go(func() {
				var got []rag.Document
				for d, err := range l.Load(t.Context(), (&probe{data: s.Data}).source(s.Name)) {
					if err != nil {
						t.Errorf("load %s: %v", s.Name, err)
						return
					}
					got = append(got, d)
				}
				if diff := cmp.Diff(want[i], got); diff != "" {
					t.Errorf("%s differs under concurrency: %s", s.Name, diff)
				}
			})
		}
	}
	wg.Wait()
}
