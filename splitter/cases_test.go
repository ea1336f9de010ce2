package splitter_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/splitter"
)

// markdown makes a document of text whose lines that begin with "#" outside fences are headings.
func markdown(text string) rag.Document {
	doc := rag.Document{Text: text}
	pos, fenced := 0, false
	for line := range strings.SplitAfterSeq(text, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		title := strings.TrimLeft(line, "#")
		if level := len(line) - len(title); level > 0 && !fenced {
			doc.Sections = append(doc.Sections, rag.Section{Level: level, Title: strings.TrimSpace(title), Start: pos})
		}
		pos += len(line)
	}
	return doc
}

func texts(t *testing.T, s rag.Splitter, doc rag.Document) []string {
	t.Helper()
	chunks, err := s.Split(t.Context(), doc)
	if err != nil {
		t.Fatal(err)
	}
	if err := ragtest.CheckChunks(doc, chunks); err != nil {
		t.Error(err)
	}
	var all []string
	for _, c := range chunks {
		all = append(all, c.Text)
	}
	return all
}

func TestOutline(t *testing.T) {
	const text = "# Manual\n\n## Install\n\nRun it.\n\n### Linux\n\nUse the package.\n\n### Windows\n\nUse the file.\n\n## Use\n\n### A\n\na\n\n### B\n\nb\n\n### C\n\nc\n\n## Empty\n"
	doc := markdown(text)
	recursiveWant := []string{
		"# Manual\n\n## Install\n\nRun it.\n\n### Linux\n\nUse the package.\n\n### Windows\n\nUse the file.",
		"## Use\n\n### A\n\na", "### B\n\nb", "### C\n\nc", "## Empty",
	}
	if diff := cmp.Diff(recursiveWant, texts(t, recursive(t, splitter.Config{}), doc)); diff != "" {
		t.Errorf("recursive (-want +got):\n%s", diff)
	}
	sectionWant := []string{
		"# Manual\n\n## Install\n\nRun it.", "### Linux\n\nUse the package.", "### Windows\n\nUse the file.",
		"## Use\n\n### A\n\na", "### B\n\nb", "### C\n\nc", "## Empty",
	}
	if diff := cmp.Diff(sectionWant, texts(t, section(t, splitter.Config{}), doc)); diff != "" {
		t.Errorf("section (-want +got):\n%s", diff)
	}
	chunks, err := recursive(t, splitter.Config{}).Split(t.Context(), doc)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Manual", "Install"}, chunks[0].Headings); diff != "" {
		t.Errorf("headings of the first chunk are not those of its text (-want +got):\n%s", diff)
	}
}

func TestKeptWhole(t *testing.T) {
	words := strings.Repeat("Some words that fill the paragraph up. ", 12)
	for name, kept := range map[string]string{
		"a code fence":               "```go\nfunc f() {\n\n\treturn\n}\n```",
		"a code fence of tildes":     "~~~\n" + strings.Repeat("a line. Another one.\n\n", 9) + "~~~",
		"a table":                    "| a | b |\n|---|---|\n| 1. One | 2 |\n| 3 | 4 |",
		"a table without outer bars": "a | b\n--- | ---\n1 | 2\n3 | 4",
		"a link":                     "[a text. With a stop](https://example.org/a. B)",
		"code in a line":             "`a. B. C`",
		"a signature and its text":   "`torch.add(input, other, *, alpha=1) → Tensor`\n\nAdds other to input.",
		"a definition":               "term\n\n: what it means",
		"an announced list":          "Do as follows:\n\n- first",
		"a heading and its text":     "### Heading\n\nText.",
	} {
		t.Run(name, func(t *testing.T) {
			doc := markdown(words + "\n\n" + kept + "\n\n" + words)
			for size := 24; size <= 200; size += 11 {
				if n := (splitter.Estimate{}).CountTokens(kept); n > size-9 {
					continue // with the sentence around it, it may be too long
				}
				found := false
				for _, c := range texts(t, recursive(t, splitter.Config{MaxTokens: size}), doc) {
					found = found || strings.Contains(c, kept)
				}
				if !found {
					t.Errorf("with %d tokens a chunk, %q is cut", size, kept)
				}
			}
		})
	}
}

// A signature has marks that end sentences elsewhere, and stays whole beside a description of any length.
func TestSignatureIsNotCut(t *testing.T) {
	const signature = "class lib.Border(input, widths, mode='reflect', value=0., eps=1.) → Tensor | tuple[Tensor, ...]"
	for size := 40; size <= 200; size += 5 {
		for sentences := range 40 {
			doc := markdown("# lib.Border\n\n" + signature + "\n\n" + strings.Repeat("Words that describe it. ", sentences))
			for _, s := range []rag.Splitter{recursive(t, splitter.Config{MaxTokens: size}), section(t, splitter.Config{MaxTokens: size})} {
				if first := texts(t, s, doc)[0]; !strings.HasPrefix(first, "# lib.Border\n\n"+signature) {
					t.Fatalf("with %d tokens a chunk and %d sentences: %q", size, sentences, first)
				}
			}
		}
	}
}

func TestOversize(t *testing.T) {
	s := recursive(t, splitter.Config{MaxTokens: 16})
	for name, tt := range map[string]struct{ text, border string }{
		"a fence is cut at line ends":     {"```\n" + strings.Repeat("call one two\n", 40) + "```", "\n"},
		"a table is cut at rows":          {"| a | b |\n|---|---|\n" + strings.Repeat("| c | d |\n", 60), "\n"},
		"a sentence is cut at words":      {strings.Repeat("word ", 100), " "},
		"a paragraph is cut at sentences": {strings.Repeat("One two three. ", 40), ". "},
	} {
		t.Run(name, func(t *testing.T) {
			doc := rag.Document{Text: tt.text}
			chunks, err := s.Split(t.Context(), doc)
			if err != nil {
				t.Fatal(err)
			}
			if len(chunks) < 2 {
				t.Fatalf("%d chunks, want several", len(chunks))
			}
			for _, c := range chunks[1:] {
				if !strings.HasSuffix(doc.Text[:c.Start], tt.border) {
					t.Errorf("cut before %.20q, behind %q", c.Text, doc.Text[max(0, c.Start-10):c.Start])
				}
			}
		})
	}
}

// counter counts tokens by a function.
type counter func(string) int

func (c counter) CountTokens(s string) int { return c(s) }

func TestNoChunkIsTooLong(t *testing.T) {
	counters := map[string]rag.TokenCounter{
		"estimate":   splitter.Estimate{},
		"words":      counter(func(s string) int { return len(strings.Fields(s)) }),
		"characters": counter(func(s string) int { return len([]rune(s)) }),
		"bytes":      counter(func(s string) int { return (len(s) + 3) / 4 }),
	}
	var text strings.Builder
	for i := range 40 {
		text.WriteString("# Heading\n\nA paragraph. With sentences; and a very long one that has no end " + strings.Repeat("on and ", i) + "\n\n")
		text.WriteString("```\n" + strings.Repeat("code()\n", i) + "```\n\n- " + strings.Repeat("长", 5*i) + "\n\n" + strings.Repeat("x", 30*i) + "\n\n")
	}
	doc := markdown(text.String())
	for name, tokens := range counters {
		for _, size := range []int{8, 50, 200} {
			s, err := splitter.NewRecursive(splitter.Config{MaxTokens: size}, tokens)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range texts(t, s, doc) {
				if n := tokens.CountTokens(c); n > size {
					t.Errorf("%s: a chunk has %d tokens, more than %d: %.60q", name, n, size, c)
				}
			}
		}
	}
}

func TestOverlap(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		b.WriteString("The sentence with the number " + strings.Repeat("i", i+1) + " is here. ")
	}
	doc := rag.Document{Text: b.String()}
	chunks, err := recursive(t, splitter.Config{MaxTokens: 60, OverlapTokens: 20}).Split(t.Context(), doc)
	if err != nil {
		t.Fatal(err)
	}
	repeated := 0
	for i, c := range chunks[1:] {
		if before := chunks[i]; c.Start < before.End {
			repeated++
			if shared := doc.Text[c.Start:before.End]; !strings.HasPrefix(shared, "The sentence") || !strings.HasSuffix(shared, "here.") {
				t.Errorf("the overlap is no whole sentence: %q", shared)
			}
		}
	}
	if repeated == 0 {
		t.Error("no chunk repeats a sentence of the one before")
	}
}

func TestConfig(t *testing.T) {
	for name, c := range map[string]splitter.Config{
		"too small": {MaxTokens: 7}, "negative": {MaxTokens: -1}, "much overlap": {MaxTokens: 100, OverlapTokens: 51},
		"negative overlap": {OverlapTokens: -2}, "large least": {MaxTokens: 100, MinTokens: 34},
	} {
		if _, err := splitter.NewSection(c, nil); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%s: error %v, want ErrInvalid", name, err)
		}
	}
	small := recursive(t, splitter.Config{MaxTokens: 100})
	if small.Fingerprint() == recursive(t, splitter.Config{}).Fingerprint() {
		t.Error("two sizes have the same fingerprint")
	}
}

func TestRegister(t *testing.T) {
	var p rag.Providers
	splitter.Register(&p)
	if diff := cmp.Diff([]string{"fixed", "recursive", "section"}, p.Splitters.Names()); diff != "" {
		t.Error(diff)
	}
	s, err := p.Splitters.New("section", rag.Env{}, []byte(`{"max_tokens": 64}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.(rag.Fingerprinter).Fingerprint(), "section/v3/64/9/16"; got != want {
		t.Errorf("fingerprint %q, want %q", got, want)
	}
	if _, err := p.Splitters.New("section", rag.Env{}, []byte(`{"max_token": 64}`)); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("unknown setting: error %v, want ErrInvalid", err)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("# A\n\ntext. More text.\n\n```\ncode\n```\n| a |\n|---|\n| b |\n- x\n", 0, 1, 20)
	f.Add("\u0301 e\u0301 。\u0301检索。\n\n~~~\n", 3, 2, 8)
	f.Add("👩‍👩‍👧‍👦🏳️‍🌈\u200d。’\ufe0f x. \"Y\" (z). A", 1, 6, 9)
	f.Add(strings.Repeat("e\u0301x👩‍👩‍👧‍👦한국🇦🇹", 30), 0, 1, 0)
	f.Add(strings.Repeat("0123456789abcdef", 200)+strings.Repeat("检索", 300), 0, 1, 100)
	f.Fuzz(func(t *testing.T, text string, at, level, size int) {
		text = strings.ToValidUTF8(text, "?")
		doc := rag.Document{Text: text, Sections: []rag.Section{{Level: level, Title: "t", Start: at, End: len(text)}}, Pages: []int{0, at}}
		c := splitter.Config{MaxTokens: 8 + max(size, -size)%200}
		if size < 0 {
			c.MaxTokens = 8
		}
		for _, s := range []*splitter.Splitter{recursive(t, c), section(t, c)} {
			texts(t, s, doc)
		}
	})
}
