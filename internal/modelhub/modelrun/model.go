package modelrun

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/seed-d8745b77/rag/internal/encoder"
	"github.com/seed-d8745b77/rag/internal/modelhub"
	"github.com/seed-d8745b77/rag/internal/tokenize"
)

// Model is a model that is ready to run. It is safe for concurrent use; concurrent calls share its threads.
type Model struct {
	card     modelhub.Card
	words    tokenize.Tokenizer
	revision string
	threads  int
	load     func() (*encoder.Model, error)

	mu      sync.Mutex
	runner  *encoder.Runner
	checked bool
	err     error // why it cannot be used: it stays so
}

// New returns a model of these parts; load is called once, at the first use. revision names weights and vocabulary.
func New(card modelhub.Card, words tokenize.Tokenizer, revision string, threads int, load func() (*encoder.Model, error)) *Model {
	return &Model{card: card, words: words, revision: revision, threads: threads, load: load}
}

// Card describes the model, completed by what its folder says.
func (m *Model) Card() modelhub.Card { return m.card }

// Revision names the model's content.
func (m *Model) Revision() string { return m.revision }

// Words is the model's tokenizer.
func (m *Model) Words() tokenize.Tokenizer { return m.words }

// Check loads the model and holds it against its references, as the first use does. A model that strays from them is modelhub.ErrMismatch, now and at each later call.
func (m *Model) Check(ctx context.Context) error {
	_, err := m.ready(ctx)
	return err
}

// Embed returns the unit vector of each text, prefixed already. Of a text beyond the window the first tokens count.
func (m *Model) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	runner, err := m.ready(ctx)
	if err != nil {
		return nil, err
	}
	return m.embed(ctx, runner, texts)
}

// Score returns the logit of the query with each text. Of a pair beyond the window the text's first tokens count, and
// of a query beyond half of it the query's, so that something of the text is seen.
func (m *Model) Score(ctx context.Context, query string, texts []string) ([]float32, error) {
	runner, err := m.ready(ctx)
	if err != nil {
		return nil, err
	}
	return m.score(ctx, runner, query, texts)
}

// ready returns the model's runner once the model is loaded and checked. A check that was cut short by its context is
// made again by the next caller.
func (m *Model) ready(ctx context.Context) (*encoder.Runner, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil || m.checked {
		return m.runner, m.err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if m.runner == nil {
		loaded, err := m.load()
		if err != nil {
			m.err = kind(err)
			return nil, m.err
		}
		m.runner = encoder.NewRunner(loaded, m.threads)
	}
	err := m.check(ctx, m.runner)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	m.err, m.checked = err, err == nil
	return m.runner, m.err
}

// check runs the checks of the card.
func (m *Model) check(ctx context.Context, runner *encoder.Runner) error {
	for _, c := range m.card.Checks {
		got, err := m.result(ctx, runner, c)
		if err != nil {
			return err
		}
		within := cmp.Or(c.Within, modelhub.Tolerance)
		for i, want := range c.Want {
			if !(math.Abs(got[i]-want) <= within) {
				return fmt.Errorf("%s: %w: %.40q gives %.6f at %d, published is %.6f; %s",
					m.card.Name, modelhub.ErrMismatch, c.Text, got[i], i, want, m.remedy())
			}
		}
	}
	return nil
}

// remedy says what to do about a model that strays.
func (m *Model) remedy() string {
	if m.card.Repository == "" {
		return "the program is damaged, or this processor computes wrongly"
	}
	return fmt.Sprintf("`rag models verify %s` compares its files: if they are right, this processor computes wrongly", m.card.Name)
}

// result returns what the model makes of a check: as many numbers as it has references, or more.
func (m *Model) result(ctx context.Context, runner *encoder.Runner, c modelhub.Check) ([]float64, error) {
	if c.Pair != "" {
		scores, err := m.score(ctx, runner, c.Text, []string{c.Pair})
		if err != nil {
			return nil, err
		}
		return []float64{float64(scores[0])}, nil
	}
	vectors, err := m.embed(ctx, runner, []string{c.Text})
	if err != nil {
		return nil, err
	}
	got := make([]float64, len(vectors[0]))
	for i, v := range vectors[0] {
		got[i] = float64(v)
	}
	return got, nil
}

func (m *Model) embed(ctx context.Context, runner *encoder.Runner, texts []string) ([][]float32, error) {
	sequences := make([][]int32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sequences[i], _ = m.words.Encode(text, m.card.MaxTokens)
	}
	return runner.Embed(ctx, sequences)
}

func (m *Model) score(ctx context.Context, runner *encoder.Runner, query string, texts []string) ([]float32, error) {
	query = m.within(query, m.card.MaxTokens/2)
	pairs := make([]encoder.Pair, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		ids, types, _ := m.words.EncodePair(query, text, m.card.MaxTokens)
		pairs[i] = encoder.Pair{IDs: ids, Types: types}
	}
	return runner.Score(ctx, pairs)
}

// within returns the beginning of text that has at most limit tokens.
func (m *Model) within(text string, limit int) string {
	if tokens := m.words.Tokens(text); len(tokens) > limit {
		return text[:tokens[limit].Start]
	}
	return text
}
