package raster_test

import (
	"image"
	"image/color"
	"testing"

	"github.com/seed-d8745b77/rag/internal/raster"
)

func TestShrinkKeepsColours(t *testing.T) {
	img := image.NewNRGBA(image.Rect(5, 5, 105, 55)) // left half red, right half blue
	for y := 5; y < 55; y++ {
		for x := 5; x < 105; x++ {
			img.SetNRGBA(x, y, color.NRGBA{R: 255, A: 255})
			if x >= 55 {
				img.SetNRGBA(x, y, color.NRGBA{B: 255, A: 255})
			}
		}
	}
	got := raster.Shrink(img, 10)
	if got.Bounds() != image.Rect(0, 0, 10, 5) || got.NRGBAAt(0, 0) != (color.NRGBA{R: 255, A: 255}) || got.NRGBAAt(9, 4) != (color.NRGBA{B: 255, A: 255}) {
		t.Errorf("%v, %v, %v", got.Bounds(), got.NRGBAAt(0, 0), got.NRGBAAt(9, 4))
	}
}

func TestShrinkBounds(t *testing.T) {
	for _, c := range []struct{ w, h, side, wantW, wantH int }{
		{100, 50, 10, 10, 5},
		{3000, 7, 1568, 1568, 3},
		{1000, 1, 10, 10, 1}, // no side vanishes
		{7, 5, 7, 7, 5},
		{7, 5, 100, 7, 5},
		{0, 0, 10, 1, 1},
		{0, 5, 10, 1, 5},
	} {
		got := raster.Shrink(image.NewNRGBA(image.Rect(3, 3, 3+c.w, 3+c.h)), c.side).Bounds()
		if got != image.Rect(0, 0, c.wantW, c.wantH) {
			t.Errorf("%d×%d to %d: %v", c.w, c.h, c.side, got)
		}
	}
}
