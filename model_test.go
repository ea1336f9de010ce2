package rag_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv"
	"github.com/seed-d8745b77/rag/internal/boltkv/fault"
)

const (
	modelEnv        = "RAG_TEST_OPERATIONS" // operations of TestModel; unset: modelOperations
	modelSeedEnv    = "RAG_TEST_SEED"       // of TestModel; unset: another each time
	modelOperations = 400
	modelPapers     = 14 // URIs of each collection
	modelWorlds     = 4  // engines beside each other; each does its share of the operations
)

// world is an engine and, beside it, what its two collections are to be: plain maps.
type world struct {
	t       *testing.T
	rnd     *rand.Rand
	oracle  *oracle
	dir     atomic.Pointer[string] // data folder
	eng     *rag.Engine
	shelves map[string]shelf
	image   atomic.Pointer[func(fault.Write) error] // looks at the writes of the engine; nil: nobody does
	log     []string                                // operations so far
	crashes int
}

// TestModel does random operations on engines and on maps, and compares the two. The collections of an engine share
// pictures. A failure tells the seed, which brings the same operations again.
func TestModel(t *testing.T) {
	operations, seed := modelOperations, uint64(time.Now().UnixNano())
	if n, err := strconv.Atoi(os.Getenv(modelEnv)); err == nil {
		operations = n
	}
	if n, err := strconv.ParseUint(os.Getenv(modelSeedEnv), 10, 64); err == nil {
		seed = n
	}
	var worlds [modelWorlds]*world
	stop := fault.Intercept(func(write fault.Write) error {
		for _, w := range worlds {
			if filepath.Dir(write.Path) == *w.dir.Load() {
				return w.look(write)
			}
		}
		return write.All()
	})
	for i := range worlds {
		worlds[i] = &world{rnd: rand.New(rand.NewPCG(seed, uint64(i))), shelves: map[string]shelf{"a": {}, "b": {}}}
		worlds[i].moveTo(t.TempDir())
	}
	t.Run("worlds", func(t *testing.T) {
		for i, w := range worlds {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				w.run(t, operations/modelWorlds, seed)
			})
		}
	})
	stop()
}

// run does operations until the two differ.
func (w *world) run(t *testing.T, operations int, seed uint64) {
	w.t, w.oracle = t, newOracle(t)
	w.open()
	defer func() { w.check(w.eng.Close()) }()
	for i := range operations {
		w.step()
		if w.agrees(i); t.Failed() {
			last := w.log[max(0, len(w.log)-12):]
			t.Fatalf("%s=%d brings this again: operation %d, after\n%s", modelSeedEnv, seed, i, strings.Join(last, "\n"))
		}
	}
	t.Logf("seed %d: %d operations, %d crashes, %d and %d papers in the end", seed, operations, w.crashes, len(w.shelves["a"]), len(w.shelves["b"]))
}

// moveTo takes another data folder.
func (w *world) moveTo(dir string) {
	if real, err := filepath.EvalSymlinks(dir); err == nil { // as the database names it
		dir = real
	}
	w.dir.Store(&dir)
}

// look is given each write of the engine.
func (w *world) look(write fault.Write) error {
	if image := w.image.Load(); image != nil {
		return (*image)(write)
	}
	return write.All()
}

func (w *world) open() {
	w.t.Helper()
	eng, err := shelfEngine(*w.dir.Load())
	if err != nil {
		w.t.Fatal(err)
	}
	w.eng = eng
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Error(err)
	}
}

func (w *world) say(format string, a ...any) { w.log = append(w.log, fmt.Sprintf(format, a...)) }

// step does one operation; one in sixteen is cut short by a crash.
func (w *world) step() {
	w.t.Helper()
	name := []string{"a", "b"}[w.rnd.IntN(2)]
	next := w.shelves[name]
	var do func() error
	switch w.rnd.IntN(40) {
	case 0:
		w.say("close and open")
		w.check(w.eng.Close())
		w.open()
		return
	case 1:
		w.say("compact")
		_, err := w.eng.Compact(w.t.Context())
		w.check(err)
		return
	case 2, 3:
		do = w.maintain(name)
	default:
		next, do = w.change(name)
	}
	if w.rnd.IntN(16) == 0 {
		w.crash(name, next, do)
		return
	}
	if err := do(); err != nil && !(errors.Is(err, rag.ErrNotFound) && len(w.shelves[name]) == 0) {
		w.t.Errorf("%s: %v", name, err)
	}
	w.shelves[name] = next
}

// maintain chooses an operation that changes no document.
func (w *world) maintain(name string) func() error {
	if w.rnd.IntN(2) == 0 {
		w.say("reindex %s", name)
		return func() error {
			_, err := w.eng.Reindex(w.t.Context(), rag.ReindexRequest{Collection: name})
			return err
		}
	}
	w.say("repair %s", name)
	return func() error {
		_, err := w.eng.Repair(w.t.Context(), name)
		return err
	}
}

// change chooses an operation that changes documents, and says what they are to be then.
func (w *world) change(name string) (shelf, func() error) {
	s := maps.Clone(w.shelves[name])
	uri := w.uri()
	old, there := s[uri]
	ingest := func(r rag.IngestRequest) func() error {
		r.Collection = name
		return func() error {
			_, err := w.eng.Ingest(w.t.Context(), r)
			return err
		}
	}
	remove := func(r rag.DeleteRequest) func() error {
		r.Collection = name
		return func() error {
			_, err := w.eng.Delete(w.t.Context(), r)
			return err
		}
	}
	switch w.rnd.IntN(10) {
	case 0: // other metadata, or the same
		if there {
			s[uri] = paper{old.text, writeMeta(w.rnd)}
			w.say("%s: metadata of %s", name, uri)
			return s, ingest(rag.IngestRequest{Sources: []rag.Sources{s[uri].one(uri)}})
		}
	case 1: // renamed
		to := w.uri()
		if _, taken := s[to]; there && !taken {
			delete(s, uri)
			s[to] = old
			w.say("%s: rename %s to %s", name, uri, to)
			return s, ingest(rag.IngestRequest{Sources: []rag.Sources{s.sources()}, Prune: true})
		}
	case 2: // deleted
		delete(s, uri)
		w.say("%s: delete %s", name, uri)
		return s, remove(rag.DeleteRequest{URIs: []string{uri}})
	case 3: // deleted by what is said of them
		f := w.filter()
		for uri, h := range w.oracle.shelf(name, s) {
			if f.IsZero() || f.Match(map[string]any{"uri": uri, "kind": h.Entry.Meta["kind"], "year": h.Entry.Meta["year"]}, h.Entry.Validity) {
				delete(s, uri)
			}
		}
		w.say("%s: delete all of %v", name, f)
		if f.IsZero() {
			return shelf{}, remove(rag.DeleteRequest{All: true})
		}
		return s, remove(rag.DeleteRequest{Filter: f})
	case 4: // all again, forced or not
		force := w.rnd.IntN(2) == 0
		w.say("%s: ingest all again, force %v", name, force)
		return s, ingest(rag.IngestRequest{Sources: []rag.Sources{s.sources()}, Prune: true, Force: force})
	case 5: // many at once
		for range 4 {
			s[w.uri()] = writePaper(w.rnd)
		}
		delete(s, uri)
		w.say("%s: change four, without %s", name, uri)
		return s, ingest(rag.IngestRequest{Sources: []rag.Sources{s.sources()}, Prune: true})
	}
	s[uri] = writePaper(w.rnd)
	if there && w.rnd.IntN(2) == 0 { // most of it stays
		s[uri] = paper{strings.Replace(old.text, "common", fmt.Sprintf("common mark%d", w.rnd.IntN(1000)), 1), old.meta}
	}
	w.say("%s: ingest %s", name, uri)
	return s, ingest(rag.IngestRequest{Sources: []rag.Sources{s[uri].one(uri)}})
}

func (w *world) uri() string { return fmt.Sprintf("mem:///%d.md", w.rnd.IntN(modelPapers)) }

func (w *world) filter() rag.Filter {
	kind := rag.Eq("kind", kinds[w.rnd.IntN(len(kinds))])
	switch w.rnd.IntN(6) {
	case 0:
		return kind
	case 1:
		return rag.And(kind, rag.Range("year", rag.Bounds{GTE: 1992.0}))
	case 2:
		return rag.Eq(rag.FieldURI, w.uri())
	case 3:
		return rag.And(rag.Not(kind), rag.Eq("year", 1990.0+float64(w.rnd.IntN(5))))
	case 4:
		return rag.In("year", 1990.0, 1991.0)
	}
	return rag.Filter{}
}

// crash does an operation and goes on with the data folder as it was in the middle of it, in one of its writes. Each
// document of the collection is then as it was or as it is to be: the map takes over which.
func (w *world) crash(name string, next shelf, do func() error) {
	w.t.Helper()
	at, n, to := 1+w.rnd.IntN(60), 0, w.t.TempDir()
	copyNow := func() { w.check(os.CopyFS(to, os.DirFS(*w.dir.Load()))) }
	image := func(write fault.Write) error {
		if n++; n == at {
			if err := write.Do(len(write.Data) / 2); err != nil {
				return err
			}
			copyNow()
		}
		return write.All()
	}
	w.image.Store(&image)
	_ = do() // whatever becomes of it
	w.image.Store(nil)
	if n < at {
		copyNow() // the end comes after it
	}
	w.crashes++
	w.say("crash at write %d of %d", at, n)
	w.check(w.eng.Close())
	w.check(os.RemoveAll(*w.dir.Load()))
	w.moveTo(to)
	if err := os.WriteFile(filepath.Join(to, boltkv.LockName), []byte("99999999\n"), 0o600); err != nil { // its process died
		w.t.Fatal(err)
	}
	w.open()
	was, becomes := w.oracle.shelf(name, w.shelves[name]), w.oracle.shelf(name, next)
	now := holds(w.t, w.eng, name)
	have := shelf{}
	for uri := range unionOf(was, becomes) {
		got, there := now[uri]
		p, before := w.shelves[name][uri]
		q, then := next[uri]
		switch {
		case there && before && reflect.DeepEqual(got, was[uri]):
			have[uri] = p
		case there && then && reflect.DeepEqual(got, becomes[uri]):
			have[uri] = q
		case there || before && then:
			w.t.Errorf("%s of %s is neither its old nor its new version", uri, name)
		}
	}
	w.shelves[name] = have
	if now != nil {
		searchesAgree(w.t, w.eng, name, now, "common word3", w.filter(), true)
		w.say("repair %s", name)
		repairShelf(w.t, w.eng, name)
	}
}

func unionOf(a, b map[string]held) map[string]held {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// agrees compares one collection with its map: a search each time, all there is now and then.
func (w *world) agrees(step int) {
	w.t.Helper()
	for _, name := range []string{"a", "b"} {
		want := w.oracle.shelf(name, w.shelves[name])
		if step%16 == 0 {
			got := holds(w.t, w.eng, name)
			if got == nil {
				got = map[string]held{}
			}
			same(w.t, "documents of "+name, want, got)
			w.statistics(name, want)
			if len(got) > 0 {
				soundShelf(w.t, w.eng, name)
			}
		}
		if len(want) > 0 && w.rnd.IntN(3) == 0 {
			text := fmt.Sprintf("paragraph%d word%d word%d mark%d", w.rnd.IntN(40), w.rnd.IntN(23), w.rnd.IntN(23), w.rnd.IntN(1000))
			searchesAgree(w.t, w.eng, name, want, text, w.filter(), false)
		}
	}
}

// statistics compares what the list of collections says.
func (w *world) statistics(name string, want map[string]held) {
	w.t.Helper()
	infos, err := w.eng.Collections(w.t.Context())
	w.check(err)
	i := slices.IndexFunc(infos, func(c rag.CollectionInfo) bool { return c.Name == name })
	chunks := 0
	for _, h := range want {
		chunks += len(h.Chunks)
	}
	if i < 0 {
		if chunks > 0 {
			w.t.Errorf("collection %s is not listed", name)
		}
		return
	}
	if infos[i].Documents != len(want) || infos[i].Chunks != chunks || infos[i].Header.Dirty {
		w.t.Errorf("collection %s is listed as %+v, want %d documents and %d chunks", name, infos[i], len(want), chunks)
	}
}
