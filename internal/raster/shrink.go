// Package raster makes pictures smaller.
package raster

import (
	"image"
	"image/color"
)

// Shrink returns a picture whose longer side is at most side pixels, which is at least 1: each pixel is the mean of those it
// stands for. The bounds of the result begin at (0, 0). A picture that fits is copied; one without pixels, as a GIF may hold,
// becomes transparent.
func Shrink(src image.Image, side int) *image.NRGBA {
	in := src.Bounds()
	w, h := in.Dx(), in.Dy()
	longest := max(w, h, 1)
	side = min(side, longest)
	ow, oh := max(1, w*side/longest), max(1, h*side/longest)
	out := image.NewNRGBA(image.Rect(0, 0, ow, oh))
	for y := range oh {
		for x := range ow {
			out.SetNRGBA(x, y, mean(src, image.Rect(in.Min.X+x*w/ow, in.Min.Y+y*h/oh, in.Min.X+(x+1)*w/ow, in.Min.Y+(y+1)*h/oh)))
		}
	}
	return out
}

// mean is the colour of a part of a picture.
func mean(src image.Image, part image.Rectangle) color.NRGBA {
	var r, g, b, a, n uint64
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			pr, pg, pb, pa := src.At(x, y).RGBA()
			r, g, b, a, n = r+uint64(pr), g+uint64(pg), b+uint64(pb), a+uint64(pa), n+1
		}
	}
	if n == 0 {
		return color.NRGBA{}
	}
	c := color.RGBA64{R: uint16(r / n), G: uint16(g / n), B: uint16(b / n), A: uint16(a / n)} //nolint:gosec // means of 16-bit values
	return color.NRGBAModel.Convert(c).(color.NRGBA)
}
