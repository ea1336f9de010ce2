package loader

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html/charset"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// Bounds of one message.
const (
	maxMailDepth = 8    // messages and parts within one another, each of which is held in memory; deeper ones are only listed
	maxMailParts = 1000 // of all messages in it
)

// attachment is a file that came with a message.
type attachment struct {
	name  string // file name; made from the type if there is none
	media string
	data  []byte
}

// emlReader collects what is in a message.
type emlReader struct {
	ctx         context.Context //nolint:containedctx // lives as long as one Load
	doc         rag.Document
	text        strings.Builder
	headings    []heading
	attachments []attachment
	listed      []attachment // of the message that is being read
	pictures    *htmlPictures
	files       map[string]attachment // pictures by content ID
	parts       int
	nested      int // messages around the one that is being read
}

// mailPart is one part of a message: its type and its bytes, decoded.
type mailPart struct {
	media  string
	params map[string]string
	name   string // file name
	id     string // content ID: how the page refers to it
	where  string // the address it was saved from
	aside  bool   // it is to be shown as an attachment
	data   []byte
}

// message reads a message; depth counts the messages and parts it is in.
func (m *emlReader) message(data []byte, depth int) error {
	msg, err := mail.ReadMessage(bufio.NewReader(bytes.NewReader(data)))
	if err != nil {
		return fmt.Errorf("no mail message (%v): %w", err, rag.ErrInvalid)
	}
	known := false
	for _, name := range []string{"From", "To", "Subject", "Date", "Message-Id", "Mime-Version", "Content-Type"} {
		known = known || msg.Header.Get(name) != ""
	}
	if !known {
		return fmt.Errorf("no mail message: it has none of the usual headers: %w", rag.ErrInvalid)
	}
	m.head(msg.Header)
	body, err := io.ReadAll(msg.Body)
	if err != nil {
		return fmt.Errorf("read the message: %v: %w", err, rag.ErrInvalid)
	}
	outer := m.listed
	m.listed = nil
	err = m.part(textproto.MIMEHeader(msg.Header), body, depth)
	m.list()
	m.listed = outer
	return err
}

// head writes a message's headers, the subject as a heading, and keeps them if it is the outermost.
func (m *emlReader) head(h mail.Header) {
	subject := headerText(h, "Subject")
	if subject != "" {
		subject = mdtext.Line(mdtext.Cut(subject, maxTitle))
	}
	if title := firstOf(subject, "Message"); m.nested > 0 || subject != "" {
		start := m.block(strings.Repeat("#", min(m.nested+1, maxHeading)) + " " + title)
		m.headings = append(m.headings, heading{m.nested + 1, title, start})
	}
	meta := rag.Meta{}
	var lines []string
	for _, name := range []string{"From", "To", "Cc", "Date"} {
		value := headerText(h, name)
		if name == "Date" {
			value = firstOf(headerDate(h), value)
		}
		if value != "" {
			lines = append(lines, name+": "+value)
			meta[strings.ToLower(name)] = value
		}
	}
	m.block(strings.Join(lines, "\n"))
	if m.nested > 0 {
		return
	}
	m.doc.Title = subject
	if date := headerDate(h); date != "" {
		meta["created"] = date
		delete(meta, "date")
	}
	for key, name := range map[string]string{"message_id": "Message-Id", "in_reply_to": "In-Reply-To"} {
		if value := headerText(h, name); value != "" {
			meta[key] = value
		}
	}
	m.doc.Meta = meta
}

// part reads a part of a message by its type.
func (m *emlReader) part(h textproto.MIMEHeader, raw []byte, depth int) error {
	if m.parts++; m.parts > maxMailParts {
		return fmt.Errorf("more than %d parts: %w", maxMailParts, rag.ErrInvalid)
	}
	if err := m.ctx.Err(); err != nil {
		return err
	}
	p := readPart(h, raw)
	switch {
	case depth > maxMailDepth:
		m.attach(p)
	case strings.HasPrefix(p.media, "multipart/") && p.params["boundary"] != "":
		return m.multipart(p, depth)
	case p.media == "message/rfc822":
		m.nested++
		err := m.message(p.data, depth+1)
		m.nested--
		if err == nil || m.ctx.Err() != nil || m.parts > maxMailParts {
			return err
		}
		m.attach(p)
	case p.aside || !strings.HasPrefix(p.media, "text/"):
		m.attach(p)
	default:
		m.body(p)
	}
	return nil
}

// readPart reads the headers of a part and decodes its bytes.
func readPart(h textproto.MIMEHeader, raw []byte) mailPart {
	media, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil && media == "" {
		media = "text/plain"
	}
	disposition, more, _ := mime.ParseMediaType(h.Get("Content-Disposition"))
	p := mailPart{media: media, params: params, data: raw, id: strings.Trim(h.Get("Content-Id"), "<> "), where: h.Get("Content-Location")}
	p.name = headerText(mail.Header{"N": {firstOf(more["filename"], params["name"])}}, "N")
	p.aside = disposition == "attachment"
	var decoded io.Reader
	switch strings.ToLower(strings.TrimSpace(h.Get("Content-Transfer-Encoding"))) {
	case "base64":
		decoded = base64.NewDecoder(base64.StdEncoding, bytes.NewReader(base64Only(raw)))
	case "quoted-printable":
		decoded = quotedprintable.NewReader(bytes.NewReader(raw))
	default:
		return p
	}
	p.data, _ = io.ReadAll(decoded) // what came before an error is better than nothing
	return p
}

// base64Only drops what is no character of base 64: line ends, and what mail servers put between.
func base64Only(raw []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '+' || r == '/' || r == '=' {
			return r
		}
		return -1
	}, raw)
}

// rawPart is a part as it was sent.
type rawPart struct {
	header textproto.MIMEHeader
	data   []byte
}

// multipart reads the parts of a part. Of alternatives one is read, the plain text, or else the last that is text; the
// pictures of the others are kept.
func (m *emlReader) multipart(p mailPart, depth int) error {
	all := m.partsOf(p)
	var unread []rawPart
	if p.media == "multipart/alternative" {
		best := -1
		for i, a := range all {
			media := readPart(a.header, nil).media
			if media == "text/plain" && len(bytes.TrimSpace(a.data)) > 0 {
				best = i
				break
			}
			if media == "text/html" || strings.HasPrefix(media, "multipart/") || best < 0 {
				best = i
			}
		}
		if best >= 0 {
			unread = slices.Concat(all[:best], all[best+1:])
			all = all[best : best+1]
		}
	}
	for _, a := range all { // pictures first: the page beside them refers to them
		if part := readPart(a.header, a.data); strings.HasPrefix(part.media, "image/") {
			file := attachment{part.name, part.media, part.data}
			m.files["cid:"+part.id], m.files[part.where] = file, file
		}
	}
	for _, a := range all {
		if err := m.part(a.header, a.data, depth+1); err != nil {
			return err
		}
	}
	for _, a := range unread {
		if err := m.drawn(readPart(a.header, a.data), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// drawn keeps the pictures of a part whose text is not read: screenshots that were put into a mail written in HTML.
func (m *emlReader) drawn(p mailPart, depth int) error {
	if m.parts++; m.parts > maxMailParts {
		return fmt.Errorf("more than %d parts: %w", maxMailParts, rag.ErrInvalid)
	}
	switch {
	case depth > maxMailDepth:
	case strings.HasPrefix(p.media, "multipart/") && p.params["boundary"] != "":
		for _, a := range m.partsOf(p) {
			if err := m.drawn(readPart(a.header, a.data), depth+1); err != nil {
				return err
			}
		}
	case strings.HasPrefix(p.media, "image/") && len(p.data) >= leastPicture:
		m.draw(p.name, p.data)
	}
	return m.ctx.Err()
}

// partsOf cuts a part into the parts it holds.
func (m *emlReader) partsOf(p mailPart) []rawPart {
	var all []rawPart
	r := multipart.NewReader(bytes.NewReader(p.data), p.params["boundary"])
	for {
		next, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			m.pictures.warnings.add("the message is cut short or broken")
			break
		}
		data, err := io.ReadAll(next)
		if err != nil {
			m.pictures.warnings.add("the message is cut short or broken")
		}
		all = append(all, rawPart{next.Header, data})
		if len(all) > maxMailParts {
			break // part says so
		}
	}
	return all
}

// attach keeps an attachment; a picture is an image of the document.
func (m *emlReader) attach(p mailPart) {
	a := attachment{p.name, p.media, p.data}
	if a.name == "" {
		_, kind, _ := strings.Cut(p.media, "/")
		a.name = "unnamed." + kind
	}
	if !strings.HasPrefix(p.media, "image/") {
		m.listed = append(m.listed, a)
		m.attachments = append(m.attachments, a)
		return
	}
	if (p.id != "" || p.where != "") && !p.aside {
		return // the page shows it
	}
	m.listed = append(m.listed, a)
	m.draw(a.name, a.data)
}

// draw keeps a picture, at the end of the text so far.
func (m *emlReader) draw(name string, data []byte) {
	img, err := m.pictures.pictures.get(strconv.Itoa(m.parts)+"/"+name, func() ([]byte, error) { return data, nil })
	if err != nil {
		m.pictures.warnings.add("the picture " + name + " could not be read: " + err.Error())
		return
	}
	placed := *img
	placed.Offset = m.text.Len()
	m.doc.Images = append(m.doc.Images, placed)
}

// charsetReader decodes the charset that a header names.
func charsetReader(label string, in io.Reader) (io.Reader, error) {
	return charset.NewReaderLabel(label, in)
}
