package ragtest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// TestOCR checks the contract of [rag.OCR] on a picture of printed text, a PNG or JPEG file, and on bytes that are no
// picture. want is the picture's words in order. newOCR is called once for each subtest.
func TestOCR(t *testing.T, newOCR func(t *testing.T) rag.OCR, picture []byte, dpi int, want string) {
	recognize := func(t *testing.T, o rag.OCR) []rag.OCRWord {
		t.Helper()
		words, err := o.Recognize(t.Context(), picture, dpi)
		if err != nil {
			t.Fatal(err)
		}
		return words
	}
	t.Run("the words come in reading order", func(t *testing.T) {
		var got []string
		for _, w := range recognize(t, newOCR(t)) {
			got = append(got, w.Text)
		}
		if diff := cmp.Diff(strings.Fields(want), got); diff != "" {
			t.Errorf("words (-want +got):\n%s", diff)
		}
	})
	t.Run("words have boxes, lines that grow and a confidence from 0 to 1", func(t *testing.T) {
		last := 0
		for i, w := range recognize(t, newOCR(t)) {
			if w.Box[0] < 0 || w.Box[1] < 0 || w.Box[2] <= w.Box[0] || w.Box[3] <= w.Box[1] {
				t.Errorf("word %q has the box %v", w.Text, w.Box)
			}
			if i > 0 && w.Line < last {
				t.Errorf("word %q is on line %d, behind line %d", w.Text, w.Line, last)
			}
			if w.Confidence < 0 || w.Confidence > 1 {
				t.Errorf("word %q has the confidence %v", w.Text, w.Confidence)
			}
			last = w.Line
		}
	})
	t.Run("bytes that are no picture are ErrInvalid", func(t *testing.T) {
		for name, data := range map[string][]byte{"nothing": nil, "text": []byte("no picture"), "half": picture[:len(picture)/2]} {
			if words, err := newOCR(t).Recognize(t.Context(), data, dpi); err != nil && !errors.Is(err, rag.ErrInvalid) || err == nil && len(words) > len(strings.Fields(want)) {
				t.Errorf("%s: got %d words and the error %v, want ErrInvalid", name, len(words), err)
			}
		}
	})
	t.Run("a cancelled context ends it", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := newOCR(t).Recognize(ctx, picture, dpi); !errors.Is(err, context.Canceled) {
			t.Errorf("got the error %v, want context.Canceled", err)
		}
	})
	t.Run("it is safe for concurrent use", func(t *testing.T) {
		o := newOCR(t)
		first := recognize(t, o)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				words, err := o.Recognize(t.Context(), picture, dpi)
				if err != nil {
					t.Error(err)
				} else if diff := cmp.Diff(first, words); diff != "" {
					t.Errorf("differs under concurrency: %s", diff)
				}
			})
		}
		wg.Wait()
	})
}
