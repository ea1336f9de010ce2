package ragtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// embedderTexts differ in length, script and content; none is empty.
var embedderTexts = []string{
	"The invoice must be paid within thirty days of delivery.",
	"cat",
	"A cat sat on the mat, looked at the moon, and fell asleep before anyone came home to feed it.",
	"Le délai de résiliation est de trois mois.",
	"合同自双方签字之日起生效。",
	"!?",
	"42",
}

// batchTolerance bounds how far a component may move between a text alone and in a batch: vectors must not depend
// on their neighbours, but a service may add in another order.
const batchTolerance = 1e-5

// TestEmbedder checks the contract of [rag.Embedder]. open returns an embedder ready for use; where it holds
// resources, open closes them by t.Cleanup.
func TestEmbedder(t *testing.T, open func(t *testing.T) rag.Embedder) {
	t.Run("the model is described", func(t *testing.T) { embedderModel(t, open(t)) })
	t.Run("one vector per text, in order, each Dims long and not zero", func(t *testing.T) { embedderVectors(t, open(t)) })
	t.Run("the same text gives the same vector, alone or in a batch", func(t *testing.T) { embedderBatch(t, open(t)) })
	t.Run("other texts give other vectors", func(t *testing.T) { embedderDistinct(t, open(t)) })
	t.Run("both roles are accepted", func(t *testing.T) { embedderRoles(t, open(t)) })
	t.Run("the caller keeps the texts and owns the vectors", func(t *testing.T) { embedderOwnership(t, open(t)) })
	t.Run("a text beyond the window and odd bytes give a vector", func(t *testing.T) { embedderOdd(t, open(t)) })
	t.Run("a full batch is accepted", func(t *testing.T) { embedderFullBatch(t, open(t)) })
	t.Run("concurrent calls do not disturb each other", func(t *testing.T) { embedderConcurrent(t, open(t)) })
	t.Run("a cancelled context gives its error", func(t *testing.T) { embedderCancelled(t, open(t)) })
	t.Run("tokens grow with the text", func(t *testing.T) { embedderTokens(t, open(t)) })
}

func embedderModel(t *testing.T, e rag.Embedder) {
	m := e.Model()
	if m.Name == "" {
		t.Error("Model().Name is empty: a collection could not say what built it")
	}
	if m.Dims <= 0 || m.MaxTokens < 0 || m.MaxBatch < 0 {
		t.Errorf("Model() has Dims %d, MaxTokens %d, MaxBatch %d: want Dims above 0, the others not below", m.Dims, m.MaxTokens, m.MaxBatch)
	}
	mustEmbed(t, e, rag.AsPassage, embedderTexts[:1])
	if diff := cmp.Diff(m, e.Model()); diff != "" {
		t.Errorf("Model() changed after a call (-before +after):\n%s", diff)
	}
}

func embedderVectors(t *testing.T, e rag.Embedder) {
	vectors := mustEmbed(t, e, rag.AsPassage, embedderTexts)
	reversed := make([]string, len(embedderTexts))
	for i, text := range embedderTexts {
		reversed[len(reversed)-1-i] = text
	}
	for i, v := range mustEmbed(t, e, rag.AsPassage, reversed) {
		if d := distance(v, vectors[len(vectors)-1-i]); d > batchTolerance {
			t.Errorf("%q: its vector moved by %g when the batch was turned round: are vectors in the order of texts?", reversed[i], d)
		}
	}
}

func embedderBatch(t *testing.T, e rag.Embedder) {
	batch := mustEmbed(t, e, rag.AsPassage, embedderTexts)
	for i, text := range embedderTexts {
		alone := mustEmbed(t, e, rag.AsPassage, []string{text})
		if d := distance(alone[0], batch[i]); d > batchTolerance {
			t.Errorf("%q: alone and in a batch its vector differs by %g", text, d)
		}
	}
	twice := mustEmbed(t, e, rag.AsPassage, []string{embedderTexts[0], embedderTexts[0]})
	if d := distance(twice[0], twice[1]); d > batchTolerance {
		t.Errorf("the same text twice in a batch gives vectors that differ by %g", d)
	}
}

func embedderDistinct(t *testing.T, e rag.Embedder) {
	v := mustEmbed(t, e, rag.AsPassage, []string{embedderTexts[0], embedderTexts[2]})
	if distance(v[0], v[1]) <= batchTolerance {
		t.Error("two unlike sentences have the same vector")
	}
}

func embedderRoles(t *testing.T, e rag.Embedder) {
	mustEmbed(t, e, rag.AsPassage, embedderTexts[:2])
	mustEmbed(t, e, rag.AsQuestion, embedderTexts[:2])
}

func embedderOwnership(t *testing.T, e rag.Embedder) {
	texts := append([]string{}, embedderTexts...)
	first := mustEmbed(t, e, rag.AsPassage, texts)
	if diff := cmp.Diff(embedderTexts, texts); diff != "" {
		t.Errorf("the slice of texts was changed (-want +got):\n%s", diff)
	}
	want := append([]float32{}, first[0]...)
	for _, v := range mustEmbed(t, e, rag.AsPassage, texts) {
		clear(v)
	}
	if diff := cmp.Diff(want, first[0]); diff != "" {
		t.Errorf("writing to later vectors changed an earlier one:\n%s", diff)
	}
}

func embedderOdd(t *testing.T, e rag.Embedder) {
	long := make([]byte, 0, 4096)
	for i := range 400 {
		long = fmt.Appendf(long, "word%d ", i)
	}
	mustEmbed(t, e, rag.AsPassage, []string{string(long), "bad \xff\xfe bytes", "\u200b", " \t\n", "nul \x00 byte"})
}

func embedderFullBatch(t *testing.T, e rag.Embedder) {
	n := e.Model().MaxBatch
	if n == 0 {
		n = defaultHashBatch
	}
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("text %d", i)
	}
	mustEmbed(t, e, rag.AsPassage, texts)
}

func embedderConcurrent(t *testing.T, e rag.Embedder) {
	const callers = 8
	want := mustEmbed(t, e, rag.AsQuestion, embedderTexts)
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			i := c % len(embedderTexts)
			got, err := e.Embed(t.Context(), rag.AsQuestion, embedderTexts[i:])
			if err != nil {
				t.Errorf("caller %d: %v", c, err)
				return
			}
			for j := range got {
				if d := distance(got[j], want[i+j]); d > batchTolerance {
					t.Errorf("caller %d: vector of %q differs by %g from the one made alone", c, embedderTexts[i+j], d)
				}
			}
		})
	}
	wg.Wait()
}

func embedderCancelled(t *testing.T, e rag.Embedder) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Embed(ctx, rag.AsPassage, embedderTexts); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want one that wraps context.Canceled", err)
	}
}

func embedderTokens(t *testing.T, e rag.Embedder) {
	counter, ok := e.(rag.TokenCounter)
	if !ok {
		t.Skip("skipped: not a rag.TokenCounter")
	}
	if n := counter.CountTokens(""); n != 0 {
		t.Errorf("the empty text has %d tokens, want 0 (special tokens are not counted)", n)
	}
	short, long := counter.CountTokens(embedderTexts[1]), counter.CountTokens(embedderTexts[2])
	if short < 1 || long <= short {
		t.Errorf("got %d tokens for a word and %d for a sentence", short, long)
	}
}

// mustEmbed embeds and checks what holds for every answer: one finite vector per text, Dims long, not zero.
func mustEmbed(t *testing.T, e rag.Embedder, role rag.EmbedRole, texts []string) [][]float32 {
	t.Helper()
	vectors, err := e.Embed(t.Context(), role, texts)
	if err != nil {
		t.Fatalf("Embed of %d texts as %s: %v", len(texts), role, err)
	}
	if len(vectors) != len(texts) {
		t.Fatalf("Embed of %d texts returned %d vectors", len(texts), len(vectors))
	}
	dims := e.Model().Dims
	for i, v := range vectors {
		if len(v) != dims {
			t.Fatalf("%.40q: vector of %d components, Model().Dims is %d", texts[i], len(v), dims)
		}
		var norm float64
		for _, x := range v {
			norm += float64(x) * float64(x)
		}
		if norm == 0 || math.IsNaN(norm) || math.IsInf(norm, 0) {
			t.Fatalf("%.40q: squared length %g of its vector: want finite and above 0", texts[i], norm)
		}
	}
	return vectors
}

// distance is the largest difference of a component.
func distance(a, b []float32) float64 {
	var d float64
	for i := range a {
		d = max(d, math.Abs(float64(a[i])-float64(b[i])))
	}
	return d
}
