package main

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
)

// queryFlags are the flags of the verbs that ask a question.
type queryFlags struct {
	topK    int
	mode    string
	filters []string
	asOf    string
	domain  domainFlag
}

func (f *queryFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVarP(&f.topK, "top-k", "k", 0, "passages wanted (default: the configured number, 10)")
	flags.StringVarP(&f.mode, "mode", "m", "", "hybrid, dense or sparse (default: what the configuration enables)")
	flags.StringArrayVarP(&f.filters, "filter", "f", nil, "condition on metadata: key=value or a filter as JSON; may come several times, all must hold")
	flags.StringVar(&f.asOf, "as-of", "", "leave out what is not in force on this day (2006-01-02) or at this instant (RFC 3339)")
	f.domain.add(cmd, "its collection, its forced filter, its vocabulary for --filter, and today for --as-of")
}

// query makes the engine's query of the flags. Whatever cannot be understood is a usage error.
func (f *queryFlags) query(a *app, cmd *cobra.Command, words []string) (rag.Query, error) {
	q := rag.Query{Text: strings.Join(words, " "), Collection: a.collection, TopK: f.topK, Mode: rag.Mode(f.mode)}
	if len(words) == 0 || strings.TrimSpace(q.Text) == "" {
		return q, usagef(cmd, "no question given")
	}
	if cmd.Flags().Changed("top-k") && f.topK < 1 {
		return q, usagef(cmd, "--top-k is %d: it must be at least 1", f.topK)
	}
	switch q.Mode {
	case "", rag.Hybrid, rag.Dense, rag.Sparse:
	default:
		modes := []string{string(rag.Hybrid), string(rag.Dense), string(rag.Sparse)}
		return q, usagef(cmd, "--mode %q%s (known: %s)", f.mode, rag.DidYouMean(f.mode, modes), strings.Join(modes, ", "))
	}
	for _, text := range f.filters {
		one, err := parseFilter(text)
		if err != nil {
			return q, usagef(cmd, "--filter %s: %v", text, err)
		}
		q.Filter = rag.And(q.Filter, one)
	}
	d, err := f.domain.load()
	if err != nil {
		return q, err
	}
	if q.AsOf, err = date(cmd, f.asOf, d); err != nil || d == nil {
		return q, err
	}
	return d.Query(q, q.AsOf)
}

// parseFilter reads a filter as JSON, or key=value. A value that looks like a number or a bool matches that as well
// as the text, since files say such things either way.
func parseFilter(text string) (rag.Filter, error) {
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		var f rag.Filter
		err := json.Unmarshal([]byte(text), &f)
		return f, err
	}
	key, value, ok := strings.Cut(text, "=")
	if key = strings.TrimSpace(key); !ok || key == "" {
		return rag.Filter{}, errors.New(`want key=value or a JSON object such as {"op":"eq","field":"year","value":2026}`)
	}
	if strings.HasSuffix(key, "<") || strings.HasSuffix(key, ">") || strings.HasSuffix(key, "!") {
		return rag.Filter{}, errors.New(`a comparison is written as JSON, such as {"op":"range","field":"year","bounds":{"gte":2026}} or {"op":"not","args":[{"op":"eq","field":"year","value":2026}]}`)
	}
	if key == rag.FieldURI {
		uri, err := toURI(value)
		return rag.Eq(key, uri), err
	}
	if n, err := strconv.ParseFloat(value, 64); err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
		return rag.In(key, value, n), nil
	}
	if value == "true" || value == "false" {
		return rag.In(key, value, value == "true"), nil
	}
	return rag.Eq(key, value), nil
}

// parseInstant reads a day, which begins at midnight UTC, or an instant; "" is the zero time.
func parseInstant(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t, err = time.Parse(time.RFC3339, text)
	}
	if err == nil && t.IsZero() {
		err = errors.New("the first day of year 1 stands for no day")
	}
	return t, err
}
