package cite

import (
	"strings"
	"testing"
)

// TestLongLines: a line takes time in proportion to its length, whatever it is made of. With time that grows by the square
// a reply of a megabyte does not come to its end.
func TestLongLines(t *testing.T) {
	const size = 1 << 14 // slow enough with the race detector
	for _, part := range []string{"word ", "[1] ", "[7] ", "x", "[", "(1)", "`a ", "$a ", "[1](", "a[", "$5 and (see ", "word [1]. ", "word, [7], ", "[1], ", "2. "} {
		for _, open := range []string{"", "`"} {
			text := open + strings.Repeat(part, size/len(part))
			s := NewStream(4)
			var shown strings.Builder
			for at := 0; at < len(text); at += 5 {
				shown.WriteString(s.Write(text[at:min(at+5, len(text))]))
			}
			shown.WriteString(s.Close())
			whole, _ := Clean(text, 4)
			if shown.String() != whole {
				t.Errorf("%q: the stream and the whole differ", part)
			}
			Claims(whole, Markers(whole))
		}
	}
}
