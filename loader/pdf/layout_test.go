package pdf

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzLayout lays out words at any places: the layout must end and give a text in UTF-8.
func FuzzLayout(f *testing.F) {
	f.Add([]byte("\x10\x10\x20\x0a\x00word\x40\x10\x20\x0a\x01next\x10\x20\x20\x0a\x00more"))
	f.Fuzz(func(t *testing.T, data []byte) {
		raw := &rawDocument{total: 2, pages: make([]rawPage, 2), info: map[string]string{}, outline: []bookmark{{title: "word", level: 1}}}
		for i := 0; len(data) >= 9; i++ {
			h := data[:9]
			data = data[9:]
			text := cleanText(strings.Map(func(r rune) rune {
				if isBreak(r) || r == utf8.RuneError {
					return 'x'
				}
				return r
			}, string(h[5:])))
			x, y := float64(h[0])*3, float64(int8(h[1]))*4
			page := int(h[4] >> 7)
			w := word{
				text: text, box: box{x, y, x + float64(h[2]), y + float64(h[3]&15)}, size: float64(h[3] & 15),
				bold: h[4]&1 > 0, turn: int(h[4]>>1) & 3, hyphen: h[4]&8 > 0, seq: len(raw.pages[page].words),
			}
			raw.pages[page].words = append(raw.pages[page].words, w)
		}
		doc, err := assemble(t.Context(), raw)
		if err != nil || !utf8.ValidString(doc.Text) || len(doc.Pages) != 2 {
			t.Errorf("error %v, pages %v, text %q", err, doc.Pages, doc.Text)
		}
	})
}
