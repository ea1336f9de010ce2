package dashboard

import (
	"fmt"
	"net/url"
	"os"
	"runtime"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/trace"
)

// held is what a process holds on to.
type held struct {
	heap, goroutines, files int
}

func holds() held {
	runtime.GC()
	runtime.GC() // what the finalizers of the first let go of
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, _ := os.ReadDir("/proc/self/fd") // none where there is no such folder
	return held{int(m.HeapAlloc), runtime.NumGoroutine(), len(files)}
}

// What pages were loaded leaves nothing behind, however often.
func TestMemoryDoesNotGrow(t *testing.T) {
	racetest.Skip(t)
	const loads = 1000
	dir := t.TempDir()
	eng, err := rag.Open(dir, rag.WithEmbedder(hash()))
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	texts := map[string]string{}
	for i := range 60 {
		texts[fmt.Sprintf("papers/%02d.md", i)] = fmt.Sprintf("# Paper %d\n\nIt is about opals, and says what case %d is.\n", i, i)
	}
	ingest(t, eng, texts)
	id := ""
	for i := range 20 {
		res, err := eng.Search(t.Context(), rag.Query{Text: fmt.Sprint("opals in case ", i)})
		if err != nil {
			t.Fatal(err)
		}
		id = res.TraceID
	}
	s := server(t, eng, Options{Traces: trace.NewIndex(dir), EvalDir: t.TempDir(), UploadDir: t.TempDir()})
	doc := "/browse/default/doc?uri=" + url.QueryEscape("papers/07.md")
	pages := []string{"/", "/browse", "/browse?q=opals", "/browse?filter=" + url.QueryEscape(`title = "Paper 3"`), doc, doc + "&tab=chunks", "/ingest",
		"/traces/ingest", "/traces/query", "/traces/query/" + id, "/evaluation", "/nowhere"}
	load := func(n int) {
		for i := range n {
			get(t, s, pages[i%len(pages)])
		}
	}
	load(len(pages) * 4) // until what is kept is there
	before := holds()
	load(loads)
	after := holds()
	// A page is 5 KiB and more: one that stays of each load would be 5 MiB.
	if grown := after.heap - before.heap; grown > 2<<20 {
		t.Errorf("the heap grew by %d bytes in %d loads", grown, loads)
	}
	if after.goroutines > before.goroutines || after.files > before.files {
		t.Errorf("held after %d loads: %+v; before: %+v", loads, after, before)
	}
}
