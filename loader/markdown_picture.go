package loader

import (
	"regexp"

	"github.com/seed-d8745b77/rag"
)

// writtenPicture finds a picture written into the text: its alternative text and its data: URI, as the destination of a
// Markdown picture, of a link reference, or of an img element.
var writtenPicture = regexp.MustCompile(`(!\[([^\[\]\n]*)\]\(\s*<?)?(data:image/[a-zA-Z0-9.+-]+(?:;[a-zA-Z0-9=-]+)*,[A-Za-z0-9+/=%_.~-]+)`)

// takePictures moves the pictures that are written into Markdown to images: the megabytes of letters that they are
// would be embedded and found as words. "data:" is left in their place.
func takePictures(text string) (string, []rag.Image, warnings) {
	var out []byte
	var images []rag.Image
	var lost warnings
	var known pictures
	last := 0
	for _, m := range writtenPicture.FindAllStringSubmatchIndex(text, -1) {
		uri := text[m[6]:m[7]]
		if len(uri) < leastPicture {
			continue
		}
		out = append(out, text[last:m[6]]...)
		last = m[7]
		img, err := known.get(uri, func() ([]byte, error) { return dataURI(uri) })
		if err != nil {
			lost.add("a picture could not be read: " + err.Error())
		} else {
			placed := *img
			placed.Offset = len(out) - (m[6] - m[0])
			if m[4] >= 0 {
				placed.Alt = cleanAlt(text[m[4]:m[5]])
			}
			images = append(images, placed)
		}
		out = append(out, "data:"...)
	}
	if last == 0 {
		return text, nil, nil
	}
	return string(append(out, text[last:]...)), images, lost
}
