package loader

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/seed-d8745b77/rag"
)

// Names of the encodings that are found by looking at the bytes.
const (
	encUTF8        = "utf-8"
	encUTF16LE     = "utf-16le"
	encUTF16BE     = "utf-16be"
	encGB18030     = "gb18030"
	encWindows1252 = "windows-1252"
)

// decoded is the text of a source: UTF-8, LF line ends, no byte order mark, no NUL.
type decoded struct {
	text     string
	warnings []rag.Warning
	lost     bool // some bytes were no characters and became U+FFFD
}

// state is the document state of a decoded text that was read as the given text.
func (d *decoded) state(text string) string {
	switch {
	case strings.TrimSpace(text) == "":
		return rag.StateEmpty
	case d.lost:
		return rag.StatePartial
	}
	return rag.StateOK
}

// decode turns bytes into text. A byte order mark decides; then the encoding the user asked for; then, if it fits,
// the one the source declares of itself; then the look of the bytes, with a warning unless they are UTF-8. Bytes
// that are no text are ErrUnsupported, text in an encoding that cannot be told is ErrInvalid.
func decode(data []byte, asked, declared string) (decoded, error) {
	if enc, name, n := byteOrderMark(data); n > 0 {
		return decodeAs(data[n:], enc, name)
	}
	if asked != "" {
		enc, err := lookup(asked)
		if err != nil {
			return decoded{}, err
		}
		return decodeAs(data, enc, asked)
	}
	name, guessed := guessEncoding(data)
	if declared != "" && name != encUTF16LE && name != encUTF16BE { // a page cannot declare these and be read
		if enc, err := lookup(declared); err == nil && believable(enc, name) {
			return decodeAs(data, enc, declared)
		}
	}
	if name == "" {
		if looksBinary(string(data)) {
			return decoded{}, errBinary
		}
		return decoded{}, fmt.Errorf("text in an encoding that cannot be told from its bytes: name it in the setting encoding: %w", rag.ErrInvalid)
	}
	enc, err := lookup(name)
	if err != nil {
		return decoded{}, err
	}
	d, err := decodeAs(data, enc, name)
	if guessed && err == nil {
		d.warnings = append([]rag.Warning{{Message: "encoding guessed from the bytes: " + name + "; set encoding if that is wrong"}}, d.warnings...)
	}
	return d, err
}

// believable reports whether an encoding that a source declares of itself can be right, given what its bytes look
// like: UTF-8 must be well-formed, and a declaration that could be read cannot be in UTF-16.
func believable(enc encoding.Encoding, looks string) bool {
	if name, err := htmlindex.Name(enc); err == nil && strings.HasPrefix(name, "utf-16") {
		return false
	}
	return enc != unicode.UTF8 || looks == encUTF8
}

var errBinary = fmt.Errorf("the bytes are no text: %w", rag.ErrUnsupported)

// lookup returns an encoding by its WHATWG name or label. GB2312 and GBK are read as GB18030, which contains them:
// files labelled with the older names use it.
func lookup(name string) (encoding.Encoding, error) {
	enc, err := htmlindex.Get(name)
	if err != nil {
		return nil, &rag.ConfigError{Key: "encoding", Err: fmt.Errorf("%q is none: use a WHATWG label such as gb18030, windows-1252, shift_jis: %w", name, rag.ErrInvalid)}
	}
	if enc == simplifiedchinese.GBK {
		return simplifiedchinese.GB18030, nil
	}
	return enc, nil
}

// byteOrderMark returns the encoding that a byte order mark tells, and the mark's length.
func byteOrderMark(data []byte) (enc encoding.Encoding, name string, n int) {
	switch {
	case bytes.HasPrefix(data, []byte{0xEF, 0xBB, 0xBF}):
		return unicode.UTF8, encUTF8, 3
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE, 0, 0}):
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), "utf-32le", 4
	case bytes.HasPrefix(data, []byte{0, 0, 0xFE, 0xFF}):
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), "utf-32be", 4
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}):
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), encUTF16LE, 2
	case bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), encUTF16BE, 2
	}
	return nil, "", 0
}

// decodeAs decodes, checks that the result is text and normalises it.
func decodeAs(data []byte, enc encoding.Encoding, name string) (decoded, error) {
	var text string
	bad := 0
	if enc == unicode.UTF8 {
		text = string(data)
		if !utf8.ValidString(text) {
			before := strings.Count(text, string(utf8.RuneError))
			text = strings.ToValidUTF8(text, string(utf8.RuneError))
			bad = strings.Count(text, string(utf8.RuneError)) - before
		}
	} else {
		out, err := enc.NewDecoder().Bytes(data)
		if err != nil {
			return decoded{}, fmt.Errorf("decode %s: %v: %w", name, err, rag.ErrInvalid)
		}
		text = string(out)
		bad = strings.Count(text, string(utf8.RuneError))
	}
	if looksBinary(text) {
		return decoded{}, errBinary
	}
	d := decoded{text: normalise(text), lost: bad > 0}
	if bad > 0 {
		d.warnings = []rag.Warning{{Message: fmt.Sprintf("%d places are no %s and became U+FFFD", bad, name)}}
	}
	return d, nil
}

// newlines turns the line ends of other systems into LF, and NUL, which ends strings elsewhere, into U+FFFD.
var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", string(utf8.RuneError))

// normalise drops byte order marks at the beginning and makes all line ends LF.
func normalise(text string) string {
	text = strings.TrimLeft(text, "\ufeff")
	if strings.ContainsAny(text, "\r\x00") {
		text = newlines.Replace(text)
	}
	return text
}

// What makes bytes binary. Version control calls a file binary that has a NUL in its first 8000 bytes; terminal
// colours and the like are rare even in logs that have them.
const (
	binaryNulWithin    = 8000
	binaryControlShare = 200 // one control character in so many bytes
)

// looksBinary reports whether text holds what text does not: an early NUL, many control characters, or the
// signature of a format that is written in text characters but is not to be read as such.
func looksBinary(text string) bool {
	for _, signature := range []string{"%PDF-", "%!PS-Adobe", `{\rtf`} {
		if strings.HasPrefix(text, signature) {
			return true
		}
	}
	if strings.IndexByte(text[:min(len(text), binaryNulWithin)], 0) >= 0 {
		return true
	}
	controls := 0
	for i := range len(text) {
		if c := text[i]; c < ' ' && !textControl(c) {
			controls++
		}
	}
	return controls*binaryControlShare > len(text)
}

// textControl reports whether a control character occurs in text: white space, backspace (old manual pages) and
// escape (terminal colours).
func textControl(c byte) bool {
	return c >= '\b' && c <= '\r' || c == 0x1b
}
