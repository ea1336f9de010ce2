package cli

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

type searchOutput struct {
	Mode string
	Hits []struct {
		Rank     int
		ChunkID  string `json:"chunk_id"`
		URI      string
		Headings []string
		Text     string
		Status   *string
		Ranks    struct{ Dense, Sparse, Fused, Reranked *int }
	}
	Notes []struct{ Stage, Reason string }
	Trace *struct{ Stages []struct{ Stage string } }
}

func TestOneCommandIngestsAndSearches(t *testing.T) {
	s := newShell(t)
	s.handbook()
	o := s.rag("search", "--path", "docs", "how long is the notice period?").want(exitDone)
	o.prints(" 1. "+filepath.Join("docs", "leave.md")+" · Leave policy › Notice period", "dense #1 · sparse #1 · fused #1", "three months to the end of a quarter")
	o.says("3 added")
	if strings.Contains(o.stdout+o.stderr, "\x1b") {
		t.Errorf("colour where no terminal is:\n%q", o.stdout+o.stderr)
	}
	var res searchOutput
	s.rag("search", "--path", "docs", "how long is the notice period?", "--json", "-k", "2").want(exitDone).into(&res)
	if len(res.Hits) != 2 || res.Mode != "hybrid" || res.Hits[0].Ranks.Fused == nil || res.Hits[0].Ranks.Reranked != nil {
		t.Errorf("got %+v", res)
	}
}

func TestSearchModesAndFilters(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.rag("ingest", "docs").want(exitDone)
	for _, tt := range []struct {
		name string
		args []string
		file string // of every hit; "" for no hits
		mode string
	}{
		{"sparse", []string{"-m", "sparse", "coffee"}, "notes.txt", "sparse"},
		{"dense", []string{"--mode", "dense", "-k", "1", "coffee machine"}, "notes.txt", "dense"},
		{"equal", []string{"-f", "department=people", "coffee"}, "leave.md", "hybrid"},
		{"number", []string{"-f", "year=2026", "coffee"}, "leave.md", "hybrid"},
		{"path", []string{"-f", "uri = docs/leave.md", "coffee"}, "leave.md", "hybrid"},
		{"folder", []string{"-f", "uri starts with docs/ and year exists", "coffee"}, "leave.md", "hybrid"},
		{"not the folder", []string{"-f", "not uri starts with docs/", "coffee"}, "", "hybrid"},
		{"two filters", []string{"-f", "year=2026", "-f", "department=sales", "coffee"}, "", "hybrid"},
		{"not", []string{"--filter", "not year exists", "-k", "1", "coffee machine"}, "notes.txt", "hybrid"},
		{"phrase", []string{"--phrase", `"coffee machine" trip`}, "notes.txt", "sparse"},
		{"no such phrase", []string{"--phrase", `"machine coffee"`}, "", "sparse"},
		{"prefix", []string{"-m", "sparse", "--prefix", "coff*"}, "notes.txt", "sparse"},
		{"fuzzy", []string{"-m", "sparse", "--fuzzy", "1", "cofee"}, "notes.txt", "sparse"},
		{"words of a question", []string{"-k", "1", "who", "signs", "off", "a", "trip"}, "travel.md", "hybrid"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var res searchOutput
			s.in(t).rag(append([]string{"search", "--json"}, tt.args...)...).want(exitDone).into(&res)
			if res.Mode != tt.mode || (len(res.Hits) == 0) != (tt.file == "") {
				t.Errorf("got %+v", res)
			}
			for _, h := range res.Hits {
				if !strings.HasSuffix(h.URI, "/"+tt.file) {
					t.Errorf("got a hit in %s, want only %s", h.URI, tt.file)
				}
			}
		})
	}
	s.rag("search", "coffee", "-f", "department=sales").want(exitDone).prints("no passage matches")
}

func TestVerboseSearchPrintsEachStage(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.rag("ingest", "docs").want(exitDone)
	s.rag("search", "--verbose", "notice period").want(exitDone).prints("dense hnsw", "sparse bm25", "fusion rrf", "rerank off", "dense 1, sparse 1")
	var res searchOutput
	s.rag("search", "--explain", "--json", "notice period").want(exitDone).into(&res)
	if res.Trace == nil || len(res.Trace.Stages) != 6 {
		t.Errorf("got trace %+v, want one of six stages", res.Trace)
	}
}

func TestRerank(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.write("rerank.yaml", "embedder: hash\nrerank: backwards\n")
	s.rag("search", "--path", "docs", "coffee", "--config", "rerank.yaml", "-v").want(exitDone).
		prints("rerank backwards", "fused #1 · reranked #5", "1  4.0000  5 (+4)")
	o := s.rag("search", "coffee", "--config", "rerank.yaml", "--no-rerank").want(exitDone).prints("fused #1 · score")
	if strings.Contains(o.stdout, "reranked") {
		t.Errorf("reranked all the same:\n%s", o.stdout)
	}
}

func TestSearchAsOfTellsTheStatus(t *testing.T) {
	s := newShell(t)
	s.handbook()
	var res searchOutput
	s.rag("search", "--path", "docs", "coffee", "--as-of", "2026-01-31", "--json").want(exitDone).into(&res)
	for _, h := range res.Hits {
		if h.Status == nil || *h.Status != "needs_review" { // no document here states when it holds
			t.Errorf("%s: got status %v", h.URI, h.Status)
		}
	}
	s.rag("search", "coffee", "--as-of", "2026-01-31").want(exitDone).prints("needs review")
}

func TestSearchWithoutEmbedderSaysSo(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.write("none.yaml", "embedder: none\n")
	s.rag("ingest", "docs", "--config", "none.yaml").want(exitDone)
	s.rag("search", "--mode", "hybrid", "coffee", "--config", "none.yaml").want(exitDone).prints("sparse #1 · score").says("note: dense: this engine has no embedder")
}

func TestIngestIsIncremental(t *testing.T) {
	s := newShell(t)
	s.handbook()
	type report struct {
		Added, Updated, Moved, Unchanged, Deleted, Gone, Embedded int
		Plan                                                      []struct{ Action string }
	}
	ingest := func(args ...string) report {
		t.Helper()
		var r report
		s.rag(append([]string{"ingest", "--json"}, args...)...).want(exitDone).into(&r)
		return r
	}
	if r := ingest("docs"); r.Added != 3 {
		t.Errorf("first ingest: got %+v", r)
	}
	if diff := cmp.Diff(report{Unchanged: 3}, ingest("--path", "docs")); diff != "" {
		t.Errorf("second ingest (-want +got):\n%s", diff)
	}
	if err := os.Rename(filepath.Join(s.dir, "docs", "travel.md"), filepath.Join(s.dir, "docs", "trips.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(s.dir, "docs", "notes.txt")); err != nil {
		t.Fatal(err)
	}
	if r := ingest("docs", "--prune", "--dry-run"); r.Moved != 1 || r.Deleted != 1 || len(r.Plan) != 3 {
		t.Errorf("dry run: got %+v", r)
	}
	s.rag("ingest", "docs", "--prune", "--dry-run").want(exitDone).prints("move   "+filepath.Join("docs", "trips.md")+"  was "+filepath.Join("docs", "travel.md"), "nothing was done")
	s.rag("ingest", "docs", "--dry-run", "-v").want(exitDone).prints("gone   "+filepath.Join("docs", "notes.txt")+"  the file is gone; --prune", "unchanged "+filepath.Join("docs", "leave.md"))
	s.rag("ingest", "docs", "--dry-run").want(exitDone).prints("1 gone: `--prune` removes it")
	if r := ingest("docs", "--dry-run"); r.Gone != 1 || r.Deleted != 0 {
		t.Errorf("a dry run without --prune: %+v", r)
	}
	if r := ingest("docs", "--prune"); r.Gone != 0 || r.Moved != 1 || r.Deleted != 1 || r.Embedded != 0 {
		t.Errorf("ingest after rename and removal: got %+v", r)
	}
	if r := ingest("docs", "--force"); r.Updated != 2 {
		t.Errorf("forced ingest: got %+v", r)
	}
}

func TestDryRunLeavesNothing(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.rag("ingest", "--dry-run", "docs").want(exitDone).prints("add    "+filepath.Join("docs", "leave.md"), "3 added")
	if _, err := os.Stat(filepath.Join(s.dir, ".rag")); !os.IsNotExist(err) {
		t.Errorf("a dry run made the data folder: %v", err)
	}
}

func TestListShowAndDelete(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.rag("ingest", "docs", "-v").want(exitDone).prints("collection default: 3 added").says("read 3/3 docs")
	s.rag("ingest", "docs/notes.txt", "-c", "second").want(exitDone)
	s.rag("list").want(exitDone).prints("default", "second", "hash/1/256")
	s.rag("list", "documents").want(exitDone).prints(filepath.Join("docs", "leave.md"), "Leave policy", "ok")
	if o := s.rag("list", "-c", "second").want(exitDone).prints("second"); strings.Contains(o.stdout, "default") {
		t.Errorf("-c second lists others too:\n%s", o.stdout)
	}
	s.rag("list", "-c", "third").want(exitFailed).says(`no collection "third"`)
	s.rag("list", "--documents", "-c", "second").want(exitDone).prints("notes.txt")

	s.rag("show", "docs/leave.md").want(exitDone).prints("title: Leave policy", "year: 2026", "  Leave policy", "    Annual leave", "## Notice period The notice")
	var res searchOutput
	s.rag("search", "--json", "hotel").want(exitDone).into(&res)
	s.rag("show", res.Hits[0].ChunkID).want(exitDone).prints("chunk "+res.Hits[0].ChunkID, "150 euros")
	s.rag("show", res.Hits[0].URI).want(exitDone).prints("title: Travel")

	s.rag("delete", "docs/travel.md", "docs/nothing.md").want(exitPartial).prints("1 document", "not in the collection: "+filepath.Join("docs", "nothing.md"))
	s.rag("delete", "docs/travel.md").want(exitFailed)
	s.rag("show", "docs/travel.md").want(exitFailed).says("list documents")
	s.rag("delete", "--all").want(exitUsage).says("--yes")
	s.rag("delete", "--all", "--yes").want(exitDone).prints("2 documents")
	s.rag("list").want(exitDone).prints("second")
	s.rag("search", "coffee").want(exitFailed).says("second")
}

func TestLoadNeedsNoDataFolder(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.rag("load", "docs/leave.md").want(exitDone).prints("read by markdown", "Annual leave", "thirty days")
	s.write("docs/plan.html", `<h1>Plan</h1><img alt="the site" src="data:image/png;base64,`+strings.Repeat("iVBORw0K", 30)+`">`)
	s.rag("load", "docs/plan.html").want(exitDone).prints("read by html", "pictures", "at byte 8 · image/png · 180 B · the site")
	s.rag("load", "docs/nothing.md").want(exitFailed).says("no such file")
	if _, err := os.Stat(filepath.Join(s.dir, ".rag")); !os.IsNotExist(err) {
		t.Errorf("load made the data folder: %v", err)
	}
}

func TestShowPictures(t *testing.T) {
	s := newShell(t)
	s.write("docs/plan.html", `<h1>Plan</h1><img alt="the site" src="data:image/png;base64,`+strings.Repeat("iVBORw0K", 30)+`"><p>Text.</p>`)
	s.rag("ingest", "docs").want(exitDone)
	s.rag("show", "docs/plan.html").want(exitDone).prints("1 picture", "at byte 8 · image/png · 180 B · the site", "1 passage")
}

func TestVerifyAndExplain(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.rag("ingest", "docs").want(exitDone)
	s.rag("verify").want(exitDone).prints("ok", "0 orphans, 0 missing")
	s.rag("verify", "--repair").want(exitDone).prints("ok")
	s.rag("reindex").want(exitDone).prints("collection default", "0 embedded", "reused")
	s.rag("explain", "notice period", "--text", "three  months to the\nend").want(exitDone).prints("dense", "sparse", "fusion", "rerank", "returned at rank 1")
	s.rag("explain", "notice period", "--document", "docs/leave.md", "--answer", "-k", "1").want(exitDone).prints("pack", "cite", "returned at rank 1 and cited as [1]", "passage", "fused")
	s.rag("explain", "notice period", "--text", "THREE months to the end").want(exitDone).prints("returned at rank 1")
	s.rag("explain", "notice period", "--text", "no such words").want(exitFailed).says("no passage contains")
	s.rag("explain", "notice period", "--chunk", "000000000000000000000000").want(exitFailed)
}

func TestVerifyFindsAndRepairsWhatIsMissing(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.rag("ingest", "docs").want(exitDone)
	var res searchOutput
	s.rag("search", "coffee", "--json").want(exitDone).into(&res)
	lost := res.Hits[0].ChunkID
	env := rag.Env{Dir: filepath.Join(s.dir, ".rag"), Logger: slog.New(slog.DiscardHandler), Now: time.Now}
	store, err := rag.Default.VectorStores.New("flat", env, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Delete(t.Context(), "default", []string{lost}); err != nil {
		t.Fatal(err)
	}
	if err := store.(io.Closer).Close(); err != nil {
		t.Fatal(err)
	}
	s.rag("verify").want(exitFailed).prints("not ok", "0 orphans, 1 missing", "missing in dense: chunk "+lost, "rag verify --repair")
	s.rag("verify", "--json").want(exitFailed).into(&struct{ OK bool }{})
	var broken, mended rag.VerifyReport
	s.rag("verify", "--json").want(exitFailed).into(&broken)
	if err := os.CopyFS(filepath.Join(s.dir, "copy"), os.DirFS(env.Dir)); err != nil {
		t.Fatal(err)
	}
	s.rag("verify", "--repair", "--json", "--dir", "copy").want(exitDone).into(&mended)
	if a := mended.After; !mended.Repaired || len(mended.Missing) != 1 || a == nil || !a.OK || len(a.Missing) != 0 || a.Vectors != broken.Vectors+1 {
		t.Errorf("the repair says %+v, and after it %+v", mended, mended.After)
	}
	s.rag("verify", "--repair").want(exitDone).prints("repaired what was found:\n0 orphans, 1 missing\n", "\nnow:\ncollection default: ok\n", "\n0 orphans, 0 missing\n")
	s.rag("verify").want(exitDone).prints("ok", "0 missing")
}

func TestNothingIngestedYet(t *testing.T) {
	for _, args := range [][]string{
		{"search", "anything"}, {"list"}, {"list", "documents"}, {"show", "a.md"}, {"delete", "a.md"}, {"delete", "--all", "--yes"},
		{"verify"}, {"verify", "--repair"}, {"explain", "a", "--text", "b"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			s := newShell(t)
			s.rag(args...).want(exitFailed).says("nothing has been ingested into .rag yet: run `rag ingest FOLDER`")
			if _, err := os.Stat(filepath.Join(s.dir, ".rag")); !os.IsNotExist(err) {
				t.Errorf("the data folder was made: %v", err)
			}
		})
	}
}

func TestDataFolder(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.rag("ingest", "docs", "--dir", "kb").want(exitDone)
	s.rag("search", "coffee", "--dir", "kb").want(exitDone)
	cmd := s.command("search", "coffee")
	cmd.Env = append(cmd.Env, "RAG_DIR=kb")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("search with RAG_DIR: %v\n%s", err, out)
	}
}

func TestInit(t *testing.T) {
	s := newShell(t)
	path := filepath.Join(".rag", "rag.yaml")
	s.rag("init").want(exitDone).prints(path)
	written, err := os.ReadFile(filepath.Join(s.dir, path))
	if err != nil {
		t.Fatal(err)
	}
	s.write(".rag/rag.yaml", "collection: mine\n")
	s.rag("init").want(exitFailed).says("left as it is")
	s.rag("config", "print", "--config", path).want(exitDone).prints("mine")
	s.write("template.yaml", string(written))
	s.rag("config", "check", "--config", "template.yaml").want(exitDone).prints("ok")
}

func TestConfig(t *testing.T) {
	s := newShell(t)
	s.write("some.yaml", "retrieval:\n  top_k: 7\nembedder: {provider: hash}\nsparse_index: {provider: bm25, k1: \"${RAG_TEST_SECRET}\"}\n")
	cmd := s.command("config", "print", "--config", "some.yaml")
	cmd.Env = append(cmd.Env, "RAG_TEST_SECRET=hush")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if text := string(out); !strings.Contains(text, "some.yaml:2") || strings.Contains(text, "hush") {
		t.Errorf("got\n%s", text)
	}
	s.rag("config", "path").want(exitDone).prints("hash.yaml\n")
	s.write("typo.yaml", "retrieval:\n  topk: 7\n")
	s.rag("config", "check", "--config", "typo.yaml").want(exitFailed).says("typo.yaml:2", `did you mean "top_k"?`)
	s.write("judge.yaml", "embedder: hash\nevaluation: {provider: ragass}\n")
	s.rag("config", "check", "--config", "judge.yaml").want(exitFailed).says(`judge.yaml:`, `evaluation.provider: "ragass" is none (known: overlap, verify, judge)`)
	s.write("provider.yaml", "embedder: hsah\n")
	s.rag("config", "check", "--config", "provider.yaml").want(exitFailed).says("unknown provider")
	s.write("key.yaml", "embedder: {provider: openai, model: text-embedding-3-small, api_key: \"${RAG_TEST_NO_KEY:-}\"}\n")
	cmd = s.command("config", "check", "--config", "key.yaml")
	cmd.Env = append(cmd.Env, "OPENAI_API_KEY=")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "embedder: openai has no key") {
		t.Errorf("an embedder without its key: %v\n%s", err, out)
	}
	s.rag("search", "x", "--config", "missing.yaml", "--dir", ".").want(exitFailed).says("missing.yaml")
	if _, err := os.Stat(filepath.Join(s.dir, ".rag")); !os.IsNotExist(err) {
		t.Errorf("config made the data folder: %v", err)
	}
}

func TestConfigurationInDataFolder(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.write(".rag/rag.yaml", "embedder: none\ncollection: mine\n")
	run := func(args ...string) string {
		t.Helper()
		cmd := s.command(append(args, "--config=")...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if got := run("ingest", "docs"); !strings.Contains(got, "collection mine: 3 added") {
		t.Errorf("got %s", got)
	}
	if got := run("ingest", "docs", "--collection", "theirs"); !strings.Contains(got, "collection theirs: 3 added") {
		t.Errorf("the flag does not win over the file: %s", got)
	}
}

// A title that stands in a document's metadata too is shown once.
func TestShowTellsATitleOnce(t *testing.T) {
	s := newShell(t)
	s.write("docs/a.md", "---\ntitle: Berths and moorings\nauthor: Ann\n---\nA berth is free.\n")
	s.rag("ingest", "docs").want(exitDone)
	o := s.rag("show", "docs/a.md").want(exitDone).prints("title: Berths and moorings", "author: Ann")
	if n := strings.Count(o.stdout, "title: "); n != 1 {
		t.Errorf("%d titles:\n%s", n, o.stdout)
	}
}
