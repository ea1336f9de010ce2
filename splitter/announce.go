package splitter

import (
	"regexp"
	"strings"
)

// signature is a line that declares something callable: up to three words ("async def", "public static void"), a name
// directly followed by its parameters, and a result. Markup is taken off before.
var signature = regexp.MustCompile(`^(?:[A-Za-z_][\w.\[\]<>]*\s+){0,3}[A-Za-z_~][\w.:<>]*[(\[].*[)\]](?:\s*(?:->|→|=>|:|\bthrows\b|\[source\]|¶|#).*)?;?$`)

// longestSignature bounds, in bytes, what is tried as a signature: those with dozens of parameters have a thousand.
const longestSignature = 2000

// announces reports whether block a only makes sense with the beginning of block b: the term of a definition, the
// signature of an API entry, or a sentence that ends in a colon before a list, code or table.
func announces(text string, a, b block) bool {
	if a.kind == fence || a.kind == table {
		return false
	}
	first, last := strings.TrimSpace(text[a.start:a.end]), text[a.start:a.end]
	if b.kind == paragraph && strings.HasPrefix(strings.TrimLeft(text[b.start:b.end], " \t"), ": ") {
		return true
	}
	if strings.HasSuffix(strings.TrimRight(last, " \t*_"), ":") || strings.HasSuffix(last, "：") {
		return b.kind != paragraph
	}
	return a.kind == paragraph && (b.kind == paragraph || b.kind == item) && isSignature(first)
}

var markup = strings.NewReplacer("`", "", "**", "", "\\", "")

// isSignature reports whether a paragraph is nothing but the signature of a function, method or class.
func isSignature(s string) bool {
	if len(s) > longestSignature || strings.Contains(s, "\n") {
		return false
	}
	return signature.MatchString(markup.Replace(s))
}
