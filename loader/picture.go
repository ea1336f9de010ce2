package loader

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// maxImageBytes bounds the pictures that one document holds in memory.
const maxImageBytes = 256 << 20

// pictures are those of one document. The zero value is ready.
type pictures struct {
	known map[string]*rag.Image // by the name or URI they are shown under
	bytes int
}

// get returns the picture of a name; read is called for its bytes when it is shown for the first time. The error says
// why it is left out.
func (p *pictures) get(name string, read func() ([]byte, error)) (*rag.Image, error) {
	if img, ok := p.known[name]; ok {
		return img, nil
	}
	data, err := read()
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, errors.New("it is empty")
	}
	if p.bytes+len(data) > maxImageBytes {
		return nil, fmt.Errorf("the pictures of the document are larger than %d bytes in all", maxImageBytes)
	}
	p.bytes += len(data)
	sum := sha256.Sum256(data)
	img := &rag.Image{ID: hex.EncodeToString(sum[:]), MediaType: imageType(name, data), Data: data}
	if p.known == nil {
		p.known = map[string]*rag.Image{}
	}
	p.known[name] = img
	return img, nil
}

// placedImage is a picture and the place in its block's text where it stands.
type placedImage struct {
	at    int
	image *rag.Image
	alt   string
}

// unknownType is the media type of bytes of which nothing is known.
const unknownType = "application/octet-stream"

// imageTypes are media types by file extension.
var imageTypes = map[string]string{
	".png": "image/png", ".jpeg": "image/jpeg", ".jpg": "image/jpeg", ".jfif": "image/jpeg", ".gif": "image/gif",
	".bmp": "image/bmp", ".tiff": "image/tiff", ".tif": "image/tiff", ".webp": "image/webp", ".svg": "image/svg+xml",
	".emf": "image/x-emf", ".wmf": "image/x-wmf", ".pict": "image/x-pict", ".pct": "image/x-pict",
}

// imageMagic are the first bytes of the usual formats, whatever the name says.
var imageMagic = []struct{ prefix, media string }{
	{"\x89PNG\r\n\x1a\n", "image/png"}, {"\xff\xd8\xff", "image/jpeg"}, {"GIF8", "image/gif"},
	{"II*\x00", "image/tiff"}, {"MM\x00*", "image/tiff"}, {"<svg", "image/svg+xml"},
}

// imageType is the media type that a picture's bytes, else its name or data: URI tell.
func imageType(name string, data []byte) string {
	if declared, ok := strings.CutPrefix(name, "data:"); ok {
		declared, _, _ = strings.Cut(declared, ",")
		declared, _, _ = strings.Cut(declared, ";")
		name = "." + strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(declared), "image/"), "+xml")
	}
	for _, m := range imageMagic {
		if bytes.HasPrefix(data, []byte(m.prefix)) {
			return m.media
		}
	}
	return firstOf(imageTypes[strings.ToLower(path.Ext(name))], unknownType)
}

// cleanAlt is an alternative text without what programs make up: a file's name, or Word's remark behind its own.
func cleanAlt(s string) string {
	s = mdtext.Line(s)
	if imageTypes[strings.ToLower(path.Ext(s))] != "" && !strings.Contains(s, " ") {
		return ""
	}
	for _, made := range []string{"Description automatically generated", "AI-generated content may be incorrect."} {
		s = strings.TrimSpace(strings.TrimSuffix(s, made))
	}
	return s
}

// dataURI returns the bytes of a picture written into the page itself: data:image/png;base64,…
func dataURI(uri string) ([]byte, error) {
	head, body, found := strings.Cut(uri, ",")
	if !found {
		return nil, errors.New("a data: URI without data")
	}
	if !strings.HasSuffix(strings.ToLower(strings.TrimSpace(head)), ";base64") {
		text, err := url.PathUnescape(body)
		return []byte(text), err
	}
	body = strings.Map(func(r rune) rune {
		if r == '=' || r <= ' ' {
			return -1
		}
		return r
	}, body)
	if unescaped, err := url.PathUnescape(body); err == nil {
		body = strings.TrimRight(unescaped, "=")
	}
	return base64.RawStdEncoding.DecodeString(body)
}
