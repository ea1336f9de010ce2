package pdffile

import (
	"bytes"
	"testing"
)

func TestPackBits(t *testing.T) {
	for _, text := range []string{"", "a", "ab", "aab", "abb", "aaaa", "abcabc", string(bytes.Repeat([]byte{7}, 300)), string(bytes.Repeat([]byte("xyz"), 100))} {
		packed := packBits([]byte(text))
		var got []byte
		for i := 0; packed[i] != 128; {
			if n := int(packed[i]); n < 128 {
				got = append(got, packed[i+1:i+2+n]...)
				i += n + 2
			} else {
				got = append(got, bytes.Repeat(packed[i+1:i+2], 257-n)...)
				i += 2
			}
		}
		if string(got) != text {
			t.Errorf("%q comes back as %q", text, got)
		}
	}
}
