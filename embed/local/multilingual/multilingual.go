// Package multilingual embeds texts in eight languages and across them, with a model that is part of the program:
// multilingual-e5-small, cut to the vocabulary of English, Chinese, French, German, Spanish, Portuguese, Japanese and
// Korean.
//
//	import _ "github.com/seed-d8745b77/rag/embed/local/multilingual" // provider "multilingual"
//
// Importing the package adds about 31 MB to a program; the English model of package local stays out unless the program
// imports that too. Weights are unpacked at the first call of Embed, once per process.
package multilingual

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed" // the model's files
	"encoding/hex"
	"fmt"
	"io"
	"sync"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/embed/local/run"
	"github.com/seed-d8745b77/rag/internal/encoder"
	"github.com/seed-d8745b77/rag/internal/modelhub"
	"github.com/seed-d8745b77/rag/internal/modelhub/modelrun"
	"github.com/seed-d8745b77/rag/internal/tokenize"
)

// Config bounds the work of the model.
type Config struct {
	Threads int `json:"threads" range:"[0,1024]"` // most threads at work for one embedder; 0: GOMAXPROCS
}

// The model; model/README.md says where it comes from.
var (
	//go:embed model/weights.bin
	weights []byte
	//go:embed model/tokenizer.json.gz
	tokenizer []byte
)

// card describes the model. The references are of the same weights in fp32, see scripts/models/golden_multilingual.py.
var card = modelhub.Card{
	Name: "multilingual", Title: "multilingual-e5-small-8-i4", Task: modelhub.TaskEmbed, License: "MIT",
	QuestionPrefix: "query: ", PassagePrefix: "passage: ",
	Pooling: modelhub.PoolingMean, MaxTokens: 512, Dims: 384,
	Languages: []string{"en", "zh", "fr", "de", "es", "pt", "ja", "ko"},
	Checks: []modelhub.Check{
		{
			Text: "query: The invoice must be paid within thirty days of delivery.",
			Want: []float64{0.019081, -0.020801, -0.054136, -0.058677, 0.068814, -0.029627, -0.028593, 0.062934, 0.097675, 0.010134, -0.003169, 0.056464},
		},
		{
			Text: "query: 合同自双方签字之日起生效。",
			Want: []float64{0.054336, -0.058578, -0.051315, -0.045562, 0.033346, -0.018284, 0.025329, 0.080805, 0.069685, 0.019268, 0.052604, 0.009808},
		},
	},
}

// revisionDigits of the digest are enough to tell revisions apart.
const revisionDigits = 12

// The parts of the model, made once for all embedders.
var (
	load = sync.OnceValues(func() (*encoder.Model, error) { return encoder.Load(weights) })

	words = sync.OnceValues(func() (tokenize.Tokenizer, error) {
		r, err := gzip.NewReader(bytes.NewReader(tokenizer))
		if err != nil {
			return nil, err
		}
		file, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		return tokenize.Parse(file)
	})

	revision = sync.OnceValues(func() (string, error) {
		digest, err := encoder.Revision(weights)
		if err != nil {
			return "", err
		}
		sum := sha256.Sum256(append([]byte(digest), tokenizer...))
		return hex.EncodeToString(sum[:])[:revisionDigits], nil
	})
)

// New returns an embedder; the weights are unpacked later. A negative number of threads is [rag.ErrInvalid].
func New(c Config) (*run.Embedder, error) {
	if c.Threads < 0 {
		return nil, fmt.Errorf("threads is %d: want 0 (all processors) or more: %w", c.Threads, rag.ErrInvalid)
	}
	w, err := words()
	if err != nil {
		return nil, fmt.Errorf("multilingual model: %w", err)
	}
	r, err := revision()
	if err != nil {
		return nil, fmt.Errorf("multilingual model: %w", err)
	}
	return run.New(modelrun.New(card, w, r, c.Threads, load)), nil
}
