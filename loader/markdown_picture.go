package loader

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/seed-d8745b77/rag"
)

// writtenPicture finds a picture written into the text: its alternative text and its data: URI, as the destination of a
// Markdown picture, of a link reference, or of an img element.
var writtenPicture = regexp.MustCompile(`(!\[([^\[\]\n]*)\]\(\s*<?)?(data:image/[a-zA-Z0-9.+-]+(?:;[a-zA-Z0-9=-]+)*,[A-Za-z0-9+/=%_.~-]+)`)

// markdownPictures collects the pictures of a text.
type markdownPictures struct {
	pictures pictures
	images   []rag.Image
	lost     warnings
}

// takeWritten moves the pictures that are written into Markdown to images: the megabytes of letters that they are
// would be embedded and found as words. "data:" is left in their place.
func (p *markdownPictures) takeWritten(text string) string {
	var out []byte
	last := 0
	for _, m := range writtenPicture.FindAllStringSubmatchIndex(text, -1) {
		uri := text[m[6]:m[7]]
		if len(uri) < leastPicture {
			continue
		}
		out = append(out, text[last:m[6]]...)
		last = m[7]
		alt := ""
		if m[4] >= 0 {
			alt = text[m[4]:m[5]]
		}
		p.add(uri, alt, len(out)-(m[6]-m[0]), func() ([]byte, error) { return dataURI(uri) })
		out = append(out, "data:"...)
	}
	if last == 0 {
		return text
	}
	return string(append(out, text[last:]...))
}

// add keeps a picture that stands at an offset.
func (p *markdownPictures) add(name, alt string, offset int, read func() ([]byte, error)) {
	img, err := p.pictures.get(name, read)
	if err != nil {
		p.lost.lostPicture(err)
		return
	}
	placed := *img
	placed.Offset, placed.Alt = offset, cleanAlt(alt)
	p.images = append(p.images, placed)
}

var (
	// shownPicture finds ![alt](path "title"), ![alt](<path>), ![alt][label], ![label] and <img …>: the alternative text, the path
	// in either form, the label, the element.
	shownPicture = regexp.MustCompile(`!\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\](?:\(\s*(?:<([^<>\n]*)>|((?:[^\s()<>]|\([^\s()]*\))+))|\[([^\[\]\n]*)\])?|(<[iI][mM][gG]\s[^<>]*>)`)
	// pictureReference is a link reference definition with its destination.
	pictureReference = regexp.MustCompile(`(?m)^ {0,3}\[([^\[\]\n]+)\]:[ \t]*<?([^\s<>]+)`)
	// markdownCode is what shows its text as it is: fenced code, to the next fence of the same mark, and code in a line.
	markdownCode = regexp.MustCompile("(?ms)^ {0,3}```.*?(?:^ {0,3}```|\\z)|^ {0,3}~~~.*?(?:^ {0,3}~~~|\\z)|`` .*? ``|`[^`\n]+`")
)

// addBeside keeps the pictures that the text shows and that lie beside the source.
func (p *markdownPictures) addBeside(ctx context.Context, src rag.Source, text string) {
	if src.Beside == nil || !strings.Contains(text, "![") && !strings.Contains(strings.ToLower(text), "<img") {
		return
	}
	code := markdownCode.FindAllStringIndex(text, -1)
	var labels map[string]string
	for _, m := range shownPicture.FindAllStringSubmatchIndex(text, -1) {
		if ctx.Err() != nil {
			return
		}
		for len(code) > 0 && code[0][1] <= m[0] {
			code = code[1:]
		}
		if len(code) > 0 && code[0][0] <= m[0] {
			continue
		}
		group := func(n int) string {
			if m[2*n] < 0 {
				return ""
			}
			return text[m[2*n]:m[2*n+1]]
		}
		alt, ref := group(1), group(2)+group(3)
		switch {
		case group(5) != "":
			alt, ref = imgElement(group(5))
		case ref == "":
			if labels == nil {
				labels = referenceTargets(text)
			}
			ref = labels[referenceLabel(firstOf(group(4), alt))]
		}
		if name := besideName(ref); name != "" {
			p.add(name, alt, m[0], func() ([]byte, error) { return readBeside(ctx, src, name) })
		}
	}
	slices.SortStableFunc(p.images, func(a, b rag.Image) int { return cmp.Compare(a.Offset, b.Offset) })
}

// imgElement returns what an img element says.
func imgElement(tag string) (alt, src string) {
	z := html.NewTokenizer(strings.NewReader(tag))
	z.Next()
	token := z.Token()
	return attr(token.Attr, "alt"), attr(token.Attr, "src")
}

// referenceTargets returns the destinations that a text defines, by label; the first of a label counts.
func referenceTargets(text string) map[string]string {
	targets := map[string]string{}
	for _, m := range pictureReference.FindAllStringSubmatch(text, maxReferences) {
		if label := referenceLabel(m[1]); targets[label] == "" {
			targets[label] = m[2]
		}
	}
	return targets
}

// referenceLabel makes labels equal that Markdown takes for the same.
func referenceLabel(label string) string {
	return strings.ToLower(strings.Join(strings.Fields(label), " "))
}
