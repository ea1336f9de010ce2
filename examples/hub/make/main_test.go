package main

import (
	"bytes"
	"image/png"
	"os"
	"testing"
)

// The picture is the one that the program draws.
func TestPicture(t *testing.T) {
	data, err := os.ReadFile("../docs/img/topology.png")
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	want := topology().Image()
	if img.Bounds() != want.Bounds() {
		t.Fatalf("%v, want %v", img.Bounds(), want.Bounds())
	}
	for y := range want.Bounds().Dy() {
		for x := range want.Bounds().Dx() {
			if r, _, _, _ := img.At(x, y).RGBA(); uint8(r>>8) != want.GrayAt(x, y).Y {
				t.Fatalf("it differs at %d, %d: run go run ./make in examples/hub", x, y)
			}
		}
	}
}
