package quote_test

import (
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag/internal/quote"
)

func TestSections(t *testing.T) {
	for text, want := range map[string]string{
		``:          `()`,
		`no quotes`: `(no quotes)`,
		`a "b c" d`: `(a )[b c]( d)`,
		`"a""b"`:    `()[a]()[b]()`,
		`“a” „b“ „c” «d» »e« 「f」『g』＂h＂`: `()[a]( )[b]( )[c]( )[d]( )[e]( )[f]()[g]()[h]()`,
		`24" screen «wall mount»`:       `(24" screen )[wall mount]()`,
		`“open "a b"`:                   `(“open )[a b]()`,
		`„a "b" c“`:                     `()[a "b" c]()`,
		`Home » Leave`:                  `(Home » Leave)`,
		"\xff\"a\xfe\"":                 "(\xff)[a\xfe]()",
	} {
		var got strings.Builder
		for _, s := range quote.Sections(text) {
			if s.Quoted {
				got.WriteString("[" + s.Text + "]")
			} else {
				got.WriteString("(" + s.Text + ")")
			}
		}
		if got.String() != want {
			t.Errorf("%q: got %q, want %q", text, got.String(), want)
		}
	}
}
