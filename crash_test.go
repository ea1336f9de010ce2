package rag_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/catalog"
	"github.com/seed-d8745b77/rag/internal/boltkv/fault"
	"github.com/seed-d8745b77/rag/internal/racetest"
)

const (
	crashEnv   = "RAG_TEST_CRASH" // an errand as JSON: the process does it, and is killed meanwhile
	killsEnv   = "RAG_TEST_KILLS" // how often TestKilledAnywhere kills; unset: crashKills
	crashKills = 24
)

// TestMain lets the test binary play the process that is killed.
func TestMain(m *testing.M) {
	var err error
	switch {
	case os.Getenv(reindexDir) != "":
		err = reindexAsChild(os.Getenv(reindexDir))
	case os.Getenv(rewriteDir) != "":
		err = rewriteAsChild(os.Getenv(rewriteDir), os.Getenv(rewriteDocs))
	case os.Getenv(crashEnv) != "":
		var e errand
		if err = json.Unmarshal([]byte(os.Getenv(crashEnv)), &e); err == nil {
			err = e.run()
		}
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// errand is what a child process does.
type errand struct {
	Task  string  // key of tasks
	Dir   string  // data folder
	Aside string  // a file or folder beside it
	Kill  int     // the process ends in this write to a file; 0: it does not
	Share float64 // after this share of the write
}

// task is something that changes a data folder, or copies from it.
type task struct {
	do     func(ctx context.Context, eng *rag.Engine, c change, aside string) error
	after  func(change) shelf // what the collection is then; nil: as before
	atOnce bool               // all documents change in one step

	check func(t *testing.T, aside string, before map[string]held)
}

// change is two states of a collection.
type change struct{ before, after shelf }

// crashPapers is how many papers the process that is killed works on.
const crashPapers = 40

// newChange makes up a change: of five papers one changes its text, one its metadata, one its name, one goes and one
// stays; others come.
func newChange(papers int) change {
	rnd := rand.New(rand.NewPCG(11, 3))
	before, after := shelf{}, shelf{}
	for i := range papers {
		uri, p := fmt.Sprintf("mem:///p%02d.md", i), writePaper(rnd)
		p.text += fmt.Sprintf("## End\n\nThe common end of number%d.\n", i) // no two are the same
		before[uri] = p
		switch i % 5 {
		case 0:
			after[uri] = paper{strings.Replace(p.text, "common", "common but changed", 1), p.meta}
		case 1:
			after[uri] = paper{p.text, rag.Meta{"kind": "other", "year": 2000.0, rag.FieldLanguage: "en"}}
		case 2:
			after[uri+"x"] = p
		case 3:
			after[fmt.Sprintf("mem:///new%02d.md", i)] = writePaper(rnd)
		default:
			after[uri] = p
		}
	}
	return change{before, after}
}

// crashChange is the change that a task of TestKilledAnywhere makes, or a part of which.
func crashChange(name string) change {
	c := newChange(crashPapers)
	if name == "import" { // what was exported goes into a folder with one paper of it
		return change{shelf{"mem:///p00.md": c.before["mem:///p00.md"]}, c.before}
	}
	return c
}

// half is what the task delete takes away, and what stays.
func (s shelf) half() (uris []string, left shelf) {
	uris = slices.Sorted(maps.Keys(s))[:len(s)/2]
	left = maps.Clone(s)
	for _, uri := range uris {
		delete(left, uri)
	}
	return uris, left
}

var tasks = map[string]task{
	"ingest": {
		do: func(ctx context.Context, eng *rag.Engine, c change, _ string) error {
			_, err := ingestShelf(ctx, eng, "", c.after)
			return err
		},
		after: func(c change) shelf { return c.after },
	},
	"delete": {
		do: func(ctx context.Context, eng *rag.Engine, c change, _ string) error {
			uris, _ := c.before.half()
			_, err := eng.Delete(ctx, rag.DeleteRequest{URIs: uris})
			return err
		},
		after: func(c change) shelf { _, left := c.before.half(); return left },
	},
	"drop": {
		do: func(ctx context.Context, eng *rag.Engine, _ change, _ string) error {
			_, err := eng.Delete(ctx, rag.DeleteRequest{All: true})
			return err
		},
		after:  func(change) shelf { return nil },
		atOnce: true,
	},
	"reindex": {do: func(ctx context.Context, eng *rag.Engine, _ change, _ string) error {
		_, err := eng.Reindex(ctx, rag.ReindexRequest{})
		return err
	}},
	"compact": {do: func(ctx context.Context, eng *rag.Engine, _ change, _ string) error {
		_, err := eng.Compact(ctx)
		return err
	}},
	"backup": {
		do: func(ctx context.Context, eng *rag.Engine, _ change, aside string) error {
			return eng.Backup(ctx, aside)
		},
		check: checkBackup,
	},
	"export": {
		do: func(ctx context.Context, eng *rag.Engine, _ change, aside string) error {
			f, err := os.Create(aside)
			if err != nil {
				return err
			}
			_, err = eng.Export(ctx, "", f)
			return errors.Join(err, f.Close())
		},
		check: checkExport,
	},
	"import": {
		do: func(ctx context.Context, eng *rag.Engine, _ change, aside string) error {
			sources, err := rag.Exported(aside)
			if err != nil {
				return err
			}
			_, err = eng.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{sources}})
			return err
		},
		after: func(c change) shelf { return c.after },
	},
}

// run does the errand and says how many writes it took.
func (e errand) run() error {
	rag.SetGroupDocs(8) // for the rest of the process: several commits are an ingest
	writes := 0
	kill := fault.KillAt(e.Kill, e.Share)
	defer fault.Intercept(func(w fault.Write) error {
		writes++
		if e.Kill > 0 {
			return kill(w)
		}
		return w.All()
	})()
	eng, err := shelfEngine(e.Dir)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if err := tasks[e.Task].do(context.Background(), eng, crashChange(e.Task), e.Aside); err != nil {
		return err
	}
	fmt.Println(writes)
	return eng.Close()
}

// start runs the errand in a process of its own and waits for its end. With a delay above 0 it is killed then. It
// returns the writes that it took, 0 if it was killed, and how long it ran.
func (e errand) start(t *testing.T, delay time.Duration) (writes int, took time.Duration) {
	t.Helper()
	spec, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), crashEnv+"="+string(spec))
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan() // "ready", or it died before
	begun := time.Now()
	if delay > 0 {
		timer := time.AfterFunc(delay, func() { _ = cmd.Process.Kill() }) // it may have ended by itself
		defer timer.Stop()
	}
	for lines.Scan() {
		if writes, err = strconv.Atoi(lines.Text()); err != nil {
			t.Fatal(err)
		}
	}
	err = cmd.Wait()
	if said.Len() > 0 || err != nil && e.Kill == 0 && delay == 0 {
		t.Fatalf("%s: %v: %s", e.Task, err, said.String())
	}
	return writes, time.Since(begun)
}

// crashBase is what tasks begin with.
type crashBase struct {
	dir    string // data folder with the shelf "before"
	export string // an export of it
	almost string // a data folder with the first paper of it
}

func newCrashBase(t *testing.T, papers int) crashBase {
	t.Helper()
	b := crashBase{dir: t.TempDir(), almost: t.TempDir(), export: filepath.Join(t.TempDir(), "export.jsonl")}
	before := newChange(papers).before
	for dir, s := range map[string]shelf{b.dir: before, b.almost: {"mem:///p00.md": before["mem:///p00.md"]}} {
		eng, err := shelfEngine(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ingestShelf(t.Context(), eng, "", s); err != nil {
			t.Fatal(err)
		}
		if dir == b.dir {
			if err := tasks["export"].do(t.Context(), eng, change{}, b.export); err != nil {
				t.Fatal(err)
			}
		}
		if err := eng.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// errand prepares one round of a task.
func (b crashBase) errand(t *testing.T, name string) errand {
	t.Helper()
	if name == "import" {
		return errand{Task: name, Dir: copyDir(t, b.almost), Aside: b.export}
	}
	return errand{Task: name, Dir: copyDir(t, b.dir), Aside: filepath.Join(t.TempDir(), "aside")}
}

// TestKilledAnywhere kills a process again and again while it does one of the tasks: in one of its writes, before, within and
// after it, or at any instant. Then every document is as it was before or as it is to be, in the catalog and in what
// both lanes answer; a repair leaves nothing to find; and the task, done again, ends as it does undisturbed.
func TestKilledAnywhere(t *testing.T) {
	racetest.Skip(t)
	kills := crashKills
	if n, err := strconv.Atoi(os.Getenv(killsEnv)); err == nil {
		kills = n
	}
	unsynced(t)
	seed := uint64(5)
	rnd := rand.New(rand.NewPCG(seed, 0))
	o, base := newOracle(t), newCrashBase(t, crashPapers)
	names := append(slices.Sorted(maps.Keys(tasks)), "ingest", "ingest", "ingest") // where most can go wrong
	writes, took := map[string]int{}, map[string]time.Duration{}
	mixed := 0
	for i := range kills {
		name := names[i%len(names)]
		e := base.errand(t, name)
		if writes[name] == 0 {
			writes[name], took[name] = base.errand(t, name).start(t, 0)
		}
		var delay time.Duration
		if rnd.IntN(4) == 0 || writes[name] == 0 {
			delay = 1 + time.Duration(rnd.Int64N(int64(took[name])))
		} else {
			e.Kill, e.Share = 1+rnd.IntN(writes[name]), []float64{0, 0.5, 1}[rnd.IntN(3)]
		}
		e.start(t, delay)
		t.Run(fmt.Sprintf("%02d %s at write %d+%v or after %v", i, name, e.Kill, e.Share, delay), func(t *testing.T) {
			eng, err := shelfEngine(e.Dir)
			if err != nil {
				t.Fatal(err)
			}
			if o.recovers(t, eng, tasks[name], crashChange(name), e.Aside) {
				mixed++
			}
			if err := eng.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	t.Logf("%d of %d kills left a part of the documents changed", mixed, kills)
	if mixed == 0 {
		t.Error("no kill came in the middle of the work: the test shows nothing")
	}
}

// recovers checks a collection after a task on it was cut short, and reports whether some documents were changed and
// others not.
func (o *oracle) recovers(t *testing.T, eng *rag.Engine, todo task, c change, aside string) (mixed bool) {
	t.Helper()
	was, after := o.shelf("default", c.before), c.before
	if todo.after != nil {
		after = todo.after(c)
	}
	becomes := o.shelf("default", after)
	now := holds(t, eng, "")
	fresh := wholeOrOld(t, was, becomes, now)
	if todo.atOnce && len(now) != len(was) && len(now) != len(becomes) {
		t.Errorf("%d documents, want %d or %d", len(now), len(was), len(becomes))
	}
	if todo.check != nil {
		todo.check(t, aside, was)
	}
	if now != nil {
		findable(t, eng, now, true)
		repairShelf(t, eng, "")
		same(t, "documents after the repair", now, holds(t, eng, ""))
		findable(t, eng, now, false)
	}
	if err := todo.do(t.Context(), eng, c, aside); err != nil && !(after == nil && errors.Is(err, rag.ErrNotFound)) {
		t.Fatalf("the task again: %v", err)
	}
	if after == nil {
		return false
	}
	now = holds(t, eng, "")
	same(t, "documents in the end", becomes, now)
	findable(t, eng, now, false)
	soundShelf(t, eng, "")
	return fresh > 0 && fresh < len(was)
}

// wholeOrOld asserts that of every document there is the old version or the new one, and counts those of which it is the
// new one only. A document that was renamed is there under one of its names.
func wholeOrOld(t *testing.T, was, becomes, now map[string]held) (fresh int) {
	t.Helper()
	all := maps.Clone(was)
	maps.Copy(all, becomes)
	for uri := range now {
		if _, ok := all[uri]; !ok {
			t.Errorf("%s should not be there", uri)
		}
	}
	for uri := range all {
		got, there := now[uri]
		old, wasThere := was[uri]
		next, isToBe := becomes[uri]
		switch {
		case there == wasThere && reflect.DeepEqual(got, old):
		case there == isToBe && reflect.DeepEqual(got, next):
			fresh++
		default:
			t.Errorf("%s is neither its old nor its new version: there %v, before %v, then %v", uri, there, wasThere, isToBe)
			same(t, "old", old, got)
			same(t, "new", next, got)
		}
		if _, renamed := becomes[uri+"x"]; renamed {
			if _, there2 := now[uri+"x"]; there == there2 {
				t.Errorf("of the two names of %s, both are there or none", uri)
			}
		}
	}
	return fresh
}

// findable asserts that both lanes find every passage, by a word that all have, and by what is said of it.
func findable(t *testing.T, eng *rag.Engine, now map[string]held, broken bool) {
	t.Helper()
	searchesAgree(t, eng, "", now, "common paragraph3 word7", rag.Filter{}, broken)
	for _, kind := range append([]string{"other"}, kinds...) {
		searchesAgree(t, eng, "", now, "common word5", rag.Eq("kind", kind), broken)
	}
}

// checkBackup: a backup that has its name is whole. It goes, for another.
func checkBackup(t *testing.T, aside string, before map[string]held) {
	t.Helper()
	if _, err := os.Stat(aside); errors.Is(err, os.ErrNotExist) {
		return
	}
	dir := t.TempDir()
	if err := catalog.RestoreBolt(dir, aside); err != nil {
		t.Fatal(err)
	}
	eng, err := shelfEngine(dir)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "documents in the backup", before, holds(t, eng, ""))
	soundShelf(t, eng, "")
	if err := errors.Join(eng.Close(), os.Remove(aside)); err != nil {
		t.Error(err)
	}
}

// checkExport: an export that was cut short is refused, so a part of the documents is not taken for all.
func checkExport(t *testing.T, aside string, before map[string]held) {
	t.Helper()
	sources, err := rag.Exported(aside)
	if errors.Is(err, rag.ErrInvalid) || errors.Is(err, rag.ErrNotFound) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for range sources.All {
		n++
	}
	if n != len(before) {
		t.Errorf("%d documents in an export that is taken for whole, want %d", n, len(before))
	}
}

func copyDir(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}
