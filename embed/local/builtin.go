package local

import (
	"crypto/sha256"
	_ "embed" // the model's files
	"encoding/hex"
	"fmt"
	"strings"
	"sync"

	"github.com/seed-d8745b77/rag/internal/encoder"
	"github.com/seed-d8745b77/rag/internal/modelhub"
	"github.com/seed-d8745b77/rag/internal/modelhub/modelrun"
	"github.com/seed-d8745b77/rag/internal/tokenize"
)

// The model; model/README.md says where it comes from.
var (
	//go:embed model/weights.bin
	builtinWeights []byte
	//go:embed model/vocab.txt
	builtinVocabulary string
)

// revisionDigits of the digest are enough to tell revisions apart.
const revisionDigits = 12

// The parts of the built-in model, made once for all embedders.
var (
	loadBuiltin = sync.OnceValues(func() (*encoder.Model, error) { return encoder.Load(builtinWeights) })

	builtinWords = sync.OnceValues(func() (*tokenize.WordPiece, error) {
		return tokenize.NewWordPiece(strings.Split(strings.TrimSuffix(builtinVocabulary, "\n"), "\n"))
	})

	builtinRevision = sync.OnceValues(func() (string, error) {
		weights, err := encoder.Revision(builtinWeights)
		if err != nil {
			return "", err
		}
		digest := sha256.Sum256([]byte(weights + builtinVocabulary))
		return hex.EncodeToString(digest[:])[:revisionDigits], nil
	})
)

// openBuiltin returns the built-in model.
func openBuiltin(threads int) (*modelrun.Model, error) {
	card, ok := modelhub.Named(modelhub.Builtin)
	if !ok {
		return nil, fmt.Errorf("built-in model: %w", modelhub.ErrUnknown)
	}
	words, err := builtinWords()
	if err != nil {
		return nil, fmt.Errorf("built-in model: %w", err)
	}
	revision, err := builtinRevision()
	if err != nil {
		return nil, fmt.Errorf("built-in model: %w", err)
	}
	return modelrun.New(card, words, revision, threads, loadBuiltin), nil
}
