package eval

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// Backend is an evaluator that a composite asks.
type Backend struct {
	Name      string
	Evaluator rag.Evaluator
	Metrics   []string // of those that it has; nil: all
}

// Composite asks several evaluators, each for its own metrics. One that fails leaves the others: its metrics are null with
// its error as the reason.
type Composite struct {
	backends []Backend
	metrics  []string
}

var (
	_ rag.Evaluator     = (*Composite)(nil)
	_ rag.Fingerprinter = (*Composite)(nil)
)

// NewComposite joins evaluators. ErrInvalid: none, a metric that its backend does not have, or that two have.
func NewComposite(backends ...Backend) (*Composite, error) {
	if len(backends) == 0 {
		return nil, fmt.Errorf("evaluators: none is given: %w", rag.ErrInvalid)
	}
	c := &Composite{}
	owner := map[string]string{}
	for _, b := range backends {
		if b.Metrics == nil {
			b.Metrics = b.Evaluator.Metrics()
		}
		if err := known(b.Metrics, b.Evaluator.Metrics()); err != nil {
			return nil, fmt.Errorf("evaluator %s: %w", b.Name, err)
		}
		for _, m := range b.Metrics {
			if other, taken := owner[m]; taken {
				return nil, fmt.Errorf("metric %s is asked of the evaluators %s and %s: %w", m, other, b.Name, rag.ErrInvalid)
			}
			owner[m] = b.Name
		}
		c.backends, c.metrics = append(c.backends, b), append(c.metrics, b.Metrics...)
	}
	return c, nil
}

// Metrics returns those of all backends, in their order.
func (c *Composite) Metrics() []string { return c.metrics }

// Fingerprint names the backends, and of each what it says of itself: the model of a judge.
func (c *Composite) Fingerprint() string {
	var names []string
	for _, b := range c.backends {
		name := b.Name
		if f, ok := b.Evaluator.(rag.Fingerprinter); ok {
			name += " (" + f.Fingerprint() + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// Evaluate asks the backends one after the other. Its only error is that of a done context.
func (c *Composite) Evaluate(ctx context.Context, samples []rag.EvalSample) (map[string][]rag.EvalValue, error) {
	all := map[string][]rag.EvalValue{}
	for _, b := range c.backends {
		values, err := b.evaluate(ctx, samples)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, m := range b.Metrics {
			all[m] = values[m]
			if err != nil || len(values[m]) != len(samples) {
				all[m] = b.nulls(len(samples), err)
			}
		}
	}
	return all, nil
}

// evaluate keeps a panic of a backend from the others.
func (b *Backend) evaluate(ctx context.Context, samples []rag.EvalSample) (values map[string][]rag.EvalValue, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return b.Evaluator.Evaluate(ctx, samples)
}

// backendFailed begins the reason of a null that a failed backend left.
const backendFailed = "the evaluator "

func (b *Backend) nulls(n int, err error) []rag.EvalValue {
	if err == nil {
		err = fmt.Errorf("it did not give %d values", n)
	}
	values := make([]rag.EvalValue, n)
	for i := range values {
		values[i] = rag.EvalNull(fmt.Sprintf("%s%s failed: %v", backendFailed, b.Name, err))
	}
	return values
}

// unjudged counts the answers of a run that a failed evaluator, or a judge without a verdict, left without a value.
func (r *Run) unjudged() int {
	n := 0
	for _, out := range r.Questions {
		if out.AnswerError != "" {
			n++
			continue
		}
		for _, v := range out.Metrics {
			if strings.HasPrefix(v.Null, backendFailed) || strings.HasPrefix(v.Null, judgeFailed) {
				n++
				break
			}
		}
	}
	return n
}
