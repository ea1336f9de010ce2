package pdf

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"slices"

	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/structs"
)

// Limits of pictures.
const (
	leastPixels = 16        // a side with fewer is a rule, a bullet or a spacer, in pixels
	leastSide   = 18.0      // the same on the page, in points: a quarter of an inch
	maxPixels   = 40 << 20  // of one picture: an A4 page at 600 dpi has 35 million
	maxRendered = 4 << 20   // pixels of a picture that is not stored as it is: an A4 page at 200 dpi has fewer, and those who look at pictures make them smaller yet
	maxPictures = 256 << 20 // bytes of all pictures of a file
)

// encoded is a picture as a file of its own.
type encoded struct {
	id    string // digest of data
	media string
	data  []byte
}

// picture is a picture where it stands.
type picture struct {
	*encoded
	box box
}

var errTooMany = errors.New("pictures are larger than 256 MiB in all")

// picture keeps an image that is no decoration.
func (o *objectReader) picture(obj references.FPDF_PAGEOBJECT, to matrix) {
	b, ok := o.bounds(obj)
	if !ok {
		return
	}
	b = to.box(b)
	size, err := o.p.FPDFImageObj_GetImagePixelSize(&requests.FPDFImageObj_GetImagePixelSize{ImageObject: obj})
	if err != nil || min(size.Width, size.Height) < leastPixels || min(b.width(), b.height()) < leastSide {
		return
	}
	if size.Width > maxPixels || size.Height > maxPixels || size.Width*size.Height > maxPixels {
		o.lose(fmt.Sprintf("a picture of %d by %d pixels is too large to be read", size.Width, size.Height))
		return
	}
	enc, err := o.encode(obj, to, int(size.Width), int(size.Height))
	if err != nil {
		o.lose("a picture could not be read: " + err.Error())
		return
	}
	o.raw.pictures = append(o.raw.pictures, picture{enc, b})
}

// encode returns the image as it stands in the file where that is a JPEG, else as a PNG. What is shown in several places
// is encoded once.
func (o *objectReader) encode(obj references.FPDF_PAGEOBJECT, to matrix, w, h int) (*encoded, error) {
	m := o.matrix(obj).then(to)
	var stored []byte
	if res, err := o.p.FPDFImageObj_GetImageDataRaw(&requests.FPDFImageObj_GetImageDataRaw{ImageObject: obj}); err == nil {
		stored = res.Data
	}
	across, up := math.Hypot(m.a, m.b), math.Hypot(m.c, m.d)
	if across == 0 || up == 0 {
		return nil, errors.New("it has no extent")
	}
	turned := matrix{a: m.a / across, b: m.b / across, c: m.c / up, d: m.d / up} // as on the page, without its size there
	key := sha256.Sum256(fmt.Appendf(slices.Clip(stored), "%d %d %.2f %.2f %.2f %.2f", w, h, turned.a, turned.b, turned.c, turned.d))
	if known, ok := o.encoded[key]; ok && len(stored) > 0 {
		return known, nil
	}
	enc := &encoded{media: "image/jpeg", data: stored}
	if !upright(turned) || !o.isJPEG(obj, stored) {
		img, err := o.render(obj, turned, w, h)
		if err != nil {
			return nil, err
		}
		var buf bytes.Buffer
		if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&buf, img); err != nil {
			return nil, err
		}
		enc = &encoded{media: "image/png", data: buf.Bytes()}
	}
	if o.bytes += len(enc.data); o.bytes > maxPictures {
		return nil, errTooMany
	}
	sum := sha256.Sum256(enc.data)
	enc.id = hex.EncodeToString(sum[:])
	o.encoded[key] = enc
	return enc, nil
}

// upright reports whether the page shows an image as it is stored, only larger or smaller.
func upright(turned matrix) bool {
	const straight = 1e-3
	return turned.a > 0 && turned.d > 0 && math.Abs(turned.b)+math.Abs(turned.c) < straight
}

// isJPEG reports whether the stored bytes are a file that others can show: in grey or RGB, with nothing cut out.
func (o *objectReader) isJPEG(obj references.FPDF_PAGEOBJECT, stored []byte) bool {
	count, err := o.p.FPDFImageObj_GetImageFilterCount(&requests.FPDFImageObj_GetImageFilterCount{ImageObject: obj})
	if err != nil || count.Count != 1 {
		return false
	}
	filter, err := o.p.FPDFImageObj_GetImageFilter(&requests.FPDFImageObj_GetImageFilter{ImageObject: obj})
	if err != nil || filter.ImageFilter != "DCTDecode" {
		return false
	}
	if t, err := o.p.FPDFPageObj_HasTransparency(&requests.FPDFPageObj_HasTransparency{PageObject: obj}); err != nil || t.HasTransparency {
		return false
	}
	c, err := jpeg.DecodeConfig(bytes.NewReader(stored))
	return err == nil && (c.ColorModel == color.YCbCrModel || c.ColorModel == color.GrayModel)
}

// render draws an image with its masks in the pixels it has, or fewer where it is very large, turned as it is on the page: the engine draws it as large
// as its matrix says, which thus is made to say the size in pixels.
func (o *objectReader) render(obj references.FPDF_PAGEOBJECT, turned matrix, w, h int) (image.Image, error) {
	shrink := min(1, math.Sqrt(float64(maxRendered)/float64(w*h)))
	sx, sy := shrink*float64(w), shrink*float64(h)
	scaled := structs.FPDF_FS_MATRIX{A: float32(turned.a * sx), B: float32(turned.b * sx), C: float32(turned.c * sy), D: float32(turned.d * sy)}
	if _, err := o.p.FPDFPageObj_SetMatrix(&requests.FPDFPageObj_SetMatrix{PageObject: obj, Transform: scaled}); err != nil {
		return nil, err
	}
	res, err := o.p.FPDFImageObj_GetRenderedBitmap(&requests.FPDFImageObj_GetRenderedBitmap{Document: o.doc, Page: o.page, ImageObject: obj})
	if err != nil {
		return nil, err
	}
	img, err := toImage(o.p, res.Bitmap)
	_, freed := o.p.FPDFBitmap_Destroy(&requests.FPDFBitmap_Destroy{Bitmap: res.Bitmap})
	return img, errors.Join(err, freed)
}

// toImage copies a bitmap of the engine.
func toImage(p instance, ref references.FPDF_BITMAP) (image.Image, error) {
	format, err1 := p.FPDFBitmap_GetFormat(&requests.FPDFBitmap_GetFormat{Bitmap: ref})
	width, err2 := p.FPDFBitmap_GetWidth(&requests.FPDFBitmap_GetWidth{Bitmap: ref})
	height, err3 := p.FPDFBitmap_GetHeight(&requests.FPDFBitmap_GetHeight{Bitmap: ref})
	stride, err4 := p.FPDFBitmap_GetStride(&requests.FPDFBitmap_GetStride{Bitmap: ref})
	buffer, err5 := p.FPDFBitmap_GetBuffer(&requests.FPDFBitmap_GetBuffer{Bitmap: ref})
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return nil, err
	}
	size := map[enums.FPDF_BITMAP_FORMAT]int{
		enums.FPDF_BITMAP_FORMAT_GRAY: 1, enums.FPDF_BITMAP_FORMAT_BGR: 3, enums.FPDF_BITMAP_FORMAT_BGRX: 4, enums.FPDF_BITMAP_FORMAT_BGRA: 4,
	}[format.Format]
	w, h := width.Width, height.Height
	if size == 0 || w <= 0 || h <= 0 || w*size > stride.Stride || len(buffer.Buffer) < stride.Stride*h {
		return nil, fmt.Errorf("a bitmap of format %d, %d by %d pixels", format.Format, w, h)
	}
	if size == 1 {
		img := image.NewGray(image.Rect(0, 0, w, h))
		for y := range h {
			copy(img.Pix[y*img.Stride:][:w], buffer.Buffer[y*stride.Stride:])
		}
		return img, nil
	}
	if grey := greyOf(buffer.Buffer, w, h, stride.Stride, size); grey != nil {
		return grey, nil
	}
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		from, line := buffer.Buffer[y*stride.Stride:], img.Pix[y*img.Stride:]
		for x := range w {
			px, out := from[x*size:x*size+size], line[x*4:x*4+4]
			out[0], out[1], out[2], out[3] = px[2], px[1], px[0], 255
			if format.Format == enums.FPDF_BITMAP_FORMAT_BGRA {
				out[3] = px[3]
			}
		}
	}
	return img, nil
}

// greyOf returns a bitmap of colours as one of greys, which takes a quarter of the room, or nil if it has a colour or is
// transparent somewhere.
func greyOf(pixels []byte, w, h, stride, size int) image.Image {
	img := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		from, line := pixels[y*stride:], img.Pix[y*img.Stride:]
		for x := range w {
			px := from[x*size : x*size+size]
			if px[0] != px[1] || px[1] != px[2] || size == 4 && px[3] != 255 {
				return nil
			}
			line[x] = px[0]
		}
	}
	return img
}
