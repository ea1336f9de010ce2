package embed_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/catalog"
	_ "github.com/seed-d8745b77/rag/fusion"
	_ "github.com/seed-d8745b77/rag/loader"
	"github.com/seed-d8745b77/rag/ragtest"
	_ "github.com/seed-d8745b77/rag/sparse"
	_ "github.com/seed-d8745b77/rag/trace"
	_ "github.com/seed-d8745b77/rag/vectorstore"
)

const (
	resumeDocs   = 100
	resumeLines  = 100 // of each document; each is a chunk
	resumeChunks = resumeDocs * resumeLines
	stopAt       = 77 // the batch before which the first run ends: in the middle of a group, in the middle of the work

	childDir = "RAG_TEST_RESUME_DIR" // data folder of the child process
)

// TestMain lets the test binary play the process that is killed.
func TestMain(m *testing.M) {
	dir := os.Getenv(childDir)
	if dir == "" {
		os.Exit(m.Run())
	}
	e := &ragtest.HashEmbedder{Dims: 32}
	e.Before = func(context.Context, rag.EmbedRole, []string) error {
		if e.Calls() == stopAt {
			fmt.Println(e.Texts())
			<-time.After(time.Hour) // until it is killed
		}
		return nil
	}
	err := func() error {
		eng, err := openResume(dir, e)
		if err != nil {
			return err
		}
		_, err = eng.Ingest(context.Background(), resumeRequest())
		return err
	}()
	fmt.Fprintln(os.Stderr, "the ingest ended:", err)
	os.Exit(1)
}

func openResume(dir string, e rag.Embedder) (*rag.Engine, error) {
	c := rag.DefaultConfig()
	c.Transforms, c.Ingest.Workers = []rag.ProviderConfig{}, 1
	return rag.Open(dir, rag.WithConfig(c), rag.WithEmbedder(e), rag.WithSplitter(lines{}))
}

func resumeRequest() rag.IngestRequest {
	var req rag.IngestRequest
	for d := range resumeDocs {
		var b strings.Builder
		for l := range resumeLines {
			fmt.Fprintf(&b, "document %d says in line %d something of its own\n", d, l)
		}
		req.Sources = append(req.Sources, rag.Bytes(fmt.Sprintf("mem:///%03d.txt", d), []byte(b.String())))
	}
	return req
}

// lines makes a chunk of each line.
type lines struct{}

func (lines) Split(_ context.Context, doc rag.Document) ([]rag.Chunk, error) {
	var chunks []rag.Chunk
	at := 0
	for line := range strings.SplitAfterSeq(doc.Text, "\n") {
		if text := strings.TrimSuffix(line, "\n"); text != "" {
			chunks = append(chunks, rag.Chunk{Text: text, Start: at, End: at + len(text)})
		}
		at += len(line)
	}
	return chunks, nil
}

// finish ingests what the first run left, and checks that both together embedded each chunk once.
func finish(t *testing.T, dir string, before int) {
	t.Helper()
	if before == 0 || before >= resumeChunks {
		t.Fatalf("the first run embedded %d texts of %d: the test shows nothing", before, resumeChunks)
	}
	e := &ragtest.HashEmbedder{Dims: 32}
	eng, err := openResume(dir, e)
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	infos, err := eng.Collections(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	committed := 0 // of the chunks; the others are cached, which may be none
	for _, info := range infos {
		committed += info.Chunks
	}
	rep, err := eng.Ingest(t.Context(), resumeRequest())
	if err != nil {
		t.Fatal(err)
	}
	if got := before + e.Texts(); got != resumeChunks {
		t.Errorf("%d and %d texts were embedded, %d in all, for %d chunks", before, e.Texts(), got, resumeChunks)
	}
	if rep.Cached != before-committed || rep.Embedded != e.Texts() {
		t.Errorf("report: %d embedded, %d cached; %d were embedded before, of which %d were committed", rep.Embedded, rep.Cached, before, committed)
	}
	check, err := eng.Verify(t.Context(), "")
	if err != nil || !check.OK || check.Vectors != resumeChunks {
		t.Errorf("verify: %+v, %v", check, err)
	}
}

func TestACancelledIngestResumesWithoutEmbeddingTwice(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	e := &ragtest.HashEmbedder{Dims: 32}
	e.Before = func(context.Context, rag.EmbedRole, []string) error {
		if e.Calls() == stopAt {
			cancel()
		}
		return ctx.Err()
	}
	eng, err := openResume(dir, e)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Ingest(ctx, resumeRequest()); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if err := eng.Close(); err != nil {
		t.Fatal(err)
	}
	finish(t, dir, e.Texts())
}

func TestAKilledIngestResumesWithoutEmbeddingTwice(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, readErr := bufio.NewReader(out).ReadString('\n')
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // it was killed
	if readErr != nil {
		t.Fatal(readErr)
	}
	before, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	finish(t, dir, before)
}

func TestWithoutACacheNothingIsKept(t *testing.T) {
	dir := t.TempDir()
	for _, collection := range []string{"one", "two"} {
		c := rag.DefaultConfig()
		c.EmbedCache.Provider, c.Transforms = rag.None, []rag.ProviderConfig{}
		e := &ragtest.HashEmbedder{}
		eng, err := rag.Open(dir, rag.WithConfig(c), rag.WithEmbedder(e), rag.WithSplitter(lines{}))
		if err != nil {
			t.Fatal(err)
		}
		req := rag.IngestRequest{Sources: []rag.Sources{rag.Bytes("mem:///a.txt", []byte("one line\n"))}, Collection: collection}
		if _, err := eng.Ingest(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if err := eng.Close(); err != nil {
			t.Fatal(err)
		}
		if e.Texts() != 1 {
			t.Errorf("%d texts embedded", e.Texts())
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "embeddings")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a folder: %v", err)
	}
}
