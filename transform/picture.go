package transform

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif" // decoders of what documents hold
	"image/jpeg"
	"image/png"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/raster"
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
	shown, _, err := image.Decode(bytes.NewReader(img.Data))
	if err != nil {
		return rag.ChatImage{}, &cannotError{"a picture is damaged"}
	}
	if box := shown.Bounds(); max(box.Dx(), box.Dy()) > maxSide {
		shown = raster.Shrink(shown, maxSide)
	}
	var b bytes.Buffer
	if format == "jpeg" {
		err = jpeg.Encode(&b, shown, nil)
	} else {
		format, err = "png", png.Encode(&b, shown)
	}
	if err != nil {
		return rag.ChatImage{}, &cannotError{"a picture cannot be made smaller"}
	}
	return rag.ChatImage{MediaType: "image/" + format, Data: b.Bytes()}, nil
}
