package ragtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/seed-d8745b77/rag"
)

// TestSplitter checks that a splitter keeps the promises of [rag.Splitter]. open makes a fresh splitter each time.
func TestSplitter(t *testing.T, open func(t *testing.T) rag.Splitter) {
	for _, doc := range splitterDocuments() {
		t.Run("chunks are true to the document "+doc.URI, func(t *testing.T) {
			chunks, err := open(t).Split(t.Context(), doc)
			if err != nil {
				t.Fatal(err)
			}
			if err := CheckChunks(doc, chunks); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("a document without text gives no chunks", func(t *testing.T) {
		for _, text := range []string{"", " \n\t\n", "\u3000\u00a0"} {
			chunks, err := open(t).Split(t.Context(), rag.Document{Text: text})
			if err != nil || len(chunks) != 0 {
				t.Errorf("Split(%q) = %d chunks, %v; want none, nil", text, len(chunks), err)
			}
		}
	})
	t.Run("the same document gives the same chunks, also in many goroutines", func(t *testing.T) {
		s := open(t)
		doc := longDocument()
		want, err := s.Split(t.Context(), doc)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				got, err := s.Split(t.Context(), doc)
				if err != nil || !slices.EqualFunc(got, want, sameChunk) {
					t.Errorf("Split gave other chunks than before, error %v", err)
				}
			})
		}
		wg.Wait()
	})
	t.Run("a cancelled context ends the work with its error", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := open(t).Split(ctx, longDocument()); !errors.Is(err, context.Canceled) {
			t.Errorf("Split gave error %v, want context.Canceled", err)
		}
	})
}

func sameChunk(a, b rag.Chunk) bool {
	return a.Start == b.Start && a.End == b.End && a.Text == b.Text && a.Page == b.Page && slices.Equal(a.Headings, b.Headings)
}

// CheckChunks returns what is wrong with the chunks that a splitter made of doc, or nil:
// each chunk's Text is doc.Text[Start:End], not empty and begins and ends inside no character; starts ascend;
// no chunk starts with blank space; everything that is not blank is part of a chunk; Page is that of Start;
// Headings are those open at Start, or at the first line of the chunk that is no heading.
func CheckChunks(doc rag.Document, chunks []rag.Chunk) error {
	covered, last := 0, -1
	borders := graphemeBorders(doc.Text)
	for i, c := range chunks {
		if c.Start < 0 || c.End > len(doc.Text) || c.Start >= c.End {
			return fmt.Errorf("chunk %d: [%d, %d) is no part of a text of %d bytes", i, c.Start, c.End, len(doc.Text))
		}
		if err := checkChunk(doc, c); err != nil {
			return fmt.Errorf("chunk %d: %w", i, err)
		}
		for _, at := range []int{c.Start, c.End} {
			if !borders[at] && !besideBlank(doc.Text, at) {
				return fmt.Errorf("chunk %d: the border %d cuts a character", i, at)
			}
		}
		if c.Start <= last {
			return fmt.Errorf("chunk %d: starts at %d, not behind the chunk before at %d", i, c.Start, last)
		}
		last = c.Start
		if c.Start > covered && strings.TrimSpace(doc.Text[covered:c.Start]) != "" {
			return fmt.Errorf("chunk %d: the text before it is in no chunk: %.80q", i, doc.Text[covered:c.Start])
		}
		covered = max(covered, c.End)
	}
	if rest := doc.Text[covered:]; strings.TrimSpace(rest) != "" {
		return fmt.Errorf("the end of the text is in no chunk: %.80q", rest)
	}
	return nil
}

func checkChunk(doc rag.Document, c rag.Chunk) error {
	if c.Text != doc.Text[c.Start:c.End] {
		return fmt.Errorf("Text is %.80q, want %.80q", c.Text, doc.Text[c.Start:c.End])
	}
	if r, _ := utf8.DecodeRuneInString(c.Text); unicode.IsSpace(r) {
		return fmt.Errorf("starts with blank space: %.80q", c.Text)
	}
	if want := doc.Page(c.Start); c.Page != want {
		return fmt.Errorf("Page is %d, want %d", c.Page, want)
	}
	for _, at := range firstLines(doc, c) {
		if slices.Equal(c.Headings, doc.HeadingsAt(at)) {
			return nil
		}
	}
	return fmt.Errorf("Headings are %q, want %q", c.Headings, doc.HeadingsAt(c.Start))
}

// graphemeBorders returns, for each offset of text, whether a user-perceived character begins or ends there.
func graphemeBorders(text string) []bool {
	borders := make([]bool, len(text)+1)
	for pos, state := 0, -1; pos < len(text); {
		var cluster string
		cluster, _, _, state = uniseg.FirstGraphemeClusterInString(text[pos:], state)
		borders[pos] = true
		pos += len(cluster)
	}
	borders[len(text)] = true
	return borders
}

// besideBlank reports whether the offset has blank space on one side: a cut is allowed there, since a mark without a
// letter to stand on, which Unicode joins to the blank before it, may begin a chunk.
func besideBlank(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	return unicode.IsSpace(before) || unicode.IsSpace(after)
}

// firstLines returns the offsets of the chunk's headings and of the first line after those it starts with.
func firstLines(doc rag.Document, c rag.Chunk) []int {
	all := []int{c.Start}
	for _, s := range doc.Sections {
		if s.Start >= c.Start && s.Start < c.End {
			all = append(all, s.Start)
		}
	}
	return all
}

// splitterDocuments returns small documents with what is easily cut wrongly. The URI tells what.
func splitterDocuments() []rag.Document {
	emoji := strings.Repeat("👩‍👩‍👧‍👦🏳️‍🌈e\u0301", 400)
	docs := []rag.Document{
		longDocument(),
		{URI: "of one word", Text: "word"},
		{URI: "of blank lines around a word", Text: "\n\n  word \n\n"},
		{URI: "of one endless word", Text: strings.Repeat("x", 20_000)},
		{URI: "of joined characters", Text: emoji},
		{URI: "in Chinese", Text: strings.Repeat("检索增强生成把检索和生成结合起来。它先找到相关的段落；然后回答问题！", 120)},
		{URI: "of one code fence", Text: "```go\n" + strings.Repeat("\tx := f(x) + 1\n", 900) + "```\n"},
		{URI: "with a fence that nothing closes", Text: "Text.\n\n~~~\n" + strings.Repeat("code line\n", 700)},
		{URI: "of one table", Text: "| name | value |\n|---|---|\n" + strings.Repeat("| a name | a value |\n", 500)},
		{URI: "of lines without sentence ends", Text: strings.Repeat("2024-01-02 host service started with code 0\n", 400)},
		{URI: "of a wide gap", Text: "Before." + strings.Repeat(" \n", 5000) + "After."},
	}
	pages := rag.Document{URI: "with pages", Text: strings.Repeat("A sentence that stands on some page of it. ", 300)}
	for p := 0; p < len(pages.Text); p += 900 {
		pages.Pages = append(pages.Pages, p)
	}
	return append(docs, pages)
}

// longDocument has an outline, prose, lists, code and a table, about 10,000 words in all.
func longDocument() rag.Document {
	doc := rag.Document{URI: "with an outline", Title: "Manual"}
	var b strings.Builder
	open := func(level int, title string) {
		doc.Sections = append(doc.Sections, rag.Section{Level: level, Title: title, Start: b.Len()})
		fmt.Fprintf(&b, "%s %s\n\n", strings.Repeat("#", level), title)
	}
	open(1, "Manual")
	for i := range 20 {
		open(2, fmt.Sprintf("Chapter %d", i))
		for j := range i % 5 {
			open(3, fmt.Sprintf("Part %d of %d", j, i))
			for k := range 2 + (i+j)%4 {
				b.WriteString(strings.Repeat(fmt.Sprintf("Sentence of paragraph %d in part %d, see Dr. No. ", k, j), 1+(i*j+k)%7) + "\n\n")
			}
			b.WriteString("- one item\n- another item\n\n```\ncode(" + title(i, j) + ")\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n")
		}
	}
	doc.Text = b.String()
	closeSections(&doc)
	return doc
}

func title(i, j int) string { return fmt.Sprintf("%d, %d", i, j) }

// closeSections sets the End of each section.
func closeSections(doc *rag.Document) {
	for i := range doc.Sections {
		s := &doc.Sections[i]
		s.End = len(doc.Text)
		for _, next := range doc.Sections[i+1:] {
			if next.Level <= s.Level {
				s.End = next.Start
				break
			}
		}
	}
}
