package loader

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/mail"
	"regexp"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// EMLConfig sets how mail messages are read.
type EMLConfig struct {
	MaxBytes      int64 `json:"max_bytes,omitzero" range:"[1,1099511627776]"` // a larger source is ErrInvalid; 0: DefaultMaxBytes
	NoAttachments bool  `json:"no_attachments"`                               // attachments are listed but not read
}

// EML reads mail messages (RFC 5322 and MIME). The first document is the message: its subject as a heading, sender,
// receivers and date, the text, the list of attachments, and messages that are attached as sections. The text is the
// plain one if there is one, else the HTML one. Each attachment that a loader of this package reads is a further
// document, titled by its file name. Pictures are in Images. It is safe for concurrent use.
type EML struct {
	cfg     EMLConfig
	loaders []rag.Loader // of attachments
}

var (
	_ rag.Loader    = (*EML)(nil)
	_ rag.Formatter = (*EML)(nil)
)

// NewEML returns a loader of mail messages. A negative limit is ErrInvalid.
func NewEML(cfg EMLConfig) (*EML, error) {
	if cfg.MaxBytes < 0 {
		return nil, fmt.Errorf("max_bytes must not be negative: %w", rag.ErrInvalid)
	}
	return &EML{cfg: cfg, loaders: []rag.Loader{
		&Markdown{}, &HTML{}, &DOCX{}, &PPTX{}, &XLSX{}, &EPUB{}, &CSV{}, &JSON{}, &Text{},
	}}, nil
}

// Formats says: by extension, or header lines of a message at the start if nothing better is known.
func (*EML) Formats() []rag.Format {
	return []rag.Format{{
		Name:       "eml",
		Extensions: []string{".eml", ".mht", ".mhtml"},
		MediaTypes: []string{"message/rfc822", "multipart/related"},
		Match:      func(head []byte) bool { return len(messageHeader.FindAll(head, 3)) == 3 && messageStart.Match(head) },
		Weak:       true,
	}}
}

// Header lines of a message, three of which are taken for one, and the first line.
var (
	messageHeader = regexp.MustCompile(`(?mi)^(?:Received|From|To|Subject|Date|Message-ID|MIME-Version|Return-Path|Content-Type): `)
	messageStart  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*: `)
)

// Load yields the message and its attachments. Bytes that begin with no header are ErrInvalid.
func (l *EML) Load(ctx context.Context, src rag.Source) iter.Seq2[rag.Document, error] {
	return several(ctx, src, l.cfg.MaxBytes, l.parse)
}

func (l *EML) parse(ctx context.Context, src rag.Source, data []byte, yield func(rag.Document) bool) error {
	m := &emlReader{ctx: ctx, pictures: &htmlPictures{}, files: map[string]attachment{}}
	if err := m.message(data, 0); err != nil {
		return err
	}
	subject := m.doc.Title
	attached := m.attachments
	var further []rag.Document
	for _, a := range attached {
		docs, read := l.attachment(ctx, src, a)
		if !read && !l.cfg.NoAttachments {
			m.pictures.warnings.add("the attachment " + a.name + " is not read")
		}
		for i := range docs {
			docs[i].Title = firstOf(docs[i].Title, a.name)
			if docs[i].Meta == nil {
				docs[i].Meta = rag.Meta{}
			}
			docs[i].Meta["attachment"], docs[i].Meta["message"] = a.name, subject
			further = append(further, docs[i])
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	doc := m.document()
	if !yield(doc) {
		return nil
	}
	for _, doc := range further {
		if !yield(doc) {
			return nil
		}
	}
	return nil
}

// attachment returns the documents of an attachment; read is false if no loader here could make any of it.
func (l *EML) attachment(ctx context.Context, src rag.Source, a attachment) (docs []rag.Document, read bool) {
	if l.cfg.NoAttachments {
		return nil, false
	}
	sub := rag.Source{
		URI: src.URI, Name: a.name, Size: int64(len(a.data)),
		Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(a.data)), nil },
	}
	for _, loader := range l.loaders {
		if !claims(loader.(rag.Formatter), a) {
			continue
		}
		for doc, err := range loader.Load(ctx, sub) {
			if err != nil {
				return docs, len(docs) > 0
			}
			docs = append(docs, doc)
		}
		return docs, true
	}
	return nil, false
}

// claims reports whether a format of the loader is that of the attachment: by name, type or content.
func claims(f rag.Formatter, a attachment) bool {
	for _, format := range f.Formats() {
		for _, ext := range format.Extensions {
			if strings.HasSuffix(strings.ToLower(a.name), ext) {
				return true
			}
		}
		for _, media := range format.MediaTypes {
			if media == a.media {
				return true
			}
		}
		if !format.Weak && format.Match != nil && format.Match(a.data[:min(len(a.data), rag.SniffLen)]) {
			return true
		}
	}
	return false
}

// headerDecoder decodes the words of a header in whatever encoding they are.
var headerDecoder = mime.WordDecoder{CharsetReader: charsetReader}

// headerText is a header on one line.
func headerText(h mail.Header, name string) string {
	raw := h.Get(name)
	decoded, err := headerDecoder.DecodeHeader(raw)
	if err != nil {
		decoded = raw
	}
	if d, err := decode([]byte(decoded), "", ""); err == nil { // old programs wrote 8-bit characters
		decoded = d.text
	}
	return mdtext.Line(strings.ToValidUTF8(decoded, "\ufffd"))
}

// headerDate is the date of a message as RFC 3339; "" if there is none that can be read.
func headerDate(h mail.Header) string {
	t, err := h.Date()
	if err != nil || t.Year() < 1900 || t.Year() > 9999 {
		return ""
	}
	return t.Format(time.RFC3339)
}
