package mcpadapter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // pictures of documents
	"image/jpeg"
	"image/png"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/raster"
)

const (
	// maxPictures is how many pictures a result shows: each costs a model about as much as a page of text.
	maxPictures = 4
	// maxPictureBytes keeps a picture below 1 MB when it is written as base64, which takes 4 bytes for 3.
	maxPictureBytes = 1 << 20 / 4 * 3
	// maxPictureSide is the longest side in pixels: models scale larger pictures down before they look at them.
	maxPictureSide = 1568
	// maxPixels is the largest picture that is decoded; a small file can unpack to any size.
	maxPixels = 64 << 20
	// jpegQuality is where the blocks of the encoding are not yet seen.
	jpegQuality = 85
)

// picture is an encoded picture.
type picture struct {
	data      []byte
	mediaType string
}

// picturesOf reads the pictures in the best passages and says in the text which they are.
func (c *call) picturesOf(ctx context.Context, res *rag.Result, b *strings.Builder) ([]picture, error) {
	var list []picture
	seen := map[string]bool{}
	for i := range res.Hits {
		chunk := &res.Hits[i].Chunk
		for _, img := range chunk.Images {
			if len(list) == maxPictures || seen[img.ID] {
				continue
			}
			seen[img.ID] = true
			// Whoever sees the passage sees the picture: a view would look for it among all its passages.
			data, err := c.shared.engine.Image(ctx, res.Collection, img.ID)
			if errors.Is(err, rag.ErrNotFound) {
				continue // gone since the search
			}
			if err != nil {
				return nil, err
			}
			p, err := scaled(data, img.MediaType)
			if err != nil {
				c.notes = append(c.notes, rag.Note{Stage: "picture", Reason: fmt.Sprintf("a picture of [%d] is not shown: %v", i+1, err)})
				continue
			}
			list = append(list, p)
			fmt.Fprintf(b, "Picture %d is from [%d]", len(list), i+1)
			if caption := chunk.Caption(img.ID); caption != "" {
				fmt.Fprintf(b, ": %s", caption)
			} else if img.Alt != "" {
				fmt.Fprintf(b, ": %s", img.Alt)
			}
			b.WriteString("\n")
		}
	}
	return list, nil
}

// scaled returns a picture that fits into a result: as it is, or smaller.
func scaled(data []byte, mediaType string) (picture, error) {
	c, format, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case err != nil && len(data) <= maxPictureBytes && mediaType == "image/webp":
		return picture{data, mediaType}, nil // hosts read it, Go's library does not
	case err != nil:
		return picture{}, fmt.Errorf("pictures of type %s cannot be shown", mediaType)
	case c.Width*c.Height > maxPixels || c.Width <= 0 || c.Height <= 0:
		return picture{}, fmt.Errorf("%d×%d pixels are too many", c.Width, c.Height)
	case len(data) <= maxPictureBytes && max(c.Width, c.Height) <= maxPictureSide:
		return picture{data, "image/" + format}, nil
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return picture{}, err
	}
	for side := min(maxPictureSide, max(c.Width, c.Height)); side > 0; side = side * 3 / 4 {
		p, err := encode(raster.Shrink(img, side))
		if err != nil || len(p.data) <= maxPictureBytes {
			return p, err
		}
	}
	return picture{}, errors.New("it cannot be made small enough")
}

// encode writes a picture as JPEG, and one that can be seen through as PNG.
func encode(img *image.NRGBA) (picture, error) {
	var b bytes.Buffer
	if img.Opaque() {
		err := jpeg.Encode(&b, img, &jpeg.Options{Quality: jpegQuality})
		return picture{b.Bytes(), "image/jpeg"}, err
	}
	err := png.Encode(&b, img)
	return picture{b.Bytes(), "image/png"}, err
}
