package ragtest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// QueueCatalog is a catalog with a queue that workers share.
type QueueCatalog interface {
	rag.Catalog
	rag.WorkQueue
}

// TestWorkQueue checks a catalog against the contract of [rag.WorkQueue]. Each call of open gives another handle, as another
// process would have it, to the same data for the same test.
func TestWorkQueue(t *testing.T, open func(t *testing.T) QueueCatalog) {
	t.Helper()
	for _, c := range []struct {
		sentence string
		check    func(t *testing.T, one, two QueueCatalog)
	}{
		{"what is enqueued comes back, in order, each once", queueOrder},
		{"many workers at once get each source once", queueCrowd},
		{"a lease that ran out is taken over, and counts as a loss", queueTakeOver},
		{"who lost a source can neither renew, commit nor settle it", queueFencing},
		{"what was touched is kept for the next claim, and told as pending in the header", queueTouched},
		{"what a worker touched that had lost its source is cleaned by another claim", queueStale},
		{"a source that waits is not claimed before its time", queueWait},
		{"a source that is enqueued twice is worked on once more", queueTwice},
		{"what is done is forgotten with the next work, what failed is not", queueForgets},
		{"those who share a collection exclude who locks it", queueShares},
		{"who waits to lock goes before who comes to share", queueGate},
		{"dropping a collection drops its queue", queueDrop},
		{"no lease, no name and no source is an error of its kind", queueInvalid},
	} {
		t.Run(c.sentence, func(t *testing.T) { c.check(t, open(t), open(t)) })
	}
}

const (
	queueName = "c"
	longLease = time.Hour
	noLease   = -time.Second // has run out when it is given
)

func queueURI(i int) string { return fmt.Sprintf("file:///papers/%03d.md", i) }

// enqueue puts n sources into the queue.
func enqueue(t *testing.T, q QueueCatalog, n int) (sources []rag.QueuedSource) {
	t.Helper()
	for i := range n {
		sources = append(sources, rag.QueuedSource{
			URI: queueURI(i), Scope: "file:///papers/", Name: fmt.Sprintf("%03d.md", i), MediaType: "text/markdown", Title: "Paper \"ä\"",
			Meta: rag.Meta{"year": 2026.0, "tags": []string{"a", "b"}},
		})
	}
	ok(t, q.Enqueue(t.Context(), queueName, sources))
	return sources
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func claim(t *testing.T, q QueueCatalog, n int, lease time.Duration) []rag.QueueClaim {
	t.Helper()
	claims, err := q.Claim(t.Context(), queueName, "worker", n, lease)
	ok(t, err)
	return claims
}

// claimOne claims the only source that there is.
func claimOne(t *testing.T, q QueueCatalog, lease time.Duration) rag.QueueClaim {
	t.Helper()
	claims := claim(t, q, 2, lease)
	if len(claims) != 1 {
		t.Fatalf("%d sources could be claimed, want 1", len(claims))
	}
	return claims[0]
}

func settle(t *testing.T, q QueueCatalog, ends ...rag.QueueEnd) {
	t.Helper()
	ok(t, q.Settle(t.Context(), queueName, ends))
}

func done(c rag.QueueClaim) rag.QueueEnd { return rag.QueueEnd{QueueClaim: c, State: rag.QueueDone} }

// queueCounts are the counts of a status.
func queueCounts(t *testing.T, q QueueCatalog) map[string]int {
	t.Helper()
	s, err := q.Queue(t.Context(), queueName, 10)
	ok(t, err)
	counts := map[string]int{}
	for name, n := range map[string]int{rag.QueuePending: s.Pending, rag.QueueRunning: s.Running, rag.QueueDone: s.Done, rag.QueueFailed: s.Failed, "unclean": s.Unclean} {
		if n > 0 {
			counts[name] = n
		}
	}
	return counts
}

func wantCounts(t *testing.T, q QueueCatalog, want map[string]int) {
	t.Helper()
	if diff := cmp.Diff(want, queueCounts(t, q)); diff != "" {
		t.Errorf("the queue differs (-want +got):\n%s", diff)
	}
}

func queueOrder(t *testing.T, one, two QueueCatalog) {
	want := enqueue(t, one, 5)
	var got []rag.QueuedSource
	for _, c := range slices.Concat(claim(t, one, 3, longLease), claim(t, two, 3, longLease)) {
		if c.Tries != 0 || c.Losses != 0 || len(c.Touched)+len(c.Pending) != 0 {
			t.Errorf("a new source has a past: %+v", c)
		}
		got = append(got, c.QueuedSource)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("claimed (-want +got):\n%s", diff)
	}
	wantCounts(t, two, map[string]int{rag.QueueRunning: 5})
	s, err := two.Queue(t.Context(), queueName, 10)
	if err != nil || len(s.Workers) != 1 || s.Workers[0].Name != "worker" || s.Workers[0].Sources != 5 || s.Workers[0].Lease <= 0 {
		t.Errorf("workers %+v, %v", s.Workers, err)
	}
}

func queueCrowd(t *testing.T, one, two QueueCatalog) {
	const sources = 60
	enqueue(t, one, sources)
	var mu sync.Mutex
	times := map[string]int{}
	var wg sync.WaitGroup
	for _, q := range []QueueCatalog{one, two, one, two} {
		wg.Go(func() {
			for {
				claims, err := q.Claim(t.Context(), queueName, "worker", 4, longLease)
				if err != nil {
					t.Error(err)
				}
				if len(claims) == 0 {
					return
				}
				mu.Lock()
				for _, c := range claims {
					times[c.URI]++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for uri, n := range times {
		if n != 1 {
			t.Errorf("%s was claimed %d times", uri, n)
		}
	}
	if len(times) != sources { // nobody ends while there is something that nobody else is at
		t.Errorf("%d of %d were claimed", len(times), sources)
	}
}

func queueTakeOver(t *testing.T, one, two QueueCatalog) {
	enqueue(t, one, 2)
	first := claim(t, one, 1, noLease)[0]
	again := claim(t, two, 2, longLease)
	if len(again) != 2 || again[0].URI != queueURI(1) || again[1].URI != first.URI {
		t.Fatalf("claimed %+v, want what was never lost first", again)
	}
	if again[1].Losses != 1 || again[0].Losses != 0 || again[1].Number == first.Number {
		t.Errorf("claims %+v, the first was %+v", again, first)
	}
	if more := claim(t, one, 2, longLease); len(more) != 0 {
		t.Errorf("what is held was claimed: %+v", more)
	}
	held, err := two.Renew(t.Context(), queueName, again, noLease)
	if slices.Sort(held); err != nil || !slices.Equal(held, []string{queueURI(0), queueURI(1)}) {
		t.Errorf("held %v, %v", held, err)
	}
	// One whose lease ran out still holds what nobody took.
	if held, err = two.Renew(t.Context(), queueName, again, longLease); err != nil || len(held) != 2 {
		t.Errorf("held %v, %v", held, err)
	}
}

// queuePaper is a change that puts a document.
func queuePaper(uri, text string) rag.Change {
	id := rag.DocumentID(queueName, uri)
	chunk := rag.Chunk{ID: rag.ChunkID(id, text, 0), DocID: id, URI: uri, Text: text, End: len(text)}
	return rag.Change{Put: &rag.Record{
		Entry:    rag.Entry{URI: uri, DocID: id, Chunks: []rag.ChunkRef{{ID: chunk.ID}}},
		Document: rag.Document{ID: id, URI: uri, Text: text}, Chunks: []rag.Chunk{chunk},
	}}
}

func queueFencing(t *testing.T, one, two QueueCatalog) {
	ok(t, one.Commit(t.Context(), queueName, nil))
	enqueue(t, one, 2)
	stale := claim(t, one, 2, noLease)
	ok(t, one.CommitClaimed(t.Context(), queueName, stale, []rag.Change{queuePaper(queueURI(0), "old")})) // nobody has taken it yet
	now := claim(t, two, 1, longLease)
	if now[0].URI != queueURI(0) {
		t.Fatalf("claimed %+v", now)
	}
	held, err := one.Renew(t.Context(), queueName, stale, longLease)
	if err != nil || !slices.Equal(held, []string{queueURI(1)}) {
		t.Errorf("held %v, %v, want the second alone", held, err)
	}
	err = one.CommitClaimed(t.Context(), queueName, stale, []rag.Change{queuePaper(queueURI(0), "stale"), queuePaper(queueURI(1), "stale")})
	if !errors.Is(err, rag.ErrLocked) {
		t.Errorf("a commit of who lost a source: %v, want ErrLocked", err)
	}
	if _, err := two.Document(t.Context(), queueName, queueURI(1)); !errors.Is(err, rag.ErrNotFound) {
		t.Errorf("a part of a refused commit is there: %v", err)
	}
	settle(t, one, done(stale[0]))
	wantCounts(t, two, map[string]int{rag.QueueRunning: 2})
	ok(t, two.CommitClaimed(t.Context(), queueName, now, []rag.Change{queuePaper(queueURI(0), "new")}))
	settle(t, two, done(now[0]))
	if doc, err := one.Document(t.Context(), queueName, queueURI(0)); err != nil || doc.Text != "new" {
		t.Errorf("the document is %q, %v", doc.Text, err)
	}
	wantCounts(t, two, map[string]int{rag.QueueRunning: 1, rag.QueueDone: 1})
	if err := two.CommitClaimed(t.Context(), queueName, now, nil); !errors.Is(err, rag.ErrLocked) {
		t.Errorf("a commit of a claim that has ended: %v, want ErrLocked", err)
	}
}

// pendingOf are the URIs that the header of the collection says are changing.
func pendingOf(t *testing.T, c QueueCatalog) []string {
	t.Helper()
	infos, err := c.Collections(t.Context())
	ok(t, err)
	if len(infos) != 1 {
		t.Fatalf("collections %+v", infos)
	}
	return infos[0].Header.Pending
}

func queueTouched(t *testing.T, one, two QueueCatalog) {
	ok(t, one.Commit(t.Context(), queueName, []rag.Change{{Header: &rag.Header{Embedder: "e"}}}))
	enqueue(t, one, 1)
	c := claimOne(t, one, longLease)
	c.Touched, c.Pending = []string{"a", "b"}, []string{queueURI(0), queueURI(0) + "#2"}
	_, err := one.Renew(t.Context(), queueName, []rag.QueueClaim{c}, noLease)
	ok(t, err)
	wantCounts(t, one, map[string]int{rag.QueueRunning: 1, "unclean": 1})
	if got := pendingOf(t, two); !slices.Equal(got, c.Pending) {
		t.Errorf("pending %q, want %q", got, c.Pending)
	}
	leave, _ := share(t, two) // who is the first to share the collection puts it right, and nothing is left to clean
	leave()
	wantCounts(t, one, map[string]int{rag.QueueRunning: 1})
	_, err = one.Renew(t.Context(), queueName, []rag.QueueClaim{c}, noLease)
	ok(t, err)
	next := claimOne(t, two, longLease)
	if !slices.Equal(next.Touched, c.Touched) || !slices.Equal(next.Pending, c.Pending) {
		t.Errorf("the next claim has %q and %q", next.Touched, next.Pending)
	}
	next.Touched, next.Pending = nil, nil
	settle(t, two, done(next))
	wantCounts(t, one, map[string]int{rag.QueueDone: 1})
	if got := pendingOf(t, two); len(got) != 0 {
		t.Errorf("pending %q", got)
	}
}

func queueStale(t *testing.T, one, two QueueCatalog) {
	enqueue(t, one, 1)
	stale := claimOne(t, one, noLease)
	now := claimOne(t, two, longLease)
	stale.Touched = []string{"x"}
	settle(t, one, rag.QueueEnd{QueueClaim: stale, State: rag.QueuePending})
	wantCounts(t, one, map[string]int{rag.QueueRunning: 1, "unclean": 1})
	settle(t, two, done(now))
	wantCounts(t, one, map[string]int{rag.QueuePending: 1, "unclean": 1})
	if c := claimOne(t, two, longLease); !slices.Equal(c.Touched, []string{"x"}) {
		t.Errorf("the next claim has %q", c.Touched)
	} else {
		c.Touched = nil
		settle(t, two, done(c))
	}
	settle(t, one, rag.QueueEnd{QueueClaim: stale, State: rag.QueuePending}) // also long after
	wantCounts(t, one, map[string]int{rag.QueuePending: 1, "unclean": 1})
}

func queueWait(t *testing.T, one, two QueueCatalog) {
	enqueue(t, one, 2)
	claims := claim(t, one, 2, longLease)
	claims[0].Tries, claims[1].Tries = 1, 3
	settle(t, one, rag.QueueEnd{QueueClaim: claims[0], State: rag.QueuePending, Wait: longLease, Error: "it is not there"},
		rag.QueueEnd{QueueClaim: claims[1], State: rag.QueueFailed, Error: "torn\x00"})
	if more := claim(t, two, 2, longLease); len(more) != 0 {
		t.Errorf("claimed %+v", more)
	}
	wantCounts(t, two, map[string]int{rag.QueuePending: 1, rag.QueueFailed: 1})
	s, err := two.Queue(t.Context(), queueName, 10)
	ok(t, err)
	want := []rag.QueueFailure{{URI: queueURI(1), State: rag.QueueFailed, Tries: 3, Error: "torn\uFFFD"}, {URI: queueURI(0), State: rag.QueuePending, Tries: 1, Error: "it is not there"}}
	if diff := cmp.Diff(want, s.Failures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	if s, err = two.Queue(t.Context(), queueName, 1); err != nil || len(s.Failures) != 1 {
		t.Errorf("of one that is asked for there are %d failures, %v", len(s.Failures), err)
	}
	enqueue(t, one, 2) // has them worked on at once
	for _, c := range claim(t, two, 2, longLease) {
		if c.Tries != 0 {
			t.Errorf("%s begins with %d tries", c.URI, c.Tries)
		}
	}
	wantCounts(t, two, map[string]int{rag.QueueRunning: 2})
}

func queueTwice(t *testing.T, one, two QueueCatalog) {
	enqueue(t, one, 1)
	enqueue(t, two, 1)
	wantCounts(t, one, map[string]int{rag.QueuePending: 1})
	c := claimOne(t, one, longLease)
	ok(t, two.Enqueue(t.Context(), queueName, []rag.QueuedSource{{URI: c.URI, Title: "changed"}, {URI: c.URI, Title: "again"}}))
	if more := claim(t, two, 1, longLease); len(more) != 0 {
		t.Errorf("two workers have %s", c.URI)
	}
	settle(t, one, done(c)) // it may have been read before it changed
	if next := claimOne(t, two, longLease); next.Title != "again" {
		t.Errorf("claimed %+v, want what was enqueued last", next)
	} else {
		settle(t, two, done(next))
	}
	wantCounts(t, one, map[string]int{rag.QueueDone: 1})
}

func queueForgets(t *testing.T, one, two QueueCatalog) {
	enqueue(t, one, 3)
	claims := claim(t, one, 3, longLease)
	settle(t, one, done(claims[0]), done(claims[1]), rag.QueueEnd{QueueClaim: claims[2], State: rag.QueueFailed, Error: "torn"})
	ok(t, two.Enqueue(t.Context(), queueName, []rag.QueuedSource{{URI: "file:///other"}}))
	wantCounts(t, one, map[string]int{rag.QueuePending: 1, rag.QueueFailed: 1})
	ok(t, two.Enqueue(t.Context(), queueName, []rag.QueuedSource{{URI: "file:///third"}}))
	settle(t, one, done(claimOneOf(t, one)))
	ok(t, two.Enqueue(t.Context(), queueName, nil))
	wantCounts(t, one, map[string]int{rag.QueuePending: 1, rag.QueueFailed: 1, rag.QueueDone: 1})
}

func claimOneOf(t *testing.T, q QueueCatalog) rag.QueueClaim {
	t.Helper()
	return claim(t, q, 1, longLease)[0]
}

// share takes the shared lock, and tells whether it was the first.
func share(t *testing.T, q QueueCatalog) (leave func() (last bool), first bool) {
	t.Helper()
	unlock, err := q.ShareCollection(t.Context(), queueName, 0, func() error { first = true; return nil })
	ok(t, err)
	return func() (last bool) {
		t.Helper()
		ok(t, unlock(func() error { last = true; return nil }))
		return last
	}, first
}

func queueShares(t *testing.T, one, two QueueCatalog) {
	leaveOne, first := share(t, one)
	leaveTwo, second := share(t, two)
	if !first || second {
		t.Errorf("first: %v and %v, want the first alone", first, second)
	}
	ok(t, one.Commit(t.Context(), queueName, nil))
	ok(t, two.Commit(t.Context(), queueName, nil))
	if _, err := two.LockCollection(t.Context(), queueName, 0); !errors.Is(err, rag.ErrLocked) {
		t.Errorf("locking what is shared: %v, want ErrLocked", err)
	}
	if last := leaveOne(); last {
		t.Error("one left, and two has it still")
	}
	if last := leaveTwo(); !last {
		t.Error("who left last was not told")
	}
	unlock, err := one.LockCollection(t.Context(), queueName, 0)
	ok(t, err)
	never := func() error { t.Error("first was called"); return nil }
	if _, err := two.ShareCollection(t.Context(), queueName, 0, never); !errors.Is(err, rag.ErrLocked) {
		t.Errorf("sharing what is locked: %v, want ErrLocked", err)
	}
	unlock()
	refused := errors.New("no")
	if _, err := two.ShareCollection(t.Context(), queueName, 0, func() error { return refused }); !errors.Is(err, refused) {
		t.Errorf("an error of first: %v", err)
	}
	leave, again := share(t, one) // nothing is left of who was refused
	if !again || !leave() {
		t.Error("alone again, and not told so")
	}
}

// queueGate lets a worker come while another waits to lock what is shared.
func queueGate(t *testing.T, one, two QueueCatalog) {
	leave, _ := share(t, one)
	locked := make(chan error, 1)
	var unlock func()
	go func() {
		var err error
		unlock, err = two.LockCollection(t.Context(), queueName, time.Minute)
		locked <- err
	}()
	for { // until it waits
		again, err := one.ShareCollection(t.Context(), queueName, 0, func() error { return nil })
		if errors.Is(err, rag.ErrLocked) {
			break
		}
		ok(t, err)
		ok(t, again(func() error { return nil }))
	}
	select {
	case err := <-locked:
		t.Fatalf("locked beside who shares: %v", err)
	default:
	}
	leave()
	ok(t, <-locked)
	unlock()
}

func queueDrop(t *testing.T, one, two QueueCatalog) {
	enqueue(t, one, 2)
	ok(t, one.Commit(t.Context(), queueName, nil))
	claim(t, one, 1, longLease)
	ok(t, one.Enqueue(t.Context(), "other", []rag.QueuedSource{{URI: queueURI(0)}}))
	ok(t, two.Drop(t.Context(), queueName))
	wantCounts(t, one, map[string]int{})
	if s, err := one.Queue(t.Context(), "other", 0); err != nil || s.Pending != 1 {
		t.Errorf("the queue of another collection: %+v, %v", s, err)
	}
}

func queueInvalid(t *testing.T, one, two QueueCatalog) {
	for name, err := range map[string]error{
		"a URI":        one.Enqueue(t.Context(), queueName, []rag.QueuedSource{{}}),
		"a collection": one.Enqueue(t.Context(), "", nil),
	} {
		if !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("no name for %s: %v, want ErrInvalid", name, err)
		}
	}
	if claims, err := two.Claim(t.Context(), "unknown", "worker", 3, longLease); err != nil || len(claims) != 0 {
		t.Errorf("claims of an unknown collection: %v, %v", claims, err)
	}
	if held, err := two.Renew(t.Context(), queueName, nil, longLease); err != nil || len(held) != 0 {
		t.Errorf("nothing renewed: %v, %v", held, err)
	}
	ok(t, two.Settle(t.Context(), queueName, nil))
}
