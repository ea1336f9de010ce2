package transform

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // decoders of what documents hold
	"image/jpeg"
	"image/png"

	"github.com/seed-d8745b77/rag"
)

// Limits of a picture that is shown to a model.
const (
	mostPixels = 50_000_000 // a page scanned at 600 dpi has 35 million
	mostBytes  = 4 << 20    // of a file that is sent as it is
)

// show returns a picture in a form that chat models take, no side longer than maxSide pixels. errDecoration if a side is
// shorter than minSide, a *cannotError if there is nothing to show.
func show(img *rag.Image, minSide, maxSide int) (rag.ChatImage, error) {
	if len(img.Data) == 0 {
		return rag.ChatImage{}, &cannotError{"a picture's data was not read"}
	}
	config, format, err := image.DecodeConfig(bytes.NewReader(img.Data))
	if err != nil {
		if img.MediaType == "image/webp" && len(img.Data) <= mostBytes { // models read it; the standard library does not
			return rag.ChatImage{MediaType: img.MediaType, Data: img.Data}, nil
		}
		return rag.ChatImage{}, &cannotError{"a picture is no PNG, JPEG, GIF or WebP that can be read"}
	}
	switch {
	case min(config.Width, config.Height) < minSide:
		return rag.ChatImage{}, errDecoration
	case config.Width > mostPixels/config.Height:
		return rag.ChatImage{}, &cannotError{fmt.Sprintf("a picture has more than %d million pixels", mostPixels/1_000_000)}
	case max(config.Width, config.Height) <= maxSide && len(img.Data) <= mostBytes && format != "gif":
		return rag.ChatImage{MediaType: "image/" + format, Data: img.Data}, nil
	}
	whole, _, err := image.Decode(bytes.NewReader(img.Data))
	if err != nil {
		return rag.ChatImage{}, &cannotError{"a picture is damaged"}
	}
	small := shrink(whole, maxSide)
	var b bytes.Buffer
	if format == "jpeg" {
		err = jpeg.Encode(&b, small, nil)
	} else {
		format, err = "png", png.Encode(&b, small)
	}
	if err != nil {
		return rag.ChatImage{}, &cannotError{"a picture cannot be made smaller"}
	}
	return rag.ChatImage{MediaType: "image/" + format, Data: b.Bytes()}, nil
}

// shrink returns the picture with no side longer than maxSide: each pixel is the mean of those that fall on it.
func shrink(src image.Image, maxSide int) image.Image {
	box := src.Bounds()
	w, h := box.Dx(), box.Dy()
	if max(w, h) <= maxSide {
		return src
	}
	scale := float64(maxSide) / float64(max(w, h))
	nw, nh := max(1, int(float64(w)*scale)), max(1, int(float64(h)*scale))
	dst := image.NewRGBA(image.Rect(0, 0, nw, nh))
	for y := range nh {
		for x := range nw {
			dst.Set(x, y, mean(src, image.Rect(
				box.Min.X+x*w/nw, box.Min.Y+y*h/nh, box.Min.X+max((x+1)*w/nw, x*w/nw+1), box.Min.Y+max((y+1)*h/nh, y*h/nh+1))))
		}
	}
	return dst
}

// mean is the mean colour of an area.
func mean(src image.Image, area image.Rectangle) color.Color {
	var r, g, b, a, n uint64
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			pr, pg, pb, pa := src.At(x, y).RGBA()
			r, g, b, a, n = r+uint64(pr), g+uint64(pg), b+uint64(pb), a+uint64(pa), n+1
		}
	}
	return color.RGBA64{R: uint16(r / n), G: uint16(g / n), B: uint16(b / n), A: uint16(a / n)} //nolint:gosec // means of 16-bit values
}
