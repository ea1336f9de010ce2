package loader_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

const markdownPage = "---\ntitle: From front matter\ntags: [a, b]\n---\n\n# First heading\n\nText.\n\n```sh\n# no heading\n```\n\nSecond heading\n--------------\n\nText under the second heading.\n\n> # quoted\n\n- # in a list\n"

// outlineOf writes sections as "level title@the line at their start".
func outlineOf(doc rag.Document) []string {
	var out []string
	for _, s := range doc.Sections {
		line, _, _ := strings.Cut(doc.Text[s.Start:], "\n")
		out = append(out, fmt.Sprintf("%d %s @ %s", s.Level, s.Title, line))
	}
	return out
}

func TestMarkdownTextIsTheSource(t *testing.T) {
	body := "\n# Head\n\n| a | b |\n|---|---|\n| 1 | 2 | vanishes from the tree |\n\n```go\nx := `y`\n```\n\n[ref]: https://example.org\n"
	for name, in := range map[string]string{
		"as it is":          body,
		"CRLF":              strings.ReplaceAll(body, "\n", "\r\n"),
		"mark":              "\ufeff" + body,
		"front matter":      "---\ntitle: x\n---\n" + body,
		"mark, CRLF, front": "\ufeff---\r\ntitle: x\r\n---\r\n" + strings.ReplaceAll(body, "\n", "\r\n"),
	} {
		doc := mustLoad(t, newMarkdown(), in)
		if doc.Text != body {
			t.Errorf("%s: got %q\nwant %q", name, doc.Text, body)
		}
		if diff := cmp.Diff([]string{"1 Head @ # Head"}, outlineOf(doc)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestMarkdownOutline(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"levels", "# A\n## B\n#### D\n# E\n", []string{"1 A @ # A", "2 B @ ## B", "4 D @ #### D", "1 E @ # E"}},
		{"setext", "Title\n=====\n\nTwo\nlines\n---\n", []string{"1 Title @ Title", "2 Two lines @ Two"}},
		{"closing marks", "## Title ##\n", []string{"2 Title @ ## Title ##"}},
		{"indented", "   # Title\n\n    # code\n", []string{"1 Title @    # Title"}},
		{"in fences", "```\n# a\n```\n~~~sh\n# b\n~~~\n\n# c\n", []string{"1 c @ # c"}},
		{"in an open fence", "# a\n```\n# b\n", []string{"1 a @ # a"}},
		{"nested blocks", "> # quote\n\n- # item\n\n1. # item\n\nterm\n:   # definition\n\n[^1]: # note\n", nil},
		{"no blank", "#hashtag\n#!/bin/sh\n", nil},
		{"empty", "#\n## \n# x\n", []string{"1 x @ # x"}},
		{"markup", "# *The* **`go` tool** [link](http://x \"t\") &amp; \\*more\\* ~~old~~ <b>bold</b><br>end\n", []string{"1 The go tool link & *more* old bold end @ # *The* **`go` tool** [link](http://x \"t\") &amp; \\*more\\* ~~old~~ <b>bold</b><br>end"}},
		{"code keeps its text", "# `a **b** &amp; \\_c`\n", []string{"1 a **b** &amp; \\_c @ # `a **b** &amp; \\_c`"}},
		{"reference", "# [Docs][d] and [none][n]\n\n[d]: http://x\n", []string{"1 Docs and [none][n] @ # [Docs][d] and [none][n]"}},
		{"picture", "# ![Logo](x.png) <img alt=\"Name\" src=y>\n", []string{"1 Logo Name @ # ![Logo](x.png) <img alt=\"Name\" src=y>"}},
		{"attributes", "## Install {#install .x}\n## Set {a, b}\n", []string{"2 Install @ ## Install {#install .x}", "2 Set {a, b} @ ## Set {a, b}"}},
		{"bold beside CJK", "# **注意：**中文\n", []string{"1 注意：中文 @ # **注意：**中文"}},
		{"like a list", "# 1. Scope\n# - dash\n", []string{"1 1. Scope @ # 1. Scope", "1 - dash @ # - dash"}},
		{"HTML block", "<h1 align=\"center\">\n  <img alt=\"Logo\" src=\"x\"><br>\n  The <b>Name</b> &amp; Co\n</h1>\n\n<p>x</p>\n\n## Next\n", []string{"1 Logo The Name & Co @ <h1 align=\"center\">", "2 Next @ ## Next"}},
		{"HTML block over blank lines", "<div align=center>\n<h1>\n\n**Name** of it\n\n</h1>\n</div>\n", []string{"1 Name of it @ <h1>"}},
		{"HTML in a line", "<div><h1>One</h1><h2>Two</h2></div>\n", []string{"1 One @ <div><h1>One</h1><h2>Two</h2></div>", "2 Two @ <h2>Two</h2></div>"}},
		{"HTML comment", "<!--\n# no\n<h1>no</h1>\n-->\n\n# yes\n", []string{"1 yes @ # yes"}},
		{"HTML without text", "<h1><img src=x></h1>\n\n<h2></h2>\n", nil},
		{"HTML never closed", "<h1>Open\n\n# Next\n", []string{"1 Next @ # Next"}},
		{"rule and table", "a\n\n---\n\na | b\n--|--\n1 | 2\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, outlineOf(mustLoad(t, newMarkdown(), c.in))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMarkdownTitle(t *testing.T) {
	for in, want := range map[string]string{
		"no heading":                                "",
		"## Only a second level":                    "",
		"Setext\n===\n":                             "Setext",
		"intro\n\n## Two\n\n# *One*\n\n# Other":     "One",
		"<h1 align=center>HTML <i>title</i></h1>\n": "HTML title",
		"---\ntitle: Front\n---\n# Head":            "Front",
		"---\ntitle: 2026\n---\n":                   "2026",
		"---\ntitle: ''\n---\n# Head":               "Head",
		"+++\ntitle = 'Toml'\n+++\n# Head":          "Toml",
	} {
		if got := mustLoad(t, newMarkdown(), in).Title; got != want {
			t.Errorf("%q: title %q, want %q", in, got, want)
		}
	}
}

func TestMarkdownNestedTooDeepIsReadWithoutOutline(t *testing.T) {
	for name, in := range map[string]string{
		"quotes": strings.Repeat(">", 1<<20) + " deep\n",
		"lists":  strings.Repeat("- ", 1<<19) + "deep\n",
		"mixed":  strings.Repeat("> 1. * ", 1<<17) + "deep\n",
		"indent": indentedLists(200),
	} {
		doc := mustLoad(t, newMarkdown(), "# Head\n\n"+in)
		if len(doc.Warnings) != 1 || len(doc.Sections) != 0 || len(doc.Text) != len(in)+8 {
			t.Errorf("%s: %v, %d sections, %d bytes", name, doc.Warnings, len(doc.Sections), len(doc.Text))
		}
	}
	if doc := mustLoad(t, newMarkdown(), "# Head\n\n"+strings.Repeat("> ", 50)+"deep\n"+strings.Repeat("-", 500)+"\n"); len(doc.Sections) != 1 {
		t.Errorf("fifty quotes: %v", doc.Warnings)
	}
}

// indentedLists returns lists nested by ever more indentation.
func indentedLists(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat("  ", i) + "- x\n")
	}
	return b.String()
}

// Definitions by the hundred thousand take some parsers hours.
func TestMarkdownWithManyReferences(t *testing.T) {
	doc := mustLoad(t, newMarkdown(), "# [Title][a]\n\n"+strings.Repeat("[a]: b\n", 100_000))
	if diff := cmp.Diff([]string{"1 Title @ # [Title][a]"}, outlineOf(doc)); diff != "" {
		t.Error(diff)
	}
}

func TestMarkdownWithoutTextIsEmpty(t *testing.T) {
	for _, in := range []string{"", "\n \n", "---\ntitle: x\n---\n"} {
		if doc := mustLoad(t, newMarkdown(), in); doc.State != rag.StateEmpty {
			t.Errorf("%q: state %q", in, doc.State)
		}
	}
}

func TestMarkdownPicturesInTheText(t *testing.T) {
	uri := "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte(pngBytes))
	doc := mustLoad(t, newMarkdown(), "See ![a plan]("+uri+") and\n\n[p]: <"+uri+">\n\n![dot](data:image/gif;base64,R0lGODlh) ![broken](data:image/png;base64,"+strings.Repeat("!", 200)+strings.Repeat("=", 200)+")\n")
	if want := "See ![a plan](data:) and\n\n[p]: <data:>\n\n![dot](data:image/gif;base64,R0lGODlh) ![broken]("; !strings.HasPrefix(doc.Text, want) {
		t.Errorf("text %q", doc.Text)
	}
	if len(doc.Images) != 2 || doc.Images[0].Alt != "a plan" || doc.Images[0].Offset != 4 || string(doc.Images[0].Data) != pngBytes || doc.Text[doc.Images[1].Offset:doc.Images[1].Offset+4] != "data" {
		t.Errorf("%d images", len(doc.Images))
	}
}
