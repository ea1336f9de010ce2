package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-d8745b77/rag"
)

// course is one run: what its clients share.
type course struct {
	o       options
	model   *model
	system  *system
	log     *slog.Logger
	gate    sync.RWMutex // held for reading by everything that is done, for writing while all is still
	checked atomic.Int64 // parts of papers that were compared with the model

	mu     sync.Mutex // guards what follows
	counts map[string]int
}

// count counts what was done, and says of an error what it was about.
func (c *course) count(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[what]++
	return nil
}

// soak does a run. The result is nil where the system could not begin; an error beside a result says what was not as it
// should be.
func soak(ctx context.Context, o options, progress io.Writer) (*result, error) {
	before := take("")
	log := slog.New(slog.NewTextHandler(progress, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := begin(ctx, log)
	if err != nil {
		return nil, err
	}
	c := &course{o: o, model: newModel(o.papers), system: s, log: log, counts: map[string]int{}}
	res := &result{options: o, before: before}
	start := time.Now()
	err = c.run(ctx, res, progress)
	res.took, res.counts, res.checked = time.Since(start), c.counts, c.checked.Load()
	err = errors.Join(err, s.close())
	res.after = take("")
	return res, err
}

// run has all clients work until the time is over or something is not as it should be.
func (c *course) run(ctx context.Context, res *result, progress io.Writer) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	client := newClient(c.system, c.o.writers+c.o.readers)
	defer client.http.CloseIdleConnections()
	writers, readers := c.clients(client)
	for _, w := range writers {
		if err := w.upload(ctx, w.papers); err != nil {
			return fmt.Errorf("first upload: %w", err)
		}
	}
	var work sync.WaitGroup
	over := make(chan struct{}) // an operation that is under way when the time is over ends by itself
	loop := func(s *session, step func(context.Context) error) {
		work.Go(func() {
			for ctx.Err() == nil {
				select {
				case <-over:
					stopIf(stop, s.close())
					return
				default:
				}
				c.gate.RLock()
				err := step(ctx)
				c.gate.RUnlock()
				stopIf(stop, err)
			}
		})
	}
	for _, w := range writers {
		loop(w.session, w.step)
	}
	for _, r := range readers {
		loop(r.session, r.step)
	}
	begun := time.Now()
	for i := range c.o.samples {
		pause(ctx, time.Until(begun.Add(c.o.length*time.Duration(i+1)/time.Duration(c.o.samples))))
		if ctx.Err() != nil {
			break
		}
		m, err := c.still(ctx, client, i)
		stopIf(stop, err)
		res.samples = append(res.samples, m)
		fmt.Fprintf(progress, "%d of %d: %s\n", i+1, c.o.samples, m)
	}
	close(over)
	work.Wait()
	return context.Cause(ctx)
}

// stopIf ends the run with an error, if it is one.
func stopIf(stop context.CancelCauseFunc, err error) {
	if err != nil {
		stop(err)
	}
}

// clients makes the writers, each with papers of its own, and the readers.
func (c *course) clients(client *client) (writers []*writer, readers []*reader) {
	for i := range c.o.writers {
		w := &writer{course: c, client: client, rnd: rand.New(rand.NewPCG(c.o.seed, uint64(i))), session: &session{client: client}}
		for n := i; n < len(c.model.papers); n += c.o.writers {
			w.papers = append(w.papers, c.model.papers[n])
		}
		writers = append(writers, w)
	}
	for i := range c.o.readers {
		readers = append(readers, &reader{course: c, client: client, rnd: rand.New(rand.NewPCG(c.o.seed, uint64(1000+i))), session: &session{client: client}})
	}
	return writers, readers
}

// How often, in measurements, the indexes are built anew and a backup is made: with the first one, since the file is largest
// then and keeps its size.
const (
	reindexEvery = 10
	backupEvery  = 7
)

// still stops everything, verifies the data, compares all of them with the model, keeps house, and measures.
func (c *course) still(ctx context.Context, client *client, i int) (measurement, error) {
	c.gate.Lock()
	defer c.gate.Unlock()
	if err := c.sound(ctx); err != nil {
		return measurement{}, err
	}
	if i%backupEvery == 0 {
		to := filepath.Join(c.system.dir, "backup.db")
		if err := c.count("backup", errors.Join(c.system.engine.Backup(ctx, to), os.Remove(to))); err != nil {
			return measurement{}, err
		}
	}
	if i%reindexEvery == 0 {
		_, err := c.system.engine.Reindex(ctx, rag.ReindexRequest{})
		if err := c.count("reindex", errors.Join(err, c.sound(ctx))); err != nil {
			return measurement{}, err
		}
	}
	client.http.CloseIdleConnections()
	return take(c.system.data()), nil
}

// sound verifies the data and compares every document and all its passages with the model.
func (c *course) sound(ctx context.Context) error {
	eng := c.system.engine
	rep, err := eng.Verify(ctx, "")
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if !rep.OK {
		return fmt.Errorf("verify: %+v", rep)
	}
	since := c.model.since()
	passages := map[string]string{}
	for k, err := range eng.Chunks(ctx, "", rag.Filter{}) {
		if err != nil {
			return err
		}
		passages[k.URI] += k.Text + "\n"
	}
	for i, p := range c.model.papers {
		doc, err := eng.Document(ctx, "", p.uri())
		if errors.Is(err, rag.ErrNotFound) {
			if err := p.absent(since[i]); err != nil {
				return err
			}
			if passages[p.uri()] != "" {
				return fmt.Errorf("paper %d is not there, and has passages: %.200s", i, passages[p.uri()])
			}
			continue
		}
		if err != nil {
			return err
		}
		if err := errors.Join(p.whole(doc.Text, since[i]), p.whole(passages[p.uri()], since[i])); err != nil {
			return err
		}
	}
	return c.count("verify, and compare with the model", nil)
}

// settled returns the number of goroutines when those of requests that have just ended are gone.
func settled() int {
	least := runtime.NumGoroutine()
	for range 20 {
		<-time.After(10 * time.Millisecond)
		least = min(least, runtime.NumGoroutine())
	}
	return least
}
