package cli

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/seed-d8745b77/rag"
)

// place shows a URI to a reader: a file as its path, relative to the working directory where it lies below it, and
// with what a terminal would act on escaped. The number of a further document of a file stays behind it.
func place(uri string) string {
	path, ok := rag.DocumentPath(uri)
	if !ok {
		return visible(uri)
	}
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, path); err == nil && filepath.IsLocal(rel) {
			path = rel
		}
	}
	return visible(path)
}

// toURI turns what a user names a document by, a path or a URI, into its URI. A file that is there goes before a URI
// without slashes, since names may hold colons. What place writes is read here.
func toURI(name string) (string, error) {
	// One letter before the colon is a drive, not a scheme.
	if u, err := url.Parse(name); err == nil && len(u.Scheme) > 1 {
		if strings.Contains(name, "://") || !exists(name) {
			return name, nil
		}
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	if source := rag.SourceURI(abs); source != abs && exists(abs) && !isFile(source) {
		return rag.FileURI(abs), nil // its own name ends as a further document's does
	}
	return rag.DocumentURI(abs), nil
}

// isFile reports whether there is a file of this name that may give documents.
func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && !st.IsDir()
}

// exists reports whether there is a file or folder of this name, as far as can be seen.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// isFolder reports whether an argument means everything below it: a folder, or a name that ends as one.
func isFolder(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.IsDir() || strings.HasSuffix(name, "/") || strings.HasSuffix(name, string(filepath.Separator))
}

// visible returns s on one line, with characters that cannot be seen, and bytes that are no UTF-8, escaped as in Go.
func visible(s string) string {
	return escape(s, unicode.IsGraphic)
}

// visibleText is visible for text of several lines: line ends and invisible joiners stay, since scripts need them.
// Control characters and overrides of the writing direction do not: a document must not steer the terminal.
func visibleText(s string) string {
	return escape(strings.ReplaceAll(s, "\t", "    "), func(r rune) bool {
		return r == '\n' || !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r)
	})
}

func escape(s string, keep func(rune) bool) string {
	var b strings.Builder
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				fmt.Fprintf(&b, `\x%02x`, s[i])
				continue
			}
		}
		if keep(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
	}
	return b.String()
}

// wrap cuts text into lines of at most width columns, at blanks where there are any.
func wrap(text string, width int) []string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		for uniseg.StringWidth(line) > width {
			cut := cutAt(line, width)
			lines = append(lines, strings.TrimRight(line[:cut], " "))
			line = strings.TrimLeft(line[cut:], " ")
		}
		lines = append(lines, line)
	}
	return lines
}

// cutAt returns the byte offset at which a line that is too long is cut: after the last blank that fits, or else
// after the last character that does, and always after the first.
func cutAt(line string, width int) int {
	end, blank, used := 0, 0, 0
	g := uniseg.NewGraphemes(line)
	for g.Next() {
		used += g.Width()
		if used > width && end > 0 {
			break
		}
		_, end = g.Positions()
		if g.Str() == " " && strings.TrimLeft(line[:end], " ") != "" {
			blank = end
		}
	}
	if blank > 0 {
		return blank
	}
	return end
}

// oneLine returns text with its white space folded, cut to width columns.
func oneLine(text string, width int) string {
	text = visible(strings.Join(strings.Fields(text), " "))
	if uniseg.StringWidth(text) <= width {
		return text
	}
	end, used := 0, 1 // the ellipsis
	g := uniseg.NewGraphemes(text)
	for g.Next() {
		if used += g.Width(); used > width {
			break
		}
		_, end = g.Positions()
	}
	return strings.TrimRight(text[:end], " ") + "…"
}
