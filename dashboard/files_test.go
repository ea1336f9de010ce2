package dashboard

import (
	"archive/zip"
	"bytes"
	"image"
	"image/png"
	"io"
	"testing"
)

// blanks reads as blanks without end.
type blanks struct{}

func (blanks) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

// bomb is an archive with one file that unpacks to so many bytes.
func bomb(t *testing.T, name string, size int64) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err == nil {
		_, err = io.CopyN(w, blanks{}, size)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// dot is a small picture.
func dot(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 64, 64))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
