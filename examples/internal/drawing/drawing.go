// Package drawing makes the diagrams of the sample documents: boxes, arrows and capitals, in black on white.
package drawing

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
)

// Canvas is a picture that is drawn on.
type Canvas struct{ img *image.Gray }

// New returns a white canvas; its size is in pixels.
func New(width, height int) *Canvas {
	img := image.NewGray(image.Rect(0, 0, width, height))
	draw.Draw(img, img.Bounds(), image.White, image.Point{}, draw.Src)
	return &Canvas{img}
}

// Image returns the picture.
func (c *Canvas) Image() *image.Gray { return c.img }

// PNG returns the picture, encoded.
func (c *Canvas) PNG() ([]byte, error) {
	var b bytes.Buffer
	err := png.Encode(&b, c.img)
	return b.Bytes(), err
}

// fill blackens a rectangle.
func (c *Canvas) fill(x0, y0, x1, y1 int) {
	draw.Draw(c.img, image.Rect(x0, y0, x1, y1), image.NewUniform(color.Gray{Y: 0x20}), image.Point{}, draw.Src)
}

// Box draws a frame with lines of text in its middle.
func (c *Canvas) Box(x, y, width, height int, lines ...string) {
	const pen = 2
	c.fill(x, y, x+width, y+pen)
	c.fill(x, y+height-pen, x+width, y+height)
	c.fill(x, y, x+pen, y+height)
	c.fill(x+width-pen, y, x+width, y+height)
	top := y + (height-len(lines)*lineHeight)/2 + (lineHeight-glyphHeight*dot)/2
	for i, l := range lines {
		c.Text(x+(width-Width(l))/2, top+i*lineHeight, l)
	}
}

// Down draws an arrow downwards, from y0 to its point at y1.
func (c *Canvas) Down(x, y0, y1 int) {
	c.fill(x-1, y0, x+1, y1)
	for i := range 8 {
		c.fill(x-i, y1-i-1, x+i, y1-i)
	}
}

// Right draws an arrow to the right, from x0 to its point at x1.
func (c *Canvas) Right(x0, x1, y int) {
	c.fill(x0, y-1, x1, y+1)
	for i := range 8 {
		c.fill(x1-i-1, y-i, x1-i, y+i)
	}
}

// Glyphs are three dots wide and five high.
const (
	dot         = 3 // pixels of a dot
	glyphWidth  = 3
	glyphHeight = 5
	advance     = (glyphWidth + 1) * dot
	lineHeight  = (glyphHeight + 3) * dot
)

// Width returns how many pixels a text takes.
func Width(text string) int { return max(0, len(text)*advance-dot) }

// Text writes capitals, digits and a few signs; what has no glyph stays blank.
func (c *Canvas) Text(x, y int, text string) {
	for i := range len(text) {
		bits := glyphs[text[i]]
		for p := range glyphWidth * glyphHeight {
			if bits>>(glyphWidth*glyphHeight-1-p)&1 == 1 {
				left, top := x+i*advance+p%glyphWidth*dot, y+p/glyphWidth*dot
				c.fill(left, top, left+dot, top+dot)
			}
		}
	}
}

// glyphs has the rows of each character from above, three bits a row.
var glyphs = map[byte]uint16{
	'A': 0b010_101_111_101_101, 'B': 0b110_101_110_101_110, 'C': 0b011_100_100_100_011, 'D': 0b110_101_101_101_110,
	'E': 0b111_100_110_100_111, 'F': 0b111_100_110_100_100, 'G': 0b011_100_101_101_011, 'H': 0b101_101_111_101_101,
	'I': 0b111_010_010_010_111, 'J': 0b001_001_001_101_010, 'K': 0b101_101_110_101_101, 'L': 0b100_100_100_100_111,
	'M': 0b101_111_111_101_101, 'N': 0b110_101_101_101_101, 'O': 0b010_101_101_101_010, 'P': 0b110_101_110_100_100,
	'Q': 0b010_101_101_111_011, 'R': 0b110_101_110_101_101, 'S': 0b011_100_010_001_110, 'T': 0b111_010_010_010_010,
	'U': 0b101_101_101_101_111, 'V': 0b101_101_101_101_010, 'W': 0b101_101_111_111_101, 'X': 0b101_101_010_101_101,
	'Y': 0b101_101_010_010_010, 'Z': 0b111_001_010_100_111,
	'0': 0b111_101_101_101_111, '1': 0b010_110_010_010_111, '2': 0b110_001_010_100_111, '3': 0b110_001_010_001_110,
	'4': 0b101_101_111_001_001, '5': 0b111_100_110_001_110, '6': 0b011_100_111_101_111, '7': 0b111_001_010_010_010,
	'8': 0b111_101_111_101_111, '9': 0b111_101_111_001_110,
	'.': 0b000_000_000_000_010, '-': 0b000_000_111_000_000, '?': 0b110_001_010_000_010, '/': 0b001_001_010_100_100, ':': 0b000_010_000_010_000,
}
