package loader

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// guessEncoding names the encoding that bytes without a byte order mark are in, and says whether that is a guess:
// ASCII and UTF-8 are certain. It returns "" for bytes that are no text or text of an encoding it does not know.
//
// Only the structure of the bytes is looked at, in this order: NULs in every other place make UTF-16, well-formed
// sequences UTF-8, pairs within the common ideographs GB18030, single high bytes between ASCII letters Windows-1252,
// pairs in the rows of kana, Hangul or traditional ideographs the older encodings of those, words of high bytes the two
// of Cyrillic.
func guessEncoding(data []byte) (name string, guessed bool) {
	if bytes.IndexByte(data, 0) >= 0 {
		if name := guessUTF16(data); name != "" {
			return name, true
		}
	}
	switch {
	case utf8.Valid(data):
		return encUTF8, false
	case nearlyUTF8(data):
		return encUTF8, true
	case looksGB18030(data):
		return encGB18030, true
	case looksWindows1252(data):
		return encWindows1252, true
	}
	if name = guessEastAsian(data); name == "" {
		name = guessCyrillic(data)
	}
	return name, name != ""
}

// nearlyUTF8 reports whether data is UTF-8 with a little damage, such as an end in the middle of a character: no
// other encoding has ten well-formed sequences to one that is not.
func nearlyUTF8(data []byte) bool {
	good, bad := 0, 0
	damaged := false // the byte before belonged to no character either
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		switch wrong := r == utf8.RuneError && n == 1; {
		case !wrong && n > 1:
			good++
			damaged = false
		case !wrong:
			damaged = false
		case !damaged:
			bad++
			damaged = true
		}
		i += n
	}
	return good > 0 && good >= 10*bad
}

// utf16Sample is how many code units are looked at to recognise UTF-16.
const utf16Sample = 4096

// guessUTF16 returns the byte order in which nearly all code units are characters of living scripts and some are
// ASCII, or "". Two ASCII letters look like one ideograph, so bytes that are mostly ASCII are not UTF-16: there, no
// more than about half can be.
func guessUTF16(data []byte) string {
	sample, printable := data[:min(len(data), 2*utf16Sample)], 0
	for _, c := range sample {
		if c >= ' ' && c < 0x7F {
			printable++
		}
	}
	if 4*printable > 3*len(sample) {
		return ""
	}
	best, most := "", 0
	for _, o := range []struct {
		name  string
		order binary.ByteOrder
	}{{encUTF16LE, binary.LittleEndian}, {encUTF16BE, binary.BigEndian}} {
		units := min(len(data)/2, utf16Sample)
		ascii, usual := 0, 0
		for i := range units {
			u := o.order.Uint16(data[2*i:])
			switch {
			case u >= ' ' && u < 0x7F || u == '\t' || u == '\n' || u == '\r':
				ascii++
				usual++
			case usualUnit(u):
				usual++
			}
		}
		if ascii > most && usual*50 >= units*49 { // 98 %: bytes of pictures and programs stay below 70 %
			best, most = o.name, ascii
		}
	}
	return best
}

// usualUnit reports whether a UTF-16 code unit beyond ASCII is a letter, mark or sign of the scripts in daily use.
func usualUnit(u uint16) bool {
	switch {
	case u >= 0xA0 && u < 0x0700, // Latin, Greek, Cyrillic, Armenian, Hebrew, Arabic
		u >= 0x0900 && u < 0x1200, // scripts of India and South-East Asia, Georgian, Hangul jamo
		u >= 0x1E00 && u < 0x2700, // Latin and Greek extended, punctuation, symbols
		u >= 0x3000 && u < 0x3200, // kana, CJK punctuation
		u >= 0x4E00 && u < 0xA000, // ideographs
		u >= 0xAC00 && u < 0xD7A4, // Hangul
		u >= 0xFF00 && u < 0xFFF0: // full width forms
		return true
	}
	return false
}

// looksGB18030 reports whether high bytes come in the pairs of Chinese text: at least half of them in the rows of
// GB 2312 that hold punctuation and the 3755 common ideographs, hardly any malformed. Korean in EUC-KR has the same
// form but hardly uses more than the first 25 of these rows, where Chinese has two fifths in the others; Japanese
// and Cyrillic text lie in other rows.
func looksGB18030(data []byte) bool {
	var pairs, common, late, malformed int
	for i := 0; i < len(data); i++ {
		lead := data[i]
		if lead < 0x80 {
			continue
		}
		if i+1 == len(data) {
			break // cut in the middle of a character
		}
		trail := data[i+1]
		switch {
		case lead == 0x80 || lead == 0xFF || trail < '0' || trail == 0x7F || trail == 0xFF:
			malformed++
			continue
		case trail <= '9': // four bytes
			i += 3
			continue
		case trail < 0x40:
			malformed++
			continue
		}
		i++
		pairs++
		if trail >= 0xA1 && (lead >= 0xB0 && lead <= 0xD7 || lead >= 0xA1 && lead <= 0xA3) {
			common++
			if lead > 0xC8 {
				late++
			}
		}
	}
	const enough = 20 // pairs after which the rows used say something about the language
	return common > 0 && 2*common >= pairs && 50*malformed <= pairs && (10*late >= common || pairs < enough)
}

// looksWindows1252 reports whether high bytes are accented letters and typographic signs within text whose letters
// are mostly ASCII, as in the languages of Western Europe. Words of accented letters only are of another script,
// even where the markup of a page outnumbers them.
func looksWindows1252(data []byte) bool {
	letters, accented, signs := 0, 0, 0
	run, inRuns := 0, 0 // accented letters in a row; all in rows of three or more
	for _, c := range data {
		if c >= 0xC0 {
			accented++
			run++
			continue
		}
		if run >= 3 {
			inRuns += run
		}
		run = 0
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z' && c < 0x80:
			letters++
		case c == 0x81 || c == 0x8D || c == 0x8F || c == 0x90 || c == 0x9D: // not assigned
			return false
		case c >= 0x80:
			signs++
		}
	}
	if run >= 3 {
		inRuns += run
	}
	return accented+signs <= letters/2+1 && 5*inRuns <= accented
}
