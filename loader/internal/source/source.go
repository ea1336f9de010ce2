// Package source reads the bytes of a source, which every loader begins with.
package source

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/seed-d8745b77/rag"
)

// Read returns the bytes of a source and closes it. More than limit bytes are rag.ErrInvalid, with the advice that the
// caller gives; no more than that is ever held.
func Read(ctx context.Context, src rag.Source, limit int64, advice string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if src.Open == nil {
		return nil, fmt.Errorf("the source has no Open function: %w", rag.ErrInvalid)
	}
	r, err := src.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	defer r.Close()
	var buf bytes.Buffer
	if src.Size > 0 && src.Size <= limit {
		buf.Grow(int(src.Size) + bytes.MinRead) // ReadFrom wants that much room to see the end
	}
	if _, err := buf.ReadFrom(io.LimitReader(Reader(ctx, r), limit+1)); err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	if int64(buf.Len()) > limit {
		return nil, fmt.Errorf("larger than %d bytes: %s: %w", limit, advice, rag.ErrInvalid)
	}
	return buf.Bytes(), nil
}

// Reader stops reading when its context is done.
func Reader(ctx context.Context, r io.Reader) io.Reader { return reader{ctx, r} }

type reader struct {
	ctx context.Context //nolint:containedctx // lives as long as one read of a source
	r   io.Reader
}

func (c reader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
