package eval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/datafile"
)

// Lab opens engines on the same documents under different configurations. What only concerns the search is changed over
// data that are there; another splitter, embedder or index gets data of its own, made when they are first wanted. A Lab is
// not safe for concurrent use.
type Lab struct {
	Dir        string             // where data are made, a folder for each way of ingesting; they are taken up again by the next lab
	Sources    rag.Sources        // the documents
	Collection string             // that they are put into; "": the configured one
	Options    []rag.Option       // of every engine
	Note       func(string)       // told what is done that takes time; nil: nobody
	Progress   func(rag.Progress) // of an ingest; nil: nobody

	// Data that are there already, and the configuration that made them; DataDir "": none.
	DataDir    string
	DataConfig rag.Config

	from  *rag.Engine     // that Sources are taken from when they are wanted; nil: Sources are given
	ready map[string]bool // ways of ingesting that were done
}

// NewCollectionLab returns a lab for the documents of a collection: variants that only concern the search use the data
// folder as it is, the others get the documents as the engine has them, once there is one. scratch is a folder for what is
// made. The engine must stay open.
func NewCollectionLab(eng *rag.Engine, dataDir, collection, scratch string) *Lab {
	return &Lab{Dir: scratch, Collection: collection, DataDir: dataDir, DataConfig: eng.Config(), from: eng}
}

// exported writes the documents of the collection into a file and returns them as sources.
func (l *Lab) exported(ctx context.Context) (rag.Sources, error) {
	path := filepath.Join(l.Dir, "documents.jsonl")
	f, err := datafile.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return rag.Sources{}, err
	}
	_, err = l.from.Export(ctx, l.Collection, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return rag.Sources{}, err
	}
	return rag.Exported(path)
}

// Open returns an engine under a configuration, with all documents in its collection. The caller closes it.
func (l *Lab) Open(ctx context.Context, c rag.Config) (*rag.Engine, error) {
	c.Trace = rag.ProviderConfig{Provider: rag.None} // thousands of searches that nobody will look at
	key := ingestKey(c)
	if l.DataDir != "" && key == ingestKey(l.DataConfig) {
		return rag.Open(l.DataDir, append([]rag.Option{rag.WithConfig(c)}, l.Options...)...)
	}
	eng, err := rag.Open(filepath.Join(l.Dir, key), append([]rag.Option{rag.WithConfig(c)}, l.Options...)...)
	if err != nil || l.ready[key] {
		return eng, err
	}
	if err := l.ingest(ctx, eng); err != nil {
		return nil, errors.Join(err, eng.Close())
	}
	if l.ready == nil {
		l.ready = map[string]bool{}
	}
	l.ready[key] = true
	return eng, nil
}

func (l *Lab) ingest(ctx context.Context, eng *rag.Engine) error {
	if l.from != nil && l.Sources.All == nil {
		var err error
		if l.Sources, err = l.exported(ctx); err != nil {
			return err
		}
	}
	l.note("ingesting for embedder %s", eng.Config().Embedder.Provider)
	report, err := eng.Ingest(ctx, rag.IngestRequest{Collection: l.Collection, Sources: []rag.Sources{l.Sources}, Progress: l.Progress})
	if err != nil {
		return err
	}
	l.note("ingested: %d passages, of which %d are longer than the model's window", report.Chunks.New+report.Chunks.Reused, report.Truncated)
	return nil
}

func (l *Lab) note(format string, args ...any) {
	if l.Note != nil {
		l.Note(fmt.Sprintf(format, args...))
	}
}

// ingestKey names the part of a configuration that decides what an ingest makes.
func ingestKey(c rag.Config) string {
	part, err := json.Marshal(struct {
		Loaders                                      map[string]json.RawMessage
		OCR, Splitter, Embedder, VectorStore, Sparse rag.ProviderConfig
		Transforms                                   []rag.ProviderConfig
		Most                                         [3]int
	}{c.Loaders, c.OCR, c.Splitter, c.Embedder, c.VectorStore, c.SparseIndex, c.Transforms, [3]int{c.Ingest.MaxPages, c.Ingest.MaxImages, c.Ingest.MaxChunks}})
	if err != nil {
		return "invalid" // Open says what is wrong with the settings
	}
	sum := sha256.Sum256(part)
	return "data-" + hex.EncodeToString(sum[:6])
}
