package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/datafile"
)

// picture is a picture of a document, as load and show print it.
type picture struct {
	ID        string     `json:"id"`
	MediaType string     `json:"media_type"`
	Bytes     int        `json:"bytes"`
	Page      *int       `json:"page"`
	Box       [4]float64 `json:"box"`
	Offset    int        `json:"offset"`
	Alt       string     `json:"alt"`
	Caption   *string    `json:"caption"`
	File      string     `json:"file,omitempty"`
}

// toPictures makes the list that load and show print, with the captions that passages have of the pictures, and the
// files they were written to, by their IDs.
func toPictures(images []rag.Image, chunks []rag.Chunk, files map[string]string) []picture {
	captions := map[string]*string{}
	for _, c := range chunks {
		for _, p := range c.Captions {
			captions[p.ImageID] = &p.Text
		}
	}
	out := make([]picture, len(images))
	for i, m := range images {
		out[i] = picture{m.ID, m.MediaType, len(m.Data), page(m.Page), m.Box, m.Offset, m.Alt, captions[m.ID], files[m.ID]}
	}
	return out
}

// printPictures lists pictures: where each stands, what it is, what its author and what a model says of it, and the
// file that it was written to.
func (a *app) printPictures(pictures []picture) {
	if len(pictures) == 0 {
		return
	}
	p := a.paint(a.out)
	fmt.Fprintln(a.out, p.bold("pictures"))
	for _, m := range pictures {
		line := fmt.Sprintf("  at byte %d · %s · %s", m.Offset, visible(m.MediaType), size(int64(m.Bytes)))
		if m.Page != nil {
			line += fmt.Sprintf(" · page %d", *m.Page)
		}
		if m.Alt != "" {
			line += " · " + oneLine(m.Alt, a.width())
		}
		fmt.Fprintln(a.out, line)
		if m.Caption != nil {
			for _, line := range wrap(visibleText(*m.Caption), a.width()-4) {
				fmt.Fprintf(a.out, "    %s\n", line)
			}
		}
		if m.File != "" {
			fmt.Fprintf(a.out, "    %s\n", p.dim(visible(m.File)))
		}
	}
}

// shownID is how many digits of a picture's ID are shown to people: enough to tell those of a folder apart.
const shownID = 12

// pictureLine tells on one line what a picture of a passage is.
func pictureLine(c *rag.Chunk, m *rag.Image) string {
	parts := []string{"picture " + m.ID[:min(shownID, len(m.ID))], m.MediaType}
	if m.Page > 0 && m.Page != c.Page {
		parts = append(parts, fmt.Sprintf("page %d", m.Page))
	}
	for _, text := range []string{m.Alt, c.Caption(m.ID)} {
		if text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " · ")
}

// pictureExtensions are what files of pictures end in, by media type; the file of another type ends in .bin.
var pictureExtensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/bmp": ".bmp", "image/tiff": ".tiff",
	"image/webp": ".webp", "image/svg+xml": ".svg", "image/x-emf": ".emf", "image/x-wmf": ".wmf", "image/x-pict": ".pict",
}

// writePictures writes pictures to a folder, which it makes if it is missing, and returns the file of each, by ID. A file
// is named by its content, so one that is there already is left as it is if it is the same, and is an error if not.
func writePictures(dir string, images []rag.Image) (files map[string]string, err error) {
	if err := os.MkdirAll(dir, datafile.DirMode); err != nil {
		return nil, err
	}
	files = map[string]string{}
	for _, m := range images {
		if files[m.ID] != "" || m.Data == nil {
			continue
		}
		extension := pictureExtensions[m.MediaType]
		if extension == "" {
			extension = ".bin"
		}
		files[m.ID] = filepath.Join(dir, m.ID+extension)
		if err := writePicture(files[m.ID], m.Data); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// writePicture writes a file, unless there is one of this name with the same content; another content is an error.
func writePicture(path string, data []byte) error {
	err := writeNew(path, string(data))
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, data) {
		return fmt.Errorf("%s is there and is no copy of the picture: name another folder: %w", visible(path), rag.ErrInvalid)
	}
	return nil
}
