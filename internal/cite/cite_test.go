package cite

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClean(t *testing.T) {
	const four = "there are 4 sources"
	tests := []struct {
		name, reply, want string
		rejected          []Rejected
	}{
		{name: "as it should be", reply: "Leave is 25 days [1].", want: "Leave is 25 days [1]."},
		{name: "list", reply: "So it is [1,2] and [1, 3].", want: "So it is [1][2] and [1][3]."},
		{name: "in a row", reply: "So it is [1][2].", want: "So it is [1][2]."},
		{name: "range", reply: "So it is [1-3].", want: "So it is [1][2][3]."},
		{name: "range with a dash", reply: "So it is [2–4].", want: "So it is [2][3][4]."},
		{name: "Chinese brackets", reply: "年假为25天【2】。", want: "年假为25天[2]。"},
		{name: "wide digits", reply: "年假为25天［２］。", want: "年假为25天[2]。"},
		{name: "dagger", reply: "So it is【3†handbook.md】.", want: "So it is[3]."},
		{name: "dagger behind two numbers", reply: "So it is【4:0†handbook.md】.", want: "So it is.", rejected: []Rejected{{"【4:0†handbook.md】", "it names no source by number"}}},
		{name: "Arabic digits", reply: "So it is [٢] [٧].", want: "So it is [2].", rejected: []Rejected{{"[٧]", four}}},
		{name: "a blank of no width", reply: "So it is [\u200b7\u200b].", want: "So it is.", rejected: []Rejected{{"[\u200b7\u200b]", four}}},
		{name: "footnote", reply: "So it is[^1].", want: "So it is[1]."},
		{name: "round", reply: "So it is (1).", want: "So it is [1]."},
		{name: "round, Chinese", reply: "年假为25天（１）。", want: "年假为25天[1]。"},
		{name: "round, a list of points", reply: "Steps: (1) ask, (2) wait.", want: "Steps: (1) ask, (2) wait."},
		{name: "round, a number in words", reply: "within thirty (30) days", want: "within thirty (30) days"},
		{name: "round, a call", reply: "it calls f(1).", want: "it calls f(1)."},
		{name: "round, a year", reply: "the law (1998).", want: "the law (1998)."},
		{name: "round, none of the sources", reply: "So it is (9).", want: "So it is.", rejected: []Rejected{{"(9)", four}}},
		{name: "source", reply: "So it is [Source 2].", want: "So it is [2]."},
		{name: "source, Chinese", reply: "年假为25天[来源2]。", want: "年假为25天[2]。"},
		{name: "sources", reply: "So it is (see sources 1 and 2).", want: "So it is [1][2]."},
		{name: "page", reply: "So it is [2, p. 14].", want: "So it is [2]."},
		{name: "link", reply: "So it is [1](http://x).", want: "So it is [1].", rejected: []Rejected{{"[1](http://x)", "a link is no source"}}},
		{name: "link to nothing", reply: "So it is [8](http://x).", want: "So it is.", rejected: []Rejected{{"[8](http://x)", four}, {"[8](http://x)", "a link is no source"}}},
		{name: "double brackets", reply: "So it is [[1]](http://x).", want: "So it is [1].", rejected: []Rejected{{"[[1]](http://x)", "a link is no source"}}},
		{name: "escaped", reply: `So it is \[1\].`, want: "So it is [1]."},
		{name: "beyond", reply: "So it is [7].", want: "So it is.", rejected: []Rejected{{"[7]", four}}},
		{name: "zero", reply: "So it is [0].", want: "So it is.", rejected: []Rejected{{"[0]", "sources are numbered from 1"}}},
		{name: "negative", reply: "So it is [-1].", want: "So it is.", rejected: []Rejected{{"[-1]", "sources are numbered from 1"}}},
		{name: "half of a list", reply: "So it is [2, 9].", want: "So it is [2].", rejected: []Rejected{{"[2, 9]", four}}},
		{name: "half of a range", reply: "So it is [3-99999999999999999999].", want: "So it is [3][4].", rejected: []Rejected{{"[3-99999999999999999999]", four}}},
		{name: "a word", reply: "So it is [Source: handbook.md].", want: "So it is.", rejected: []Rejected{{"[Source: handbook.md]", "it names no source by number"}}},
		{name: "a note", reply: "So it is[^leave].", want: "So it is.", rejected: []Rejected{{"[^leave]", "it names no source by number"}}},
		{name: "between words", reply: "It is [9] so.", want: "It is so.", rejected: []Rejected{{"[9]", four}}},
		{name: "first", reply: "[9] It is so.", want: "It is so.", rejected: []Rejected{{"[9]", four}}},
		{name: "comma", reply: "It is so [1], [9].", want: "It is so [1].", rejected: []Rejected{{"[9]", four}}},
		{name: "several lines", reply: "One [1]\nTwo [9]\n", want: "One [1]\nTwo\n", rejected: []Rejected{{"[9]", four}}},
		{name: "none", reply: "It is so.", want: "It is so."},
		{name: "code", reply: "Use `a[7]` here [1].", want: "Use `a[7]` here [1]."},
		{name: "block of code", reply: "See [1]:\n```go\nx := a[7] // [9]\n```\nDone [9].", want: "See [1]:\n```go\nx := a[7] // [9]\n```\nDone.", rejected: []Rejected{{"[9]", four}}},
		{name: "element", reply: "the value a[7] of row_sums[9][0] [1].", want: "the value a[7] of row_sums[9][0] [1]."},
		{name: "no blank before", reply: "It lasts 30 days[2].", want: "It lasts 30 days[2]."},
		{name: "address", reply: "See http://x.org/a[7]/b [1].", want: "See http://x.org/a[7]/b [1]."},
		{name: "formula", reply: "As $x_{[7]} + y$ shows [1], for $5 [2].", want: "As $x_{[7]} + y$ shows [1], for $5 [2]."},
		{name: "brackets of words", reply: "He [the driver] pays [sic] [1].", want: "He [the driver] pays [sic] [1]."},
		{name: "box", reply: "- [ ] ask\n- [x] wait [1]", want: "- [ ] ask\n- [x] wait [1]"},
		{name: "object with a string", reply: `{"answer": "It is so.", "citations": "1, 2"}`, want: "It is so. [1][2]"},
		{name: "object with a list", reply: "```json\n{\"answer\": \"It is so [2].\", \"citations\": [1, 9]}\n```", want: "It is so [2]."},
		{name: "object with objects", reply: `{"answer": "It is so.", "citations": [{"id": 1}, {"id": "[9]"}]}`, want: "It is so. [1]", rejected: []Rejected{{"[1, 9]", four}}},
		{name: "no object", reply: `{"a": 1} [7]`, want: `{"a": 1}`, rejected: []Rejected{{"[7]", four}}},
		{name: "across lines", reply: "So it is [1,\n7]. And\n[\n2\n].", want: "So it is [1]. And\n[2].", rejected: []Rejected{{"[1, 7]", four}}},
		{name: "across lines, no citation", reply: "So [1,\nit is [2].\nf [\n", want: "So [1,\nit is [2].\nf [\n"},
		{name: "across lines of code", reply: "```\nx = [1,\n7]\n```\n", want: "```\nx = [1,\n7]\n```\n"},
		{name: "two lines", reply: "- One [1]\n- Two [2]\n[3]\n[4]", want: "- One [1]\n- Two [2]\n[3]\n[4]"},
		{name: "in doubt", reply: "So it is [2?] and [7?]. No [１？] and [7, …].", want: "So it is [2] and. No [1] and.", rejected: []Rejected{{"[7?]", four}, {"[7, …]", four}}},
		{name: "other brackets", reply: "So ⟦2⟧ is ⟦7⟧ it〖3〗❲1❳.", want: "So [2] is it[3][1].", rejected: []Rejected{{"⟦7⟧", four}}},
		{name: "a note", reply: "So it is [note 2] or [note 7], [footnote 1].", want: "So it is [2] or, [1].", rejected: []Rejected{{"[note 7]", four}}},
		{name: "a note, Chinese", reply: "年假为25天[注2]，病假［注７］。", want: "年假为25天[2]，病假。", rejected: []Rejected{{"［注７］", four}}},
		{name: "a note of the text", reply: "So it is (note 7) here [note: see below].", want: "So it is (note 7) here [note: see below]."},
		{name: "a source beyond", reply: "So it is [source 7] (source 7)（来源７）.", want: "So it is.", rejected: []Rejected{{"[source 7]", four}, {"(source 7)", four}, {"（来源７）", four}}},
		{name: "semicolon", reply: "So it is [1;7] and ［１；２］.", want: "So it is [1] and [1][2].", rejected: []Rejected{{"[1;7]", four}}},
		{name: "between carets", reply: "So it is [^2^] [^7^].", want: "So it is [2].", rejected: []Rejected{{"[^7^]", four}}},
		{name: "raised", reply: "So it is [²] and [⁷].", want: "So it is [2] and.", rejected: []Rejected{{"[⁷]", four}}},
		{name: "range with points", reply: "So it is [1..3] and [2...4].", want: "So it is [1][2][3] and [2][3][4]."},
		{name: "thousands", reply: "So [1,000] units, [12,500.50] or [1 000], ［１，０００］ [1].", want: "So [1,000] units, [12,500.50] or [1 000], ［１，０００］ [1]."},
		{name: "dressed up", reply: "So it is [*2*] and **[7]** or <sup>[7]</sup> [\"7\"].", want: "So it is [2] and or.", rejected: []Rejected{{"[7]", four}, {"[7]", four}, {`["7"]`, four}}},
		{name: "no source but a place", reply: "So it is [p. 7] at [12:30] [2].", want: "So it is [p. 7] at [12:30] [2]."},
		{name: "nothing", reply: "", want: ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, rejected := Clean(tt.reply, 4)
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if diff := cmp.Diff(tt.rejected, rejected); diff != "" {
				t.Errorf("rejected (-want +got):\n%s", diff)
			}
			check(t, tt.reply, 4)
		})
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "there are no sources", 1: "there is 1 source", 2: "there are 2 sources"} {
		if got := Count(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}

func TestAStreamIsClosedOnce(t *testing.T) {
	s := NewStream(4)
	shown := s.Write("So it") + s.Close()
	if again := s.Close(); shown != "So it" || again != "" {
		t.Errorf("shown %q, and again %q", shown, again)
	}
}

var looksCited = regexp.MustCompile(`\[\d+\]`)

// check holds for any reply.
func check(t *testing.T, reply string, sources int) {
	t.Helper()
	text, _ := Clean(reply, sources)
	again, rejected := Clean(text, sources)
	if looked, object := looksLikeObject(text); again != text && !(looked && object) {
		t.Errorf("cleaned %q is %q, and again %q", reply, text, again)
	}
	if len(rejected) > 0 && again == text {
		t.Errorf("%q: %v taken out of a clean text", text, rejected)
	}
	for _, m := range Markers(text) {
		if m.Number < 1 || m.Number > sources {
			t.Errorf("%q shows %d of %d sources", text, m.Number, sources)
		}
		if got := text[m.Start:m.End]; !looksCited.MatchString(got) {
			t.Errorf("%q: marker %v is %q", text, m, got)
		}
	}
	s := NewStream(sources)
	streamed := ""
	for _, r := range reply {
		streamed += s.Write(string(r))
	}
	if streamed += s.Close(); streamed != strings.ToValidUTF8(text, "�") && streamed != text {
		t.Errorf("%q: streamed %q, whole %q", reply, streamed, text)
	}
}

// seen is what a reader takes for a citation: a number in brackets, however it is dressed up. It knows nothing of the code.
var seen = regexp.MustCompile(`(?i)[\[［【〔⟦〖❲]\s*(?:(?:note|source|ref|doc|来源|注)\.?\s*)?[\^#*"]*\s*[0-9０-９]{1,4}(?:\s*[,;，；&–-]\s*[0-9０-９]{1,2}\b)*\s*[?!.^*"]*\s*[\]］】〕⟧〗❳]`)

// Whatever is put together of such pieces, what a reader takes for a citation names a source.
func TestEveryMarkerShownIsASource(t *testing.T) {
	pieces := strings.Split("Leave is| 25 days| of it|. |, |\n|\n\n|- | (| )|[|]|【|】|［|］|⟦|⟧|1|2|7|9|12|０|７|,|;|-|–|^|#|?|note |source |来源|注| **|**|*|年假|。|<sup>|</sup>|[1]|[7]|[2,|[^|&", "|")
	r := rand.New(rand.NewPCG(8, 33))
	for range 20000 {
		var reply strings.Builder
		for range 1 + r.IntN(12) {
			reply.WriteString(pieces[r.IntN(len(pieces))])
		}
		text, _ := Clean(reply.String(), 4)
		for _, marker := range seen.FindAllString(text, -1) {
			if n := strings.Trim(marker, "[]"); len(n) != 1 || n < "1" || n > "4" {
				t.Fatalf("%q is shown as %q, with %q", reply.String(), text, marker)
			}
		}
		check(t, reply.String(), 4)
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{
		"a [1], [2] b【3】。(1) x", "``[7]`", "[9[7]]", "[7]```\n[8]", "{\"answer\":\"x\",\"citations\":\"1, 2\"}", "x [1](http://x (y)) [[2]]",
		"a_b[1][2] http://x[1] $a[1]$ `[1]`", "thirty (30) [7].", "[1]([2](x))", "来源[来源 9]，x［１］",
		"a [1,\n7] [\n2\n", "[[7]1,\n2]", "**[7]** [2?] [^7^] [1,000]", "⟦1⟧〖9〗[note 3]",
	} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, reply string, sources int) {
		if !strings.Contains(reply, "\ufffd") && strings.ToValidUTF8(reply, "") == reply {
			check(t, reply, max(0, min(sources, 50)))
		}
	})
}
