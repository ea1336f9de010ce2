package local

import (
	"crypto/sha256"
	_ "embed" // the model's files
	"encoding/hex"
	"strings"
	"sync"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/encoder"
	"github.com/seed-d8745b77/rag/internal/tokenize"
)

// builtinName is the name of the built-in model in settings.
const builtinName = "builtin"

// The model; model/README.md says where it comes from.
var (
	//go:embed model/weights.bin
	builtinWeights []byte
	//go:embed model/vocab.txt
	builtinVocabulary string
)

// builtinTokens is the window that the model's card names: it was trained on no longer texts, though it has more
// positions.
const builtinTokens = 256

// batch is the most texts a call is worth having: enough to keep all threads busy to the end.
const batch = 64

// revisionDigits of the digest are enough to tell revisions apart.
const revisionDigits = 12

var (
	loadBuiltin = sync.OnceValues(func() (*encoder.Model, error) { return encoder.Load(builtinWeights) })

	loadBuiltinWords = sync.OnceValues(func() (*tokenize.WordPiece, error) {
		return tokenize.NewWordPiece(strings.Split(strings.TrimSuffix(builtinVocabulary, "\n"), "\n"))
	})

	describeBuiltin = sync.OnceValues(func() (rag.EmbedModel, error) {
		weights, err := encoder.Revision(builtinWeights)
		if err != nil {
			return rag.EmbedModel{}, err
		}
		digest := sha256.Sum256([]byte(weights + builtinVocabulary))
		return rag.EmbedModel{
			Name:      "all-MiniLM-L6-v2-int8",
			Revision:  hex.EncodeToString(digest[:])[:revisionDigits],
			Dims:      384,
			MaxTokens: builtinTokens,
			MaxBatch:  batch,
			Pooling:   encoder.PoolingMean,
			Languages: []string{"en"},
		}, nil
	})
)
