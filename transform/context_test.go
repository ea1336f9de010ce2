package transform_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/transform"
)

func TestContract(t *testing.T) {
	ragtest.TestTransformer(t, func(*testing.T) rag.Transformer { return transform.NewContext() })
}

func TestContext(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("word ", 40))
	for _, tt := range []struct {
		name, title string
		headings    []string
		want        string
	}{
		{"title and headings", "Manual", []string{"Use", "Options"}, "Manual > Use > Options"},
		{"the first heading repeats the title", "Manual", []string{"manual", "Use"}, "Manual > Use"},
		{"no title", "", []string{"Use"}, "Use"},
		{"no headings", "Manual", nil, "Manual"},
		{"nothing", "", nil, ""},
		{"line ends in a heading", "A\nB", []string{" ", "C"}, "A B > C"},
		{"long middle", "Manual", []string{long, "Use", "Options"}, "Manual > … > Use > Options"},
		{"long title", long, []string{"Use"}, strings.TrimSpace(strings.Repeat("word ", 30)) + "… > Use"},
		{"long last", "Manual", []string{long}, "Manual > " + strings.TrimSpace(strings.Repeat("word ", 29)) + "…"},
		{"long title alone", long, nil, strings.TrimSpace(strings.Repeat("word ", 31)) + "…"},
		{"both long", long, []string{long + " more"}, strings.TrimSpace(strings.Repeat("word ", 15)) + "… > " + strings.TrimSpace(strings.Repeat("word ", 15)) + "…"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := transform.NewContext().Transform(t.Context(), rag.Document{Title: tt.title}, []rag.Chunk{{Text: "x", Headings: tt.headings}})
			if err != nil {
				t.Fatal(err)
			}
			if got[0].Context != tt.want {
				t.Errorf("Context = %q, want %q", got[0].Context, tt.want)
			}
		})
	}
}

func FuzzContextIsShort(f *testing.F) {
	f.Add("title", "heading", "last")
	f.Add("\xe9", "\xb8\xb6", strings.Repeat("节", 100)) // halves of a character
	f.Add(strings.Repeat("标题", 90), "", strings.Repeat("节", 100))
	f.Fuzz(func(t *testing.T, title, heading, last string) {
		chunks := []rag.Chunk{{Text: "x", Headings: []string{heading, last}}}
		got, err := transform.NewContext().Transform(t.Context(), rag.Document{Title: title}, chunks)
		if err != nil {
			t.Fatal(err)
		}
		if c := got[0].Context; len(c) > 160 || strings.Contains(c, "\n") || !utf8.ValidString(c) {
			t.Errorf("Context = %q, %d bytes", c, len(c))
		}
	})
}

func TestRegister(t *testing.T) {
	var p rag.Providers
	transform.Register(&p)
	if _, err := p.Transformers.New("context", rag.Env{}, nil); err != nil {
		t.Error(err)
	}
	if _, err := p.Transformers.New("context", rag.Env{}, []byte(`{"depth": 2}`)); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("unknown setting: error %v, want ErrInvalid", err)
	}
}
