package splitter

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSentences(t *testing.T) {
	for _, tt := range []struct {
		name string
		want []string
	}{
		{"plain", []string{"One here. ", "Two there! ", "Three?"}},
		{"abbreviations", []string{"Dr. Smith saw No. 5 at p. 12 with J. Doe, e.g. at 3.14 m. ", "Then he left."}},
		{"no as an answer", []string{"He said no. ", "It was over."}},
		{"list numbers", []string{"3. The third step."}},
		{"a year", []string{"It began in 2020. ", "It ended."}},
		{"lower case goes on", []string{"The file foo.go and bar. go on."}},
		{"quotes and brackets", []string{"\"Yes.\" ", "(He went.) ", "Off."}},
		{"Chinese", []string{"第一句。", "第二句！", "他说：“好。”", "第三句；", "完"}},
		{"ellipsis", []string{"Well... ", "No."}},
		{"links and code", []string{"See [a. B](http://x/y. Z) and `c. D`. ", "End."}},
		{"lines", []string{"One line.\n", "Two lines."}},
		{"accent on a full stop", []string{"第一。\u0301第二"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := ""
			for _, s := range tt.want {
				text += s
			}
			var got []string
			pos := 0
			for _, s := range sentences(text) {
				got = append(got, text[pos:pos+s.length])
				pos += s.length
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
