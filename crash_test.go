package rag_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

const (
	crashFiles  = 200
	crashTrials = 20
	childDir    = "RAG_TEST_CRASH_DIR"  // data folder of the child process
	childDocs   = "RAG_TEST_CRASH_DOCS" // its sources
)

// TestMain lets the test binary play the process that is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv(reindexDir); dir != "" {
		fmt.Fprintln(os.Stderr, reindexAsChild(dir))
		os.Exit(1)
	}
	if dir := os.Getenv(rewriteDir); dir != "" {
		fmt.Fprintln(os.Stderr, rewriteAsChild(dir, os.Getenv(childDocs)))
		os.Exit(1)
	}
	if dir := os.Getenv(childDir); dir != "" {
		if err := ingestAsChild(dir, os.Getenv(childDocs)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func ingestAsChild(dir, docs string) error {
	eng, err := rag.Open(dir, rag.WithEmbedder(&ragtest.HashEmbedder{}))
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := eng.Ingest(context.Background(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(docs)}, Prune: true}); err != nil {
		return err
	}
	return eng.Close()
}

// crashText is one of two versions of a file: some paragraphs stay, some change, the number of paragraphs differs.
func crashText(file, version int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# File %d\n\n", file)
	for p := range 5 + version*(file%3) {
		v := version
		if p%2 == 0 {
			v = 0 // unchanged between the versions
		}
		fmt.Fprintf(&b, "## Part %d\n\nfile%dpart%d version%d. %s\n\n", p, file, p, v, prose(fmt.Sprintf("topic%d", file), 1))
	}
	return b.String()
}

func TestKillDuringReingestLeavesEveryDocumentWhole(t *testing.T) {
	docs, base := t.TempDir(), t.TempDir()
	writeAll := func(version int) {
		for i := range crashFiles {
			if err := os.WriteFile(filepath.Join(docs, fmt.Sprintf("f%03d.md", i)), []byte(crashText(i, version)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	writeAll(0)
	runChild(t, base, docs, -1)
	writeAll(1)

	undisturbed := copyDir(t, base)
	took := runChild(t, undisturbed, docs, -1)
	want := open(t, undisturbed, docs).chunkIDs()

	rnd := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	mixed := 0
	for trial := range crashTrials {
		dir := copyDir(t, base)
		runChild(t, dir, docs, time.Duration(rnd.Int64N(int64(took))))
		f := open(t, dir, docs) // the next open succeeds
		if fresh := checkWhole(t, f); fresh > 0 && fresh < crashFiles {
			mixed++
		}
		f.ingest(func(r *rag.IngestRequest) { r.Prune = true })
		if diff := cmp.Diff(want, f.chunkIDs()); diff != "" {
			t.Errorf("trial %d: chunk IDs differ from an undisturbed run:\n%s", trial, diff)
		}
		f.sound()
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("a whole run takes %v; %d of %d kills came between the first and the last commit", took, mixed, crashTrials)
	if mixed == 0 {
		t.Error("no kill came in the middle of the work: the test shows nothing")
	}
}

// runChild ingests in a process of its own and kills it after the delay, or lets it end if the delay is negative. It
// returns how long the ingest ran.
func runChild(t *testing.T, dir, docs string, delay time.Duration) time.Duration {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir, childDocs+"="+docs)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("child said %q, %v", line, err)
	}
	start := time.Now()
	if delay >= 0 {
		timer := time.AfterFunc(delay, func() { _ = cmd.Process.Kill() }) // it may have ended by itself
		defer timer.Stop()
	}
	if err := cmd.Wait(); err != nil && delay < 0 {
		t.Fatalf("child: %v", err)
	}
	return time.Since(start)
}

func open(t *testing.T, dir, docs string) *fixture {
	f := &fixture{t: t, dir: dir, docs: docs, embedder: &ragtest.HashEmbedder{}}
	f.open()
	return f
}

// checkWhole asserts that each document is wholly its old or wholly its new version, in the catalog and in what both
// lanes answer, and returns how many are new.
func checkWhole(t *testing.T, f *fixture) (fresh int) {
	t.Helper()
	chunks := map[string][]rag.Chunk{}
	for c, err := range f.Chunks(t.Context(), "", rag.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		chunks[c.URI] = append(chunks[c.URI], c)
	}
	for i := range crashFiles {
		uri := rag.FileURI(filepath.Join(f.docs, fmt.Sprintf("f%03d.md", i)))
		doc, err := f.Document(t.Context(), "", uri)
		if err != nil {
			t.Fatal(err)
		}
		version := 0
		if doc.Text == crashText(i, 1) {
			version = 1
		} else if doc.Text != crashText(i, 0) {
			t.Errorf("%s is neither its old nor its new version", uri)
		}
		fresh += version
		covered := 0
		for _, c := range chunks[uri] {
			if c.Text != doc.Text[c.Start:c.End] {
				t.Errorf("%s: chunk %d is of another version", uri, c.Ordinal)
			}
			covered = max(covered, c.End)
		}
		if strings.TrimSpace(doc.Text[covered:]) != "" {
			t.Errorf("%s: chunks end at %d of %d", uri, covered, len(doc.Text))
		}
		if i%10 != 0 { // every tenth is asked, in both lanes
			continue
		}
		for _, mode := range []rag.Mode{rag.Dense, rag.Sparse} {
			for _, h := range f.search(rag.Query{Text: fmt.Sprintf("file%dpart1 version%d", i, version), Mode: mode, TopK: 50, Filter: rag.Eq(rag.FieldURI, uri)}).Hits {
				if h.Chunk.Text != doc.Text[h.Chunk.Start:h.Chunk.End] {
					t.Errorf("%s: %s answers with another version", uri, mode)
				}
			}
		}
	}
	return fresh
}

func copyDir(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}
