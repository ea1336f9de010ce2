package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/domain"
)

// queryFlags are the flags of the verbs that ask a question.
type queryFlags struct {
	topK    int
	mode    string
	filters []string
	asOf    string
	match   rag.TextMatch
	shape   shapeFlags
	domain  domainFlag
	expired bool
	rewrite []string
}

func (f *queryFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVarP(&f.topK, "top-k", "k", 0, "passages wanted (default: the configured number, 10)")
	flags.StringVarP(&f.mode, "mode", "m", "", "hybrid, dense or sparse (default: what the configuration enables)")
	flags.StringArrayVarP(&f.filters, "filter", "f", nil, "condition on metadata, such as 'year >= 2024 and not tags in [\"draft\"]'; may come several times, all must hold")
	flags.BoolVar(&f.match.Phrase, "phrase", false, "what stands in \"quotes\" must be in a passage word by word")
	flags.BoolVar(&f.match.Prefix, "prefix", false, "a word with * behind it stands for all words that begin so")
	flags.IntVar(&f.match.Fuzzy, "fuzzy", 0, "most letters, 0 to 2, that a word of a passage may differ by; in a short word fewer")
	flags.StringVar(&f.asOf, "as-of", "", "leave out what is not in force on this day (2026-12-31) or at this instant (RFC 3339)")
	flags.BoolVar(&f.expired, "expired", false, "with --as-of: find what is not in force too, with its status")
	flags.StringSliceVar(&f.rewrite, "rewrite", nil, "what is made of the question before it is looked up, such as decompose,hyde; none: nothing (default: the configured query_transforms)")
	f.shape.addRanking(cmd)
	f.domain.add(cmd, "its collection, its forced filter, its vocabulary for --filter, and today for --as-of")
}

// query makes the engine's query of the flags. Whatever cannot be understood is a usage error.
func (f *queryFlags) query(a *app, cmd *cobra.Command, words []string) (rag.Query, error) {
	q := rag.Query{Text: strings.Join(words, " "), Collection: a.collection, TopK: f.topK, Mode: rag.Mode(f.mode), Match: f.match, Expired: f.expired}
	if len(words) == 0 || strings.TrimSpace(q.Text) == "" {
		return q, usagef(cmd, "no question given")
	}
	if cmd.Flags().Changed("top-k") && f.topK < 1 {
		return q, usagef(cmd, "--top-k is %d: it must be at least 1", f.topK)
	}
	if f.match.Validate() != nil {
		return q, usagef(cmd, "--fuzzy is %d: it must be from 0 to %d", f.match.Fuzzy, rag.MaxFuzzy)
	}
	switch q.Mode {
	case "", rag.Hybrid, rag.Dense, rag.Sparse:
	default:
		modes := []string{string(rag.Hybrid), string(rag.Dense), string(rag.Sparse)}
		return q, usagef(cmd, "--mode %q%s (known: %s)", f.mode, rag.DidYouMean(f.mode, modes), strings.Join(modes, ", "))
	}
	f.shape.into(&q, cmd)
	var err error
	if q.Filter, err = parseFilters(f.filters); err != nil {
		return q, usagef(cmd, "%v", err)
	}
	d, err := f.domain.load()
	if err != nil {
		return q, err
	}
	q.NoDomain = f.domain.none()
	if q.AsOf, err = date(cmd, f.asOf, d); err != nil || d == nil {
		return q, err
	}
	return d.Query(q, q.AsOf)
}

// inZone reads the day of --as-of once more, in the time zone of the domain that the collection remembers: it is known only
// now that the data is open.
func (f *queryFlags) inZone(ctx context.Context, eng *rag.Engine, q *rag.Query) error {
	if f.asOf == "" || f.domain.file != "" {
		return nil
	}
	d, err := domain.Of(ctx, eng, q.Collection)
	if err != nil || d == nil {
		return err
	}
	q.AsOf, err = d.Instant(f.asOf)
	return err
}

// changes are what the flags change in the configuration.
func (f *queryFlags) changes() []change {
	if len(f.rewrite) == 0 {
		return nil
	}
	return []change{func(c *rag.Config) {
		configured := c.QueryTransforms
		c.QueryTransforms = []rag.ProviderConfig{}
		for _, name := range f.rewrite {
			if name == rag.None && len(f.rewrite) == 1 {
				continue
			}
			p := rag.ProviderConfig{Provider: name}
			for _, have := range configured {
				if have.Provider == name {
					p = have // with its settings
				}
			}
			c.QueryTransforms = append(c.QueryTransforms, p)
		}
	}}
}
