package pdf

import (
	"strconv"
	"strings"
)

// Words of links stand between marks while lines are joined: \x0E, the link's number, \x0E, the words, \x0F. No word
// has these characters of its own, since controls are dropped.
const (
	linkBegins = '\x0E'
	linkEnds   = '\x0F'
)

// markLink writes the end of one link and the beginning of another, numbers as in word.link.
func markLink(b *strings.Builder, from, to int) {
	if from == to {
		return
	}
	if from > 0 {
		b.WriteRune(linkEnds)
	}
	if to > 0 {
		b.WriteRune(linkBegins)
		b.WriteString(strconv.Itoa(to))
		b.WriteRune(linkBegins)
	}
}

// resolveLinks returns a text without the marks, and with [words](address) in their place. Parts of one link with
// nothing but a blank or a hyphen between are one.
func resolveLinks(text string, addresses []string) (plain, linked string) {
	if !strings.ContainsRune(text, linkBegins) {
		return text, text
	}
	var p, l, words strings.Builder
	open := 0
	flush := func() {
		if open > 0 {
			l.WriteString(linkTo(words.String(), addresses[open-1]))
			words.Reset()
			open = 0
		}
	}
	for text != "" {
		before, rest, found := strings.Cut(text, string(linkBegins))
		blank := strings.TrimRight(before, " \n-") == ""
		if !found || !blank {
			flush()
			l.WriteString(before)
		}
		p.WriteString(before)
		if !found {
			break
		}
		number, rest, _ := strings.Cut(rest, string(linkBegins))
		inside, rest, _ := strings.Cut(rest, string(linkEnds))
		n, _ := strconv.Atoi(number)
		if n != open {
			flush()
		}
		if blank && n == open {
			words.WriteString(before)
		} else if blank {
			l.WriteString(before)
		}
		open = n
		words.WriteString(inside)
		p.WriteString(inside)
		text = rest
	}
	flush()
	return p.String(), l.String()
}

// linkTo is a link in Markdown, or its words alone where they say the address or would break the link.
func linkTo(words, address string) string {
	if strings.Contains(bareAddress(words), bareAddress(address)) || strings.ContainsAny(words, "[]\n") || strings.TrimSpace(words) == "" {
		return words
	}
	return "[" + words + "](" + address + ")"
}

// bareAddress is an address as people write it: without scheme and blanks, in lower case.
func bareAddress(s string) string {
	s = strings.ToLower(strings.Join(strings.Fields(s), ""))
	for _, scheme := range []string{"https://", "http://", "mailto:"} {
		s = strings.TrimPrefix(s, scheme)
	}
	return strings.TrimSuffix(s, "/")
}
