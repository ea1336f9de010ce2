package docscheck

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	linkTarget = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	codeSpan   = regexp.MustCompile("`([^`\n]+)`")
	plainPath  = regexp.MustCompile(`^[\w.*-]+(/[\w.*-]+)*/?$`)
	heading    = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *#*$`)
)

// DeadPaths returns a sentence for each path in a Markdown file that is not there: targets of links, relative to the
// file, with the heading after a #; and code spans that name a file or directory of the project, relative to root.
// A code span counts as a path if its first element is in root and it has a second one, or if it is a name with the
// ending .md. Links to other sites are not followed. The file is given relative to root, with slashes.
func DeadPaths(root, file, text string) []string {
	var dead []string
	for n, l := range strings.Split(prose(text), "\n") {
		for _, m := range linkTarget.FindAllStringSubmatch(l, -1) {
			if why := deadLink(root, file, m[1]); why != "" {
				dead = append(dead, fmt.Sprintf("%s:%d: link %s: %s", file, n+1, m[1], why))
			}
		}
		for _, m := range codeSpan.FindAllStringSubmatch(l, -1) {
			if isPath(root, m[1]) && !exists(root, m[1]) {
				dead = append(dead, fmt.Sprintf("%s:%d: there is no %s", file, n+1, m[1]))
			}
		}
	}
	return dead
}

// deadLink says why the target of a link is not there, or returns "".
func deadLink(root, file, target string) string {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return ""
	}
	name, anchor, _ := strings.Cut(target, "#")
	if name == "" {
		name = path.Base(file)
	}
	name = path.Join(path.Dir(file), name)
	if name == ".." || strings.HasPrefix(name, "../") {
		return "leads out of the project"
	}
	if !exists(root, name) {
		return "no such file"
	}
	if anchor == "" {
		return ""
	}
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		return err.Error()
	}
	for _, h := range heading.FindAllStringSubmatch(prose(string(text)), -1) {
		if anchorOf(h[1]) == anchor {
			return ""
		}
	}
	return "no such heading"
}

func isPath(root, span string) bool {
	if !plainPath.MatchString(span) {
		return false
	}
	first, rest, deep := strings.Cut(span, "/")
	if !deep {
		return strings.HasSuffix(span, ".md") && span != ".md"
	}
	return rest != "" && first != ".." && !strings.Contains(first, "*") && exists(root, first)
}

// exists reports whether a path or glob pattern names anything below root.
func exists(root, name string) bool {
	found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(strings.TrimSuffix(name, "/"))))
	return err == nil && len(found) > 0
}

// anchorOf returns the name under which a heading can be linked to: lower case, blanks as hyphens, other marks gone.
func anchorOf(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case r == ' ' || r == '-':
			b.WriteByte('-')
		case r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || r > 0x7f:
			b.WriteRune(r)
		}
	}
	return b.String()
}
