package mdtext_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/mdtext"
)

func TestEndsCloseAtTheSameOrAnOuterLevel(t *testing.T) {
	for _, c := range []struct {
		name           string
		levels, starts []int
		want           []int
	}{
		{"none", nil, nil, []int{}},
		{"siblings", []int{1, 1}, []int{0, 5}, []int{5, 40}},
		{"nested", []int{1, 2, 3, 2, 1}, []int{0, 5, 10, 20, 30}, []int{30, 20, 20, 30, 40}},
		{"starts deep", []int{3, 2, 1}, []int{1, 2, 3}, []int{2, 3, 40}},
		{"skips a level", []int{1, 4, 2}, []int{0, 8, 9}, []int{40, 9, 40}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, mdtext.Ends(c.levels, c.starts, 40)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		" \t\n":                    "",
		" a \r\n\u00a0 b\u3000":    "a b",
		"in\u00advisible\u200b":    "invisible",
		"\ufefftitle":              "title",
		"中文 \u200b 字":              "中文 字",
		"one\u2028two\u0085three ": "one two three",
	} {
		if got := mdtext.Line(in); got != want {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCutEndsAtACharacter(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: "a", 2: "a", 3: "a", 4: "a中", 9: "a中"} {
		if got := mdtext.Cut("a中", n); got != want {
			t.Errorf("Cut(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestTablePadsAndEscapes(t *testing.T) {
	got := mdtext.Table([][]string{{"a", "b|c"}, {"1\n2"}})
	want := "| a | b\\|c |\n| --- | --- |\n| 1 2 |  |"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := mdtext.Table(nil); got != "" {
		t.Errorf("no rows: %q", got)
	}
}

func TestTablesRepeatTheHeader(t *testing.T) {
	rows := [][]string{{"h"}}
	for range 5 {
		rows = append(rows, []string{strings.Repeat("x", 500)})
	}
	parts := strings.Split(mdtext.Tables(rows), "\n\n")
	if len(parts) != 3 {
		t.Fatalf("%d tables, want 3", len(parts))
	}
	for i, want := range []int{2, 2, 1} {
		if !strings.HasPrefix(parts[i], "| h |\n| --- |\n") || strings.Count(parts[i], "| x") != want {
			t.Errorf("table %d is %.40q with %d rows, want %d", i, parts[i], strings.Count(parts[i], "| x"), want)
		}
	}
	if got := mdtext.Tables([][]string{{"h"}}); got != mdtext.Table([][]string{{"h"}}) {
		t.Errorf("a header alone: %q", got)
	}
	if got := mdtext.Tables(nil); got != "" {
		t.Errorf("no rows: %q", got)
	}
}

func TestFenceIsLongerThanAnyInside(t *testing.T) {
	if got, want := mdtext.Fence("go", "a ``` b\n"), "````go\na ``` b\n````"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := mdtext.Fence("", "x"), "```\nx\n```"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestClip(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{{"", 0, ""}, {"", 2, ""}, {"ab", 2, "ab"}, {"abc", 2, "ab…"}, {"英国人", 2, "英国…"}, {"英国人", 3, "英国人"}, {"a", 0, "…"}} {
		if got := mdtext.Clip(tt.text, tt.n); got != tt.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", tt.text, tt.n, got, tt.want)
		}
	}
}
