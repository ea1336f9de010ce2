package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// pythonHTML are the Python peers that read HTML, after the reference: all text of the page's main part.
var pythonHTML = []string{"maintext", "trafilatura", "readability", "markitdown"}

// compareHTML prints what each tool keeps of a page's main part, and what else it keeps.
func compareHTML(ctx context.Context, b *bench) error {
	paths, err := b.files("html", ".html")
	if err != nil {
		return err
	}
	peers := map[string]map[string]reading{}
	for _, name := range pythonHTML {
		if peers[name], err = b.peer(ctx, name, paths, nil); err != nil {
			fmt.Printf("%s is left out: %.200v\n", name, err)
		}
	}
	fmt.Println("| file | tool | words of the main part | of its headings | of its code lines | of its table cells | words from elsewhere | CPU ms |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for _, p := range paths {
		ref := peers["maintext"][p]
		if ref.Error != "" {
			return fmt.Errorf("%s: %s", filepath.Base(p), ref.Error)
		}
		want := splitMain(ref.Text)
		doc, err := b.load(ctx, p)
		if err != nil {
			return err
		}
		ours := reading{Text: doc.Text, CPU: cpuOf(b.rounds, func() error { _, err := b.load(ctx, p); return err })}
		printHTML(p, "ours", want, ours)
		for _, name := range pythonHTML[1:] {
			if r, ok := peers[name][p]; ok {
				printHTML(p, name, want, r)
			}
		}
	}
	return nil
}

// splitMain reads the reference: lines that begin with h:, c: and t: are headings, lines of code and cells; the text of
// the main part follows the line "text:".
func splitMain(ref string) map[string][]string {
	lines, text, _ := strings.Cut(ref, "\ntext:\n")
	out := map[string][]string{"words": words(text)}
	for line := range strings.Lines(lines) {
		kind, rest, _ := strings.Cut(line, ":")
		if s := joined(rest); s != "" {
			out[kind] = append(out[kind], s)
		}
	}
	return out
}

func printHTML(path, tool string, want map[string][]string, r reading) {
	if r.Error != "" {
		fmt.Printf("| %s | %s | %s | | | | | |\n", filepath.Base(path), tool, errorText(r.Error))
		return
	}
	text := codeMark.ReplaceAllString(r.Text, "")
	got := words(text)
	all := " " + strings.Join(got, " ") + " "
	share := func(kind string) string {
		n := 0
		for _, s := range want[kind] {
			if strings.Contains(all, " "+s+" ") {
				n++
			}
		}
		return fmt.Sprintf("%d of %d", n, len(want[kind]))
	}
	fmt.Printf("| %s | %s | %.3f | %s | %s | %s | %.3f | %.0f |\n", filepath.Base(path), tool,
		recall(want["words"], got), share("h"), share("c"), share("t"), 1-recall(got, want["words"]), 1000*r.CPU)
}

// codeMark is what Markdown adds to code: fences with a language.
var codeMark = regexp.MustCompile("(?m)^ *```.*$")
