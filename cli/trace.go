package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/trace"
)

func newTrace(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trace",
		Short: "Look at the records of searches, answers and ingests",
		Long: `Every search, answer and ingest leaves a trace in the data folder: what each stage did, how long it took, and which passages
it moved. trace reads them, also while another process writes. How much they tell is the setting trace.detail.`,
	}
	a.requireVerb(cmd)
	cmd.AddCommand(newTraceList(a), newTraceShow(a), newTraceTail(a))
	return cmd
}

// traceFlags say which traces are wanted.
type traceFlags struct {
	types  []string
	text   string
	failed bool
	since  string
	slow   time.Duration
	before string
	limit  int
}

func (f *traceFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringSliceVar(&f.types, "type", nil, "kinds of calls: query, ask, agent, ingest")
	flags.StringVar(&f.text, "text", "", "words that stand in the question, the sources or the ID")
	flags.BoolVar(&f.failed, "failed", false, "those that failed, as a whole or in a stage or a source")
	flags.DurationVar(&f.slow, "slow", 0, "those that took at least so long, such as 500ms")
}

// query makes the flags a query.
func (f *traceFlags) query(a *app, cmd *cobra.Command) (trace.Query, error) {
	q := trace.Query{
		Types: f.types, Text: f.text, Collection: a.collection, MinMS: float64(f.slow) / float64(time.Millisecond),
		Before: f.before, Limit: f.limit,
	}
	known := []string{rag.TraceQuery, rag.TraceAsk, rag.TraceAgent, rag.TraceIngest}
	for _, t := range f.types {
		if !slices.Contains(known, t) {
			return q, usagef(cmd, "unknown type %q%s (known: %s)", t, rag.DidYouMean(t, known), strings.Join(known, ", "))
		}
	}
	if f.failed {
		q.Status = []string{trace.StatusError, trace.StatusPartial}
	}
	var err error
	q.Since, err = since(cmd, f.since, time.Now())
	return q, err
}

// since reads a day, an instant, or how long ago.
func since(cmd *cobra.Command, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, ok := rag.FirstInstant(text, time.Local); ok {
		return at, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, usagef(cmd, "--since %s: neither a day like 2026-12-31, nor an instant like 2026-12-31T15:04:05Z, nor an age like 90m or 7d", text)
}

func newTraceList(a *app) *cobra.Command {
	var f traceFlags
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List traces, the newest first",
		Long:    "list shows when each call was made, how it ended, how long it took and what was asked. It reads no index and loads no model.",
		Example: examples("rag trace list", "rag trace list --failed --since 7d", "rag trace list --type ask --text \"notice period\" --json"),
		Args:    exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := f.query(a, cmd)
			if err != nil {
				return err
			}
			page, err := a.traces().List(cmd.Context(), q)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(page)
			}
			a.printTraces(page)
			return nil
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.since, "since", "", "a day, an instant, or how long ago: 2026-12-31, 90m, 7d")
	cmd.Flags().StringVar(&f.before, "before", "", "go on before the trace of this ID, the last one of the page before")
	cmd.Flags().IntVarP(&f.limit, "limit", "n", 20, "traces at most, 1 to 1000")
	return cmd
}

// traces reads those of the data folder.
func (a *app) traces() *trace.Index { return trace.NewIndex(a.dataDir()) }

func (a *app) printTraces(page trace.Page) {
	if len(page.Traces) == 0 {
		a.note("no trace in %s matches", a.dataDir())
		return
	}
	t := newTable("trace", "when", "type", "status", "ms", "hits", "question").numbers(4, 5)
	for i := range page.Traces {
		t.add(a.traceRow(&page.Traces[i])...)
	}
	t.print(a.out, a.paint(a.out), "")
	if page.Next != "" {
		fmt.Fprintf(a.out, "… more with --before %s\n", visible(page.Next))
	}
}

// traceColumns is what a row of the list needs beside the question.
const traceColumns = 66

func (a *app) traceRow(s *trace.Summary) []string {
	outcome, what := strconv.Itoa(s.Hits), s.Question
	if s.Counts != nil {
		outcome = strconv.Itoa(s.Counts.Added + s.Counts.Updated + s.Counts.Moved)
		what = strings.Join(s.Sources, ", ")
	}
	if s.Error != "" {
		what += " – " + s.Error
	}
	return []string{visible(s.ID), when(s.Timestamp), visible(s.Type), s.Status, ms(s.TotalMS), outcome, oneLine(what, max(a.width()-traceColumns, minWidth))}
}

// ms shows milliseconds.
func ms(n float64) string {
	if n >= 100 {
		return fmt.Sprintf("%.0f", n)
	}
	return fmt.Sprintf("%.2f", n)
}

func newTraceTail(a *app) *cobra.Command {
	var f traceFlags
	cmd := &cobra.Command{
		Use:     "tail",
		Short:   "Print traces as they are written, until it is interrupted",
		Long:    "tail prints the last traces and goes on with new ones, whichever process writes them: a line for each, with --json an object for each.",
		Example: examples("rag trace tail", "rag trace tail -n 0 --failed"),
		Args:    exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := f.query(a, cmd)
			if err != nil {
				return err
			}
			tick := time.NewTicker(tailEvery)
			defer tick.Stop()
			return a.tail(cmd.Context(), a.traces(), q, tick.C)
		},
	}
	f.add(cmd)
	cmd.Flags().IntVarP(&f.limit, "lines", "n", 10, "of the last traces, 0 to 1000")
	return cmd
}

// tailEvery is how often tail looks: soon enough for a person, and cheap.
const tailEvery = 500 * time.Millisecond

// tail prints the last traces, and at each tick those that came since.
func (a *app) tail(ctx context.Context, r trace.Reader, q trace.Query, tick <-chan time.Time) error {
	page, last, err := lastTraces(ctx, r, q)
	if err != nil {
		return err
	}
	if err := a.printTailed(page.Traces); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return nil // as it was told to
		case <-tick:
		}
		next, err := newestID(ctx, r)
		if err != nil || next == last {
			if err != nil && ctx.Err() == nil {
				return err
			}
			continue
		}
		q.After, q.Limit = last, 1000
		page, err := r.List(ctx, q)
		if err != nil {
			return err
		}
		last = next
		if err := a.printTailed(page.Traces); err != nil {
			return err
		}
	}
}

// lastTraces returns the last traces that match, and the newest one of all beside which they are.
func lastTraces(ctx context.Context, r trace.Reader, q trace.Query) (page trace.Page, newest string, err error) {
	for {
		if newest, err = newestID(ctx, r); err != nil || q.Limit == 0 {
			return page, newest, err
		}
		if page, err = r.List(ctx, q); err != nil {
			return page, newest, err
		}
		if again, err := newestID(ctx, r); err != nil || again == newest { // else one came between
			return page, newest, err
		}
	}
}

// newestID returns the ID of the newest trace; "" if there is none.
func newestID(ctx context.Context, r trace.Reader) (string, error) {
	page, err := r.List(ctx, trace.Query{Limit: 1})
	if err != nil || len(page.Traces) == 0 {
		return "", err
	}
	return page.Traces[0].ID, nil
}

// printTailed writes traces that come newest first in the order in which they were written.
func (a *app) printTailed(traces []trace.Summary) error {
	for _, s := range slices.Backward(traces) {
		if a.json {
			line, err := json.Marshal(s)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(a.out, "%s\n", line); err != nil {
				return err
			}
			continue
		}
		row := a.traceRow(&s)
		if _, err := fmt.Fprintf(a.out, "%s  %s  %-6s  %-7s  %8s ms  %3s  %s\n", row[0], row[1], row[2], row[3], row[4], row[5], row[6]); err != nil {
			return err
		}
	}
	return nil
}
