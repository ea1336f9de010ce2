package tokenize

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// charsmap is SentencePiece's table of replacements ("precompiled_charsmap"), mostly NFKC: strings by key, in a
// double-array trie (Darts).
type charsmap struct {
	units []uint32
	texts string // replacements, each ends with NUL
	kept  [utf8.RuneSelf]bool
}

// parseCharsmap reads: 4 bytes, little endian: size of the trie; the trie; the replacements.
func parseCharsmap(raw []byte) (*charsmap, error) {
	if len(raw) < 4 {
		return nil, fmt.Errorf("charsmap of %d bytes", len(raw))
	}
	size := int64(binary.LittleEndian.Uint32(raw))
	rest := raw[4:]
	if size%4 != 0 || size == 0 || size > int64(len(rest)) {
		return nil, fmt.Errorf("charsmap of %d bytes says its trie has %d", len(raw), size)
	}
	c := &charsmap{units: make([]uint32, size/4), texts: string(rest[size:])}
	for i := range c.units {
		c.units[i] = binary.LittleEndian.Uint32(rest[4*i:])
	}
	if !utf8.ValidString(c.texts) {
		return nil, fmt.Errorf("charsmap has replacements that are not UTF-8")
	}
	for b := range c.kept {
		_, found := c.find(string(rune(b)))
		c.kept[b] = !found
	}
	return c, nil
}

// find returns the replacement of the shortest key that text begins with.
func (c *charsmap) find(text string) (replacement string, found bool) {
	node, ok := c.step(0, c.units[0])
	for i := 0; ok && i < len(text) && text[i] != 0; i++ {
		node ^= uint32(text[i])
		if int(node) >= len(c.units) || c.units[node]&(1<<31|0xff) != uint32(text[i]) {
			return "", false
		}
		unit := c.units[node]
		if node, ok = c.step(node, unit); ok && unit>>8&1 == 1 {
			at := c.units[node] &^ (1 << 31)
			if int64(at) > int64(len(c.texts)) {
				return "", false
			}
			replacement, _, _ = strings.Cut(c.texts[at:], "\x00")
			return replacement, true
		}
	}
	return "", false
}

// step follows a unit's offset; it reports whether that leads to a unit.
func (c *charsmap) step(node, unit uint32) (uint32, bool) {
	node ^= unit >> 10 << (unit & (1 << 9) >> 6)
	return node, int64(node) < int64(len(c.units))
}

// clusterBytes is the least size of a cluster of characters that is not looked up as a whole.
const clusterBytes = 6

// precompiled is the normalizer of SentencePiece models.
type precompiled struct {
	charsmap *charsmap // nil: characters stay as they are
	spaces   string    // what two and more spaces become; "": they stay
}

func (n precompiled) normalize(w *work, text string, at int) {
	out := &w.normal
	if n.spaces != "" {
		out = &w.folded
		out.reset()
	}
	n.replace(out, text, at)
	if n.spaces != "" {
		n.collapse(&w.normal, out)
	}
}

// replace looks up each cluster of characters (grapheme), or where it is long or not in the table, each character.
func (n precompiled) replace(out *normalized, text string, at int) {
	for i := 0; i < len(text); {
		size := cluster(text[i:])
		from := span{at + i, at + i + size}
		if b := text[i]; size == 1 && b < utf8.RuneSelf && (n.charsmap == nil || n.charsmap.kept[b]) {
			out.add(rune(b), from)
			i++
			continue
		}
		part := text[i : i+size]
		i += size
		if !utf8.ValidString(part) {
			part = strings.ToValidUTF8(part, string(utf8.RuneError))
		}
		if n.charsmap == nil {
			out.addString(part, from)
			continue
		}
		if len(part) < clusterBytes {
			if with, ok := n.charsmap.find(part); ok {
				out.addString(with, from)
				continue
			}
		}
		n.replaceEach(out, text[i-size:i], from.start)
	}
}

// replaceEach looks up each character.
func (n precompiled) replaceEach(out *normalized, text string, at int) {
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		from := span{at, at + size}
		char := text[:size]
		if r == utf8.RuneError {
			char = string(utf8.RuneError)
		}
		if with, ok := n.charsmap.find(char); ok {
			out.addString(with, from)
		} else {
			out.addString(char, from)
		}
		text, at = text[size:], at+size
	}
}

// collapse copies text, runs of spaces shortened.
func (n precompiled) collapse(out, in *normalized) {
	for i := 0; i < len(in.text); {
		run := i
		for run < len(in.text) && in.text[run] == ' ' {
			run++
		}
		if run-i >= 2 {
			out.addString(n.spaces, in.covers(i, run))
			i = run
			continue
		}
		out.text = append(out.text, in.text[i])
		out.mark(len(out.text)-1, in.covers(i, i+1))
		i++
	}
}

// cluster returns the size in bytes of the user-perceived character that text begins with.
func cluster(text string) int {
	r, size := utf8.DecodeRuneInString(text)
	if size == len(text) {
		return size
	}
	if next, _ := utf8.DecodeRuneInString(text[size:]); alone(r) && alone(next) && r != '\r' {
		return size
	}
	first, _, _, _ := uniseg.FirstGraphemeClusterInString(text, -1)
	return len(first)
}

// alone says of common characters that they never join with another such character.
func alone(r rune) bool {
	switch {
	case r < 0x300: // Latin, without combining marks
		return true
	case r < 0x3040: // scripts with marks, punctuation, symbols
		return r >= 0x370 && r < 0x483 || r >= 0x48a && r < 0x530 || r >= 0x3000 && r < 0x302a // Greek, Cyrillic, CJK punctuation
	case r < 0xa000: // kana and ideographs, without the voicing marks
		return r != 0x3099 && r != 0x309a
	}
	return r >= 0xac00 && r <= 0xd7a3 // Hangul syllables
}
