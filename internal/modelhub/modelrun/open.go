// Package modelrun runs a model of package modelhub: it opens the model's folder, refuses what cannot be run, and
// holds the model against its references before the first use.
//
//	m, err := modelrun.Open(card, folder, 0)
//	vectors, err := m.Embed(ctx, texts)
package modelrun

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/seed-d8745b77/rag/internal/encoder"
	"github.com/seed-d8745b77/rag/internal/modelhub"
	"github.com/seed-d8745b77/rag/internal/tokenize"
)

// mostPositions is the longest window that is run. Attention takes the square of it in time and memory; models with
// longer ones (bge-m3 has 8192) are made for graphics cards.
const mostPositions = 2048

// usualTokens is the window of a model whose card names none: that of most models, and most texts are shorter.
const usualTokens = 512

// Open opens a model in a folder. The weights are loaded at the first use, and checked then; that the file has all of
// them is looked at now. Models on one folder share tokenizer and weights. threads as in [encoder.NewRunner]. What the card leaves open is taken from the folder: pooling, window, dimensions. Errors are of
// kind modelhub.ErrNotFound, ErrUnsupported or ErrInvalid.
func Open(card modelhub.Card, dir string, threads int) (*Model, error) {
	if missing := modelhub.Missing(dir); len(missing) > 0 {
		return nil, fmt.Errorf("%s: %w: it lacks %s", dir, modelhub.ErrNotFound, strings.Join(missing, ", "))
	}
	shape, err := encoder.CheckDir(dir, encoder.Options{Pooling: card.Pooling})
	if err != nil {
		return nil, kind(err)
	}
	if err := fits(&card, shape, dir); err != nil {
		return nil, err
	}
	revision, err := fingerprint(dir)
	if err != nil {
		return nil, fmt.Errorf("read model: %w", err)
	}
	place, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("read model: %w", err)
	}
	// The content stands in the key too: a folder may be filled anew while the process runs.
	p, err := shared.get(fmt.Sprintf("%s|%s|%s", revision, card.Pooling, place), func() (*parts, error) { return openParts(place, card.Pooling) })
	if err != nil {
		return nil, err
	}
	// The call goes through p, so that p lives as long as the model.
	return New(card, p.words, revision, threads, func() (*encoder.Model, error) { return p.load() }), nil
}

// openParts reads the tokenizer of a folder, and the weights later.
func openParts(dir, pooling string) (*parts, error) {
	raw, err := os.ReadFile(filepath.Join(dir, modelhub.TokenizerFile))
	if err != nil {
		return nil, fmt.Errorf("read tokenizer: %w", err)
	}
	words, err := tokenize.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", dir, modelhub.ErrUnsupported, err)
	}
	return &parts{words, sync.OnceValues(func() (*encoder.Model, error) {
		return encoder.LoadDir(dir, encoder.Options{Pooling: pooling})
	})}, nil
}

// poolingFile is where sentence-transformers writes down how a model pools.
const poolingFile = "1_Pooling/config.json"

// SaysPooling reports whether a model's folder says how the model pools. Where it does not, only its card can.
func SaysPooling(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(poolingFile)))
	return err == nil
}

// fits compares a card with the shape of the model in a folder and completes it.
func fits(card *modelhub.Card, shape encoder.Config, dir string) error {
	refuse := func(kind error, format string, args ...any) error {
		return fmt.Errorf("%s: %w: %s", dir, kind, fmt.Sprintf(format, args...))
	}
	scores := shape.Logits > 0
	switch {
	case card.Task == modelhub.TaskEmbed && scores:
		return refuse(modelhub.ErrInvalid, "it is a cross-encoder, which scores pairs: name it under rerank, not under embedder")
	case card.Task == modelhub.TaskRerank && !scores:
		return refuse(modelhub.ErrInvalid, "it has no head that scores pairs: an embedding model belongs under embedder")
	case shape.Positions > mostPositions:
		return refuse(modelhub.ErrUnsupported, "its window of %d tokens is beyond the %d that are run; take a model with a shorter one, such as multilingual-e5-small", shape.Positions, mostPositions)
	case card.MaxTokens > shape.Positions:
		return refuse(modelhub.ErrInvalid, "it has %d positions, fewer than the window of %d tokens", shape.Positions, card.MaxTokens)
	case !scores && card.Dims > 0 && card.Dims != shape.Hidden:
		return refuse(modelhub.ErrInvalid, "its vectors have %d dimensions, %s has %d: is it another model?", shape.Hidden, card.Name, card.Dims)
	}
	if card.MaxTokens == 0 {
		card.MaxTokens = min(shape.Positions, usualTokens)
	}
	if !scores {
		card.Dims, card.Pooling = shape.Hidden, shape.Pooling
	}
	return nil
}

// kind gives an error of the encoder its kind here.
func kind(err error) error {
	switch {
	case errors.Is(err, encoder.ErrUnsupported):
		return modelhub.WithKind(err, modelhub.ErrUnsupported)
	case errors.Is(err, encoder.ErrFormat):
		return modelhub.WithKind(err, modelhub.ErrInvalid)
	}
	return err
}

// Blocks of the weights that name a model: two models that were trained apart differ in nearly every weight, and
// reading all of a large file would take longer than loading it.
const (
	sampled     = 64
	sampleBytes = 4 << 10
)

// revisionDigits of a digest are enough to tell revisions apart.
const revisionDigits = 12

// fingerprint names the content of a model's folder: its small files, and the size and some blocks of its weights.
func fingerprint(dir string) (string, error) {
	h := sha256.New()
	for _, name := range []string{modelhub.ConfigFile, modelhub.TokenizerFile} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%d\n", len(raw))
		h.Write(raw)
	}
	f, err := os.Open(filepath.Join(dir, modelhub.WeightsFile))
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	fmt.Fprintf(h, "%d\n", info.Size())
	block := make([]byte, sampleBytes)
	for i := range int64(sampled) {
		n, err := f.ReadAt(block, i*info.Size()/sampled)
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		h.Write(block[:n])
	}
	return hex.EncodeToString(h.Sum(nil))[:revisionDigits], nil
}
