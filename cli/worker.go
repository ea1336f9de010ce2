package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
)

type workerFlags struct {
	drain bool
	lease time.Duration
	ocr   bool
}

func newWorker(a *app) *cobra.Command {
	var f workerFlags
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Ingest what is in a queue, beside other workers",
		Long: `worker takes sources from the collection's queue, which ingest --queue fills, and ingests them. Any number of workers, on
any number of machines that see the files under the same paths, share a queue; each source is worked on by one of them.
Workers follow the domain
that the collection remembers. It needs a catalog that processes share, such as a database: catalog: {provider: postgres}.

It goes on until it is interrupted, or with --drain until the queue is worked off. On an interrupt or SIGTERM it gives
back what it has begun. What a worker held that was killed is taken over when its lease runs out. A source that fails
is tried again; one that fails three times, or whose bytes cannot be read, is given up, and rag queue tells why.`,
		Example: examples("rag ingest --queue /srv/papers", "rag worker", "rag worker --drain"),
		Args:    exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.lease < time.Second {
				return usagef(cmd, "--lease %v: give a second at least", f.lease)
			}
			return a.work(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.drain, "drain", false, "end when the queue is worked off, also by others")
	flags.DurationVar(&f.lease, "lease", time.Minute, "after this time others take over what a worker held that is gone")
	addOCR(cmd, &f.ocr)
	return cmd
}

func (a *app) work(ctx context.Context, f workerFlags) error {
	req := rag.WorkRequest{Collection: a.collection, Drain: f.drain, Lease: f.lease}
	if !a.json {
		req.Tell = func(r *rag.IngestReport) { a.printIngest(a.out, r) }
	}
	return a.withData(func(eng *rag.Engine) error {
		if _, err := eng.Queue(ctx, req.Collection); err != nil { // before it says that it works
			return err
		}
		if !f.drain {
			a.note("working; an interrupt (Ctrl-C) ends it, and gives back what is begun")
		}
		report, err := eng.Work(ctx, req)
		if err != nil && !errors.Is(err, rag.ErrPartial) {
			return err
		}
		if err := a.present(report, func() { a.printWork(report) }); err != nil {
			return err
		}
		if err == nil {
			return nil
		}
		if report.Added+report.Updated+report.Unchanged == 0 {
			return &reported{exitFailed}
		}
		return &reported{exitPartial}
	}, ingestFlags{ocr: f.ocr}.ocrChanges()...)
}

// printWork sums up for a reader what a worker did.
func (a *app) printWork(r *rag.WorkReport) {
	p := a.paint(a.out)
	parts := []string{count(r.Sources, "source")}
	for _, n := range []struct {
		n    int
		what string
	}{{r.Added, "added"}, {r.Updated, "updated"}, {r.Unchanged, "unchanged"}, {r.Skipped, "skipped"}, {r.Retried, "failures that were tried again"}, {r.Lost, "lost to others"}} {
		if n.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	if r.Failed > 0 {
		parts = append(parts, p.red(fmt.Sprintf("%d given up", r.Failed)))
	}
	fmt.Fprintf(a.out, "%s: %s; %.1f s\n", p.bold("worker of collection "+visible(r.Collection)), strings.Join(parts, ", "), float64(r.ElapsedMS)/1000)
}

func newQueue(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "queue",
		Short: "Show how far workers are with a queue",
		Long: `queue counts the sources of the collection's queue: those that wait, those that workers are at, those that are done since
it was last empty, and those that failed and were given up, with the reasons. To have these tried again, put them into
the queue again: rag ingest --queue PATH.`,
		Example: examples("rag queue", "rag queue --json"),
		Args:    exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withData(func(eng *rag.Engine) error {
				s, err := eng.Queue(cmd.Context(), a.collection)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(s)
				}
				a.printQueue(s)
				return nil
			})
		},
	}
}

// printQueue writes how far a queue is for a reader.
func (a *app) printQueue(s rag.QueueStatus) {
	p := a.paint(a.out)
	fmt.Fprintf(a.out, "%s: %d pending, %d running, %d done, %d failed\n", p.bold("queue of collection "+visible(s.Collection)), s.Pending, s.Running, s.Done, s.Failed)
	for _, w := range s.Workers {
		lease := fmt.Sprintf("its lease runs for another %.0f s", w.Lease)
		if w.Lease < 0 {
			lease = p.yellow("its lease has run out: another worker takes over")
		}
		fmt.Fprintf(a.out, "%s: %s, %s\n", visible(w.Name), count(w.Sources, "source"), lease)
	}
	for _, f := range s.Failures {
		state := p.red("failed")
		if f.State == rag.QueuePending {
			state = p.yellow("waits")
		}
		tries := "1 try"
		if f.Tries != 1 {
			tries = fmt.Sprintf("%d tries", f.Tries)
		}
		fmt.Fprintf(a.out, "%s %s (%s): %s\n", state, place(f.URI), tries, visible(message(f.Error)))
	}
}

// enqueue puts the sources of an ingest into the queue.
func (a *app) enqueue(ctx context.Context, f ingestFlags) error {
	req, err := a.request(f)
	if err != nil {
		return err
	}
	return a.withData(func(eng *rag.Engine) error {
		report, err := eng.Enqueue(ctx, rag.EnqueueRequest{Collection: req.Collection, Sources: req.Sources, Domain: req.Domain, NoDomain: req.NoDomain})
		if err != nil && !errors.Is(err, rag.ErrPartial) {
			return err
		}
		if err := a.present(report, func() {
			fmt.Fprintf(a.out, "%s: %s queued\n", a.paint(a.out).bold("collection "+visible(report.Collection)), count(report.Queued, "source"))
			a.printDomain(a.out, report.Domain)
			a.printRemarks(a.out, &rag.IngestReport{Skipped: report.Skipped, Failed: report.Failed})
		}); err != nil {
			return err
		}
		switch {
		case err == nil:
			return nil
		case report.Queued == 0:
			return &reported{exitFailed}
		}
		return &reported{exitPartial}
	})
}
