package mcpadapter

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"testing"
)

// noise is a picture that does not compress.
func noise(w, h int, alpha uint8) []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		v := rnd.Uint32()
		img.SetNRGBA(i%w, i/w, color.NRGBA{R: uint8(v), G: uint8(v >> 8), B: uint8(v >> 16), A: alpha})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func TestPicturesFitIntoAResult(t *testing.T) {
	small := noise(40, 30, 255)
	if p, err := scaled(small, "image/png"); err != nil || !bytes.Equal(p.data, small) || p.mediaType != "image/png" {
		t.Errorf("a small picture is changed: %v", err)
	}
	for name, data := range map[string][]byte{"large": noise(900, 1800, 255), "one that can be seen through": noise(800, 700, 100)} {
		p, err := scaled(data, "image/png")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		c, _, err := image.DecodeConfig(bytes.NewReader(p.data))
		if n := base64.StdEncoding.EncodedLen(len(p.data)); err != nil || n > 1<<20 || max(c.Width, c.Height) > maxPictureSide {
			t.Errorf("%s: %d bytes as base64, %d×%d, %v", name, n, c.Width, c.Height, err)
		}
	}
	if _, err := scaled([]byte("<svg/>"), "image/svg+xml"); err == nil {
		t.Error("what cannot be decoded is shown")
	}
}

func TestEncodeOpaquePicturesAsJPEG(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 10, 5))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	p, err := encode(img)
	if err != nil || p.mediaType != "image/jpeg" {
		t.Fatal(p.mediaType, err)
	}
	if _, err := jpeg.Decode(bytes.NewReader(p.data)); err != nil {
		t.Error(err)
	}
}
