package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/seed-d8745b77/rag/internal/encoder"
)

// check compares the model's vectors with those in a file that scripts/models/golden_encoder.py made.
func check(ctx context.Context, w io.Writer, o options) error {
	m, err := load(o)
	if err != nil {
		return err
	}
	f, err := os.Open(o.golden)
	if err != nil {
		return err
	}
	defer f.Close()
	sequences, want, err := readGolden(f, m.Config().Hidden)
	if err != nil {
		return fmt.Errorf("%s: %w", o.golden, err)
	}
	got, err := encoder.NewRunner(m, 0).Embed(ctx, sequences)
	if err != nil {
		return err
	}
	least, tokens := 1.0, 0
	for i, v := range got {
		least = min(least, cosine(v, want[i]))
		tokens += len(sequences[i])
	}
	_, err = fmt.Fprintf(w, "%d texts of %d tokens, kernel %s: least cosine %.7f; peak %.0f MB\n", len(got), tokens, m.Kernel(), least, peakBytes()/1e6)
	return err
}

// readGolden reads texts until the end, each as the number of its ids, the ids, and its vector in half floats.
func readGolden(r io.Reader, dims int) (sequences [][]int32, vectors [][]uint16, err error) {
	unpacked, err := gzip.NewReader(r)
	if err != nil {
		return nil, nil, err
	}
	in := bufio.NewReader(unpacked)
	for {
		var n uint32
		if err := binary.Read(in, binary.LittleEndian, &n); errors.Is(err, io.EOF) {
			return sequences, vectors, nil
		} else if err != nil {
			return nil, nil, err
		}
		ids, vector := make([]int32, n), make([]uint16, dims)
		if err := binary.Read(in, binary.LittleEndian, ids); err != nil {
			return nil, nil, err
		}
		if err := binary.Read(in, binary.LittleEndian, vector); err != nil {
			return nil, nil, err
		}
		sequences, vectors = append(sequences, ids), append(vectors, vector)
	}
}

// cosine is that of a vector and one in half floats, which has no infinities and no NaNs.
func cosine(a []float32, b []uint16) float64 {
	const fraction, bias = 10, 15
	var ab, aa, bb float64
	for i, x := range a {
		mantissa, exponent := int(b[i]&(1<<fraction-1)), int(b[i]>>fraction&31)
		if exponent > 0 {
			mantissa |= 1 << fraction
		}
		y := math.Ldexp(float64(mantissa), max(exponent, 1)-bias-fraction)
		if b[i]>>15 == 1 {
			y = -y
		}
		ab, aa, bb = ab+float64(x)*y, aa+float64(x)*float64(x), bb+y*y
	}
	return ab / math.Sqrt(aa*bb)
}
