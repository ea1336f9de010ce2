package unipdf

import (
	"context"
	"errors"
	"iter"

	"github.com/seed-d8745b77/rag"
)

// Register adds the loader under the name "unipdf" to p, as importing the package does to [rag.Default]. Of two loaders of one
// format the first registered is used, so beside loader/pdf it reads nothing until the configuration says
// "loaders: {pdf: none}". Where it has no licence key each PDF fails with the error of [New], and other files are read.
func Register(p *rag.Providers) {
	p.Loaders.Register("unipdf", rag.Typed(func(_ rag.Env, c Config) (rag.Loader, error) {
		l, err := New(c)
		switch {
		case errors.Is(err, errNoKey):
			return locked{err}, nil
		case err != nil:
			return nil, err
		}
		return l, nil
	}))
}

func init() { Register(rag.Default) }

// locked takes the place of a loader that has no licence key.
type locked struct{ err error }

var _ rag.Formatter = locked{}

// Load fails as New did.
func (l locked) Load(context.Context, rag.Source) iter.Seq2[rag.Document, error] {
	return func(yield func(rag.Document, error) bool) { yield(rag.Document{}, l.err) }
}

// Formats are those of the loader.
func (locked) Formats() []rag.Format { return (*Loader)(nil).Formats() }
