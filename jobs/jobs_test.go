package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/jobs"
	"github.com/seed-d8745b77/rag/ragtest"
)

func manager(t *testing.T, o jobs.Options) *jobs.Manager {
	t.Helper()
	m := jobs.New(o)
	t.Cleanup(m.Close)
	return m
}

func start(t *testing.T, m *jobs.Manager, owner string, work func(context.Context, *jobs.Run) (any, error)) *jobs.Job {
	t.Helper()
	j, err := m.Start(jobs.Spec{Owner: owner, Kind: "test", Work: work})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// untilCancelled is work that ends when it is told to.
func untilCancelled(ctx context.Context, _ *jobs.Run) (any, error) {
	<-ctx.Done()
	return "so far", ctx.Err()
}

// A job whose clock is put back has taken no time, not less than none.
func TestTheClockIsPutBack(t *testing.T) {
	var readings atomic.Int64
	now := func() time.Time {
		return time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC).Add(-time.Duration(readings.Add(1)) * time.Hour)
	}
	j := start(t, manager(t, jobs.Options{Now: now}), "ann", func(context.Context, *jobs.Run) (any, error) { return 1, nil })
	<-j.Done()
	if s := j.Status(); s.State != jobs.Done || !s.Ended.Before(s.Started) || s.Elapsed(now()) != 0 {
		t.Errorf("%+v took %v", s, s.Elapsed(now()))
	}
}

func TestHowJobsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		work  func(context.Context, *jobs.Run) (any, error)
		state jobs.State
		err   string
	}{
		"well":             {func(context.Context, *jobs.Run) (any, error) { return 1, nil }, jobs.Done, ""},
		"some items fail":  {func(context.Context, *jobs.Run) (any, error) { return 1, fmt.Errorf("%w: two", rag.ErrPartial) }, jobs.Done, ""},
		"with an error":    {func(context.Context, *jobs.Run) (any, error) { return 1, io.ErrUnexpectedEOF }, jobs.Failed, "unexpected EOF"},
		"in a panic":       {func(context.Context, *jobs.Run) (any, error) { panic("secret") }, jobs.Failed, "it gave up because of an internal error"},
		"cancelled itself": {func(context.Context, *jobs.Run) (any, error) { return nil, context.Canceled }, jobs.Failed, "context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			j := start(t, manager(t, jobs.Options{}), "ann", c.work)
			<-j.Done()
			if s := j.Status(); s.State != c.state || s.Error != c.err || s.Ended.IsZero() || s.Started.IsZero() {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	j := start(t, manager(t, jobs.Options{}), "ann", untilCancelled)
	if r, err := j.Result(); r != nil || err != nil {
		t.Errorf("a result before the end: %v, %v", r, err)
	}
	for c := range j.Follow(t.Context(), 0) {
		if c.Status.State == jobs.Running {
			break
		}
	}
	j.Cancel()
	<-j.Done()
	if s := j.Status(); s.State != jobs.Cancelled || s.Error != "" {
		t.Errorf("%+v", s)
	}
	if r, err := j.Result(); r != "so far" || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", r, err)
	}
	j.Cancel() // again, for nothing
}

func TestJobsWaitForOneAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := jobs.New(jobs.Options{Parallel: 1})
		first := start(t, m, "ann", untilCancelled)
		synctest.Wait()
		second, third := start(t, m, "ann", untilCancelled), start(t, m, "ann", untilCancelled)
		synctest.Wait()
		if got := []jobs.State{first.Status().State, second.Status().State}; !slices.Equal(got, []jobs.State{jobs.Running, jobs.Queued}) {
			t.Errorf("%v", got)
		}
		third.Cancel() // while it waits
		<-third.Done()
		first.Cancel()
		synctest.Wait()
		if got := second.Status().State; got != jobs.Running {
			t.Errorf("the second is %s", got)
		}
		m.Close() // and no goroutine is left, or synctest fails
		if s := second.Status(); s.State != jobs.Cancelled {
			t.Errorf("%+v", s)
		}
		if _, err := m.Start(jobs.Spec{Work: untilCancelled}); !errors.Is(err, jobs.ErrClosed) {
			t.Error(err)
		}
	})
}

func TestOwnersSeeTheirOwn(t *testing.T) {
	m := manager(t, jobs.Options{})
	a, b := start(t, m, "ann", untilCancelled), start(t, m, "bob", untilCancelled)
	c, err := m.Start(jobs.Spec{Owner: "ann", Kind: "other", Work: untilCancelled})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.Get("ann", a.ID()); err != nil || got != a {
		t.Error(err)
	}
	if _, err := m.Get("ann", b.ID()); !errors.Is(err, rag.ErrNotFound) {
		t.Error(err)
	}
	if got := m.List("ann"); !slices.Equal(got, []*jobs.Job{c, a}) {
		t.Errorf("%v", got)
	}
	if got := m.List("ann", "test"); !slices.Equal(got, []*jobs.Job{a}) {
		t.Errorf("%v", got)
	}
}

func TestTheOldestThatHaveEndedAreForgotten(t *testing.T) {
	m := manager(t, jobs.Options{Keep: 2})
	running := start(t, m, "ann", untilCancelled)
	done := start(t, m, "ann", func(context.Context, *jobs.Run) (any, error) { return nil, nil })
	<-done.Done()
	last := start(t, m, "ann", untilCancelled)
	if got := m.List("ann"); !slices.Equal(got, []*jobs.Job{last, running}) {
		t.Errorf("%v", got)
	}
	if _, err := m.Start(jobs.Spec{Work: untilCancelled}); !errors.Is(err, rag.ErrUnavailable) {
		t.Error(err)
	}
}

// keys lists the items of a change with their states.
func keys(c jobs.Change) []string {
	var out []string
	for _, it := range c.Items {
		out = append(out, it.Key+" "+string(it.State))
	}
	return out
}

func TestAReaderGoesOnWhereItWas(t *testing.T) {
	m := manager(t, jobs.Options{})
	next, told := make(chan func(*jobs.Run)), make(chan bool)
	j := start(t, m, "ann", func(_ context.Context, run *jobs.Run) (any, error) {
		for step := range next {
			step(run)
			told <- true
		}
		return "made", nil
	})
	tell := func(step func(*jobs.Run)) { next <- step; <-told }
	tell(func(r *jobs.Run) { r.Item(jobs.Item{Key: "a", State: jobs.ItemQueued}) })
	tell(func(r *jobs.Run) { r.Item(jobs.Item{Key: "b", State: jobs.ItemQueued}) })
	first := j.Since(0)
	if diff := cmp.Diff([]string{"a queued", "b queued"}, keys(first)); diff != "" {
		t.Error(diff)
	}
	tell(func(r *jobs.Run) { r.Item(jobs.Item{Key: "a", State: jobs.ItemWorking, Stage: "load"}) })
	tell(func(r *jobs.Run) { r.Item(jobs.Item{Key: "a", State: jobs.ItemDone, Outcome: "add"}) })
	tell(func(r *jobs.Run) { r.Stage("load", 1, 2); r.Stage("embed", 3, 9); r.Stage("load", 2, 2) })
	second := j.Since(first.Status.Seq)
	if diff := cmp.Diff([]string{"a done"}, keys(second)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]jobs.Stage{{Name: "load", Done: 2, Total: 2}, {Name: "embed", Done: 3, Total: 9}}, second.Status.Stages); diff != "" || second.Status.Last != "load" {
		t.Error(diff)
	}
	if diff := cmp.Diff(jobs.Counts{Total: 2, Queued: 1, Done: 1, Outcomes: map[string]int{"add": 1}}, second.Status.Counts); diff != "" {
		t.Error(diff)
	}
	if it := second.Items[0]; it.Started.IsZero() || it.Ended.IsZero() {
		t.Errorf("%+v", it)
	}
	close(next)
	<-j.Done()
	var seen []jobs.State
	for c := range j.Follow(t.Context(), second.Status.Seq) {
		seen = append(seen, c.Status.State)
		if c.Result != "made" || len(c.Items) != 0 {
			t.Errorf("%+v", c)
		}
	}
	for c := range j.Follow(t.Context(), j.Status().Seq) { // the end is told again to who has seen it
		seen = append(seen, c.Status.State)
	}
	if !slices.Equal(seen, []jobs.State{jobs.Done, jobs.Done}) {
		t.Errorf("%v", seen)
	}
}

func TestFollowersSeeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := jobs.New(jobs.Options{})
		defer m.Close()
		goOn := make(chan bool)
		j := start(t, m, "ann", func(_ context.Context, r *jobs.Run) (any, error) {
			for i := range 50 {
				r.Item(jobs.Item{Key: fmt.Sprint(i), State: jobs.ItemDone})
				<-goOn
			}
			return nil, nil
		})
		gone, leave := context.WithCancel(t.Context())
		ended := make(chan int)
		for _, ctx := range []context.Context{t.Context(), t.Context(), gone} {
			go func() {
				seen := map[string]bool{}
				for c := range j.Follow(ctx, 0) {
					for _, it := range c.Items {
						seen[it.Key] = true
					}
				}
				ended <- len(seen)
			}()
		}
		synctest.Wait()
		leave() // a reader that goes away holds up nobody
		if n := <-ended; n != 1 {
			t.Errorf("it saw %d items", n)
		}
		for range 50 {
			goOn <- true
		}
		if a, b := <-ended, <-ended; a != 50 || b != 50 {
			t.Errorf("%d and %d of 50 items", a, b)
		}
	})
}

func TestItemsAreBoundedAndCounted(t *testing.T) {
	m := manager(t, jobs.Options{Items: 10})
	j := start(t, m, "ann", func(_ context.Context, r *jobs.Run) (any, error) {
		for i := range 100 {
			r.Item(jobs.Item{Key: fmt.Sprint(i), State: jobs.ItemQueued})
		}
		for i := range 90 {
			r.Item(jobs.Item{Key: fmt.Sprint(i), State: jobs.ItemWorking})
			r.Item(jobs.Item{Key: fmt.Sprint(i), State: jobs.ItemDone, Outcome: "add"})
		}
		return nil, nil
	})
	<-j.Done()
	c := j.Since(0)
	if len(c.Items) != 10 || c.Items[9].Key != "89" {
		t.Errorf("%v", keys(c))
	}
	if diff := cmp.Diff(jobs.Counts{Total: 100, Queued: 10, Done: 90, Outcomes: map[string]int{"add": 90}}, c.Status.Counts); diff != "" {
		t.Error(diff)
	}
}

func TestIngest(t *testing.T) {
	eng, err := rag.Open("", rag.WithEmbedder(&ragtest.HashEmbedder{}))
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	returned := 0
	lend := func(context.Context) (*rag.Engine, func(), error) { return eng, func() { returned++ }, nil }
	req := rag.IngestRequest{Sources: []rag.Sources{rag.Bytes("mem:a.md", []byte("# A\n\nOtters swim.")), rag.Bytes("mem:b.zip", []byte{0, 1, 2})}}
	j := start(t, manager(t, jobs.Options{}), "ann", jobs.Ingest(lend, req))
	<-j.Done()
	c := j.Since(0)
	if diff := cmp.Diff([]string{"mem:a.md done", "mem:b.zip failed"}, slices.Sorted(slices.Values(keys(c)))); diff != "" {
		t.Error(diff)
	}
	if st := c.Status.Stage(rag.StageEmbed); st.Done != 1 || st.Total != 1 || c.Status.State != jobs.Done || returned != 1 {
		t.Errorf("%+v", c.Status)
	}
	if rep, ok := c.Result.(*rag.IngestReport); !ok || rep.Added != 1 || len(rep.Failed) != 1 {
		t.Errorf("%+v", c.Result)
	}
	for _, it := range c.Items {
		if it.State == jobs.ItemFailed && !strings.Contains(it.Note, "no loader") {
			t.Errorf("%+v", it)
		}
	}
}

func TestIngestWithoutAnEngine(t *testing.T) {
	lend := func(context.Context) (*rag.Engine, func(), error) { return nil, nil, io.ErrClosedPipe }
	j := start(t, manager(t, jobs.Options{}), "ann", jobs.Ingest(lend, rag.IngestRequest{}))
	<-j.Done()
	if r, err := j.Result(); r != nil || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%v, %v", r, err)
	}
}
