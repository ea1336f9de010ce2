package ragtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// TestEngineFaults checks what an engine over stores behind a network does when the network fails: in each task that changes
// a collection, one request goes wrong, or all of them from it on: each in turn, or some of very many, since each provider's own
// suite has them all. The error says that a service is to blame; at
// once every document is whole, the old version or the new one; a search tells what it left out; a repair leaves nothing to
// find, orphans are gone and what was to be deleted is; and the task, done again, ends as it does undisturbed.
//
// address is as in [TestVectorStoreFaults]. open returns an engine whose stores reach the server at the address given and
// try once, in a place of its own for each test; it closes it with the test. Where the catalog has locks, it needs
// [rag.WithLockWait]: a server may notice late that a connection is gone.
func TestEngineFaults(t *testing.T, address string, open func(t *testing.T, address string) *rag.Engine) {
	t.Helper()
	for _, task := range tasks {
		t.Run(task.name, func(t *testing.T) {
			p := NewProxy(t, address)
			f := &engineFaults{t: t, proxy: p, eng: open(t, p.Addr), task: task}
			n := f.undisturbed()
			t.Logf("%d requests", n)
			for i := range min(n, mostRequests) {
				at := 1 + i*n/min(n, mostRequests)
				for _, how := range f.ways(i, n) {
					f.strike(at, how)
				}
			}
			if f.struck == 0 {
				t.Error("no request was struck, so this shows nothing")
			}
		})
	}
}

// Up to how many requests of a task each goes wrong in every way, and up to how many each goes wrong in one: it takes a
// dozen calls of the engine to see what became of it.
const (
	fewRequests  = 5
	mostRequests = 16
)

// library is what a collection holds: the version of each document, by URI.
type library map[string]string

// faultyLibrary is what the tasks begin with.
var faultyLibrary = library{"mem:///a.md": "old", "mem:///b.md": "old", "mem:///c.md": "old"}

// task changes a collection.
type task struct {
	name    string
	becomes library
	do      func(ctx context.Context, eng *rag.Engine, collection string) error
}

var tasks = []task{
	{"ingest", library{"mem:///a.md": "new", "mem:///b.md": "old", "mem:///c.md": "old", "mem:///d.md": "new"}, func(ctx context.Context, eng *rag.Engine, c string) error {
		return library{"mem:///a.md": "new", "mem:///b.md": "old", "mem:///d.md": "new"}.ingest(ctx, eng, c)
	}},
	{"delete", library{"mem:///c.md": "old"}, func(ctx context.Context, eng *rag.Engine, c string) error {
		_, err := eng.Delete(ctx, rag.DeleteRequest{Collection: c, URIs: []string{"mem:///a.md", "mem:///b.md"}})
		return err
	}},
	{"drop", library{}, func(ctx context.Context, eng *rag.Engine, c string) error {
		_, err := eng.Delete(ctx, rag.DeleteRequest{Collection: c, All: true})
		return err
	}},
	{"reindex", faultyLibrary, func(ctx context.Context, eng *rag.Engine, c string) error {
		_, err := eng.Reindex(ctx, rag.ReindexRequest{Collection: c})
		return err
	}},
	{"search", faultyLibrary, func(ctx context.Context, eng *rag.Engine, c string) error {
		result, err := eng.Search(ctx, rag.Query{Collection: c, Text: "from which pier does the ship leave", TopK: 100})
		if err == nil && len(result.Hits) < len(faultyLibrary)*faultySections && len(result.Notes) == 0 {
			return fmt.Errorf("%w: %d hits and no note", errWrong, len(result.Hits))
		}
		return err
	}},
}

// faultySections is how many passages a document has at least.
const faultySections = 3

func (l library) ingest(ctx context.Context, eng *rag.Engine, collection string) error {
	var sources []rag.Sources
	for _, uri := range slices.Sorted(maps.Keys(l)) {
		var text strings.Builder
		for i := range faultySections {
			fmt.Fprintf(&text, "# Part %d of %s\n\nThe %s ship leaves from pier %d. %s\n\n", i, uri, l[uri], i, strings.Repeat("Tickets for each pier are sold on board. ", 20))
		}
		sources = append(sources, rag.Bytes(uri, []byte(text.String())))
	}
	_, err := eng.Ingest(ctx, rag.IngestRequest{Collection: collection, Sources: sources})
	return err
}

// engineFaults runs a task with faults, each in a collection of its own.
type engineFaults struct {
	t      *testing.T
	proxy  *Proxy
	eng    *rag.Engine
	task   task
	struck int
}

// ways are the faults of the i-th request that is struck of a task of so many.
func (f *engineFaults) ways(i, of int) []Fault {
	all := append(slices.Clone(cuts), Outage)
	if of <= fewRequests {
		return all
	}
	return all[i%len(all) : i%len(all)+1]
}

func (f *engineFaults) begin(collection string) {
	f.t.Helper()
	if err := faultyLibrary.ingest(f.t.Context(), f.eng, collection); err != nil {
		f.t.Fatal(err)
	}
}

// undisturbed counts the requests of the task.
func (f *engineFaults) undisturbed() int {
	f.t.Helper()
	f.begin("undisturbed")
	f.proxy.Arm(0, "")
	if err := f.task.do(f.t.Context(), f.eng, "undisturbed"); err != nil {
		f.t.Fatal(err)
	}
	n, _ := f.proxy.Requests()
	if n == 0 {
		f.t.Fatal("the task asks the server at the address that the engine was opened with for nothing")
	}
	f.ended("undisturbed", "undisturbed")
	return n
}

// strike does the task with one request that goes wrong.
func (f *engineFaults) strike(at int, how Fault) {
	ctx, which := f.t.Context(), fmt.Sprintf("request %d, %s", at, how)
	c := which
	f.begin(c)
	f.proxy.Arm(at, how)
	err := f.task.do(ctx, f.eng, c)
	_, hit := f.proxy.Requests()
	if hit {
		f.struck++
	}
	if err != nil && (!hit || !errors.Is(err, rag.ErrUnavailable) && !errors.Is(err, rag.ErrPartial)) {
		f.t.Errorf("%s: %v, want ErrUnavailable or ErrPartial", which, err)
	}
	f.proxy.Arm(0, "")
	now := f.whole(which, c)
	for uri, version := range now {
		if version != faultyLibrary[uri] && version != f.task.becomes[uri] {
			f.t.Errorf("after %s: %s is there in version %q", which, uri, version)
		}
	}
	for uri, version := range faultyLibrary {
		if f.task.becomes[uri] == version && now[uri] == "" {
			f.t.Errorf("after %s: %s is lost", which, uri)
		}
	}
	if len(now) > 0 {
		if _, err := f.eng.Repair(ctx, c); err != nil {
			f.t.Errorf("repair after %s: %v", which, err)
		}
		f.sound("the repair after "+which, c)
	}
	if diff := gocmp.Diff(now, f.whole(which, c)); diff != "" {
		f.t.Errorf("the repair after %s changed what is there (-before +after):\n%s", which, diff)
	}
	if err := f.task.do(ctx, f.eng, c); err != nil && !errors.Is(err, rag.ErrNotFound) {
		f.t.Errorf("the task again after %s: %v", which, err)
	}
	f.ended("the second try after "+which, c)
}

// whole returns the version of each document, which all of its passages have, and checks that a search shows nothing else,
// and nothing twice. It is empty where there is no collection.
func (f *engineFaults) whole(after, collection string) library {
	f.t.Helper()
	now, passages := library{}, map[string]bool{}
	for chunk, err := range f.eng.Chunks(f.t.Context(), collection, rag.Filter{}) {
		if err != nil {
			f.t.Fatalf("after %s: %v", after, err)
		}
		passages[chunk.ID] = true
		version := "old"
		if strings.Contains(chunk.Text, "The new ship") {
			version = "new"
		}
		if v, ok := now[chunk.URI]; ok && v != version {
			f.t.Errorf("after %s: passages of both versions of %s are there", after, chunk.URI)
		}
		now[chunk.URI] = version
	}
	if len(now) == 0 {
		return now
	}
	for _, mode := range []rag.Mode{rag.Dense, rag.Sparse} {
		seen := map[string]bool{}
		for _, h := range f.search(after, collection, mode) {
			if seen[h.Chunk.ID] || !passages[h.Chunk.ID] {
				f.t.Errorf("after %s: the %s lane shows %s, in the catalog: %v, shown before: %v", after, mode, h.Chunk.ID, passages[h.Chunk.ID], seen[h.Chunk.ID])
			}
			seen[h.Chunk.ID] = true
		}
	}
	return now
}

func (f *engineFaults) search(after, collection string, mode rag.Mode) []rag.Hit {
	f.t.Helper()
	result, err := f.eng.Search(f.t.Context(), rag.Query{Collection: collection, Text: "pier", Mode: mode, TopK: 100})
	if err != nil {
		f.t.Fatalf("search after %s: %v", after, err)
	}
	return result.Hits
}

// sound checks that both lanes find every passage, and that verify has nothing to say.
func (f *engineFaults) sound(after, collection string) {
	f.t.Helper()
	rep, err := f.eng.Verify(f.t.Context(), collection)
	if err != nil || !rep.OK {
		f.t.Fatalf("verify after %s: %v, %+v", after, err, rep)
	}
	for _, mode := range []rag.Mode{rag.Dense, rag.Sparse} {
		if n := len(f.search(after, collection, mode)); n != rep.Chunks {
			f.t.Errorf("after %s the %s lane finds %d of %d passages", after, mode, n, rep.Chunks)
		}
	}
}

// ended checks that the collection is as the task makes it.
func (f *engineFaults) ended(after, collection string) {
	f.t.Helper()
	if diff := gocmp.Diff(f.task.becomes, f.whole(after, collection)); diff != "" {
		f.t.Errorf("after %s (-want +got):\n%s", after, diff)
	}
	if len(f.task.becomes) > 0 {
		f.sound(after, collection)
	}
}
