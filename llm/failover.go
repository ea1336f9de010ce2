package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// Failover asks the next model of a list where one is unavailable. Once a piece of a reply was shown, its error is the
// reply's. It is safe for concurrent use if the models are.
type Failover struct {
	models []rag.ChatModel
	log    *slog.Logger
}

var (
	_ rag.ChatModel     = (*Failover)(nil)
	_ rag.Fingerprinter = (*Failover)(nil)
)

// NewFailover returns a model that asks these in turn; at least one. log is told when one is passed over; nil: nobody is.
func NewFailover(log *slog.Logger, models ...rag.ChatModel) (*Failover, error) {
	if len(models) == 0 {
		return nil, fmt.Errorf("failover: models: the list is empty: %w", rag.ErrInvalid)
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Failover{models, log}, nil
}

// Fingerprint names the models in their order.
func (f *Failover) Fingerprint() string {
	names := make([]string, len(f.models))
	for i, m := range f.models {
		names[i] = nameOf(m)
	}
	return "failover(" + strings.Join(names, ",") + ")"
}

// nameOf is what a model says of itself, or its type.
func nameOf(m rag.ChatModel) string {
	if f, ok := m.(rag.Fingerprinter); ok {
		return f.Fingerprint()
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", m), "*")
}

// Ready reports a model that lacks its key.
func (f *Failover) Ready() error {
	for _, m := range f.models {
		if r, ok := m.(interface{ Ready() error }); ok {
			if err := r.Ready(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Chat streams the reply of the first model that gives one. If none does, the error joins those of all.
func (f *Failover) Chat(ctx context.Context, req rag.ChatRequest) iter.Seq2[rag.ChatDelta, error] {
	return func(yield func(rag.ChatDelta, error) bool) {
		var failed []error
		for i, m := range f.models {
			shown := false
			for piece, err := range m.Chat(ctx, req) {
				if err != nil && !shown && errors.Is(err, rag.ErrUnavailable) && ctx.Err() == nil {
					failed = append(failed, err)
					if i+1 < len(f.models) {
						f.log.Warn("chat model is unavailable: the next one is asked", "provider", nameOf(m), "error", err)
					}
					break
				}
				shown = true
				if !yield(piece, err) || err != nil {
					return
				}
			}
			if shown {
				return
			}
		}
		yield(rag.ChatDelta{}, errors.Join(failed...))
	}
}
