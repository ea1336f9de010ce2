package pdf

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzLayout lays out words, rules and pictures at any places: the layout must end and give a text in UTF-8.
func FuzzLayout(f *testing.F) {
	f.Add([]byte("\x10\x10\x20\x0a\x00word\x40\x10\x20\x0a\x01next\x10\x20\x20\x0a\x00more"))
	f.Add([]byte("\x10\x10\x60\x01\x20rule\x10\x18\x60\x01\x20rule\x10\x10\x20\x01\x21rule\x30\x10\x20\x01\x21rule\x12\x12\x10\x08\x00cell\x10\x30\x40\x0f\x40pict"))
	f.Fuzz(func(t *testing.T, data []byte) {
		raw := &rawDocument{total: 2, links: true, pages: []rawPage{{links: []string{"https://example.org"}}, {links: []string{"mailto:a@example.org"}}}, info: map[string]string{}, outline: []bookmark{{title: "word", level: 1}}}
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
			p := &raw.pages[page]
			at := box{x, y, x + float64(h[2]), y + float64(h[3]&15)}
			switch h[4] & 96 {
			case 32: // a rule, across or up
				if h[4]&1 > 0 {
					at.x1, at.y1 = x+1, y+float64(h[2])
				}
				p.rules = append(p.rules, at)
				continue
			case 64:
				p.pictures = append(p.pictures, picture{&encoded{id: "x"}, at})
				continue
			}
			w := word{
				text: text, box: box{x, y, x + float64(h[2]), y + float64(h[3]&15)}, size: float64(h[3] & 15),
				bold: h[4]&1 > 0, turn: int(h[4]>>1) & 3, hyphen: h[4]&8 > 0, seq: len(p.words), link: int(h[4] >> 4 & 1),
			}
			p.words = append(p.words, w)
		}
		doc, err := assemble(t.Context(), raw)
		if err != nil || !utf8.ValidString(doc.Text) || len(doc.Pages) != 2 || strings.ContainsAny(doc.Text, "\x0e\x0f") {
			t.Errorf("error %v, pages %v, text %q", err, doc.Pages, doc.Text)
		}
		for _, img := range doc.Images {
			if img.Offset < 0 || img.Offset > len(doc.Text) {
				t.Errorf("a picture at %d of %d", img.Offset, len(doc.Text))
			}
		}
	})
}
