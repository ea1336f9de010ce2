package postgres_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/postgres"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/vectorstore/weaviate"
)

// openOverCluster opens an engine of which the catalog is the database and everything else in Weaviate.
func openOverCluster(t *testing.T, at postgres.Config, stores weaviate.Config) *rag.Engine {
	t.Helper()
	config := func(provider string, settings any) rag.ProviderConfig {
		text, err := json.Marshal(settings)
		if err != nil {
			t.Fatal(err)
		}
		return rag.ProviderConfig{Provider: provider, Settings: text}
	}
	c := rag.DefaultConfig()
	c.Catalog, c.VectorStore, c.SparseIndex = config("postgres", at), config("weaviate", stores), config("weaviate", stores)
	c.EmbedCache.Provider, c.Transforms = rag.None, []rag.ProviderConfig{}
	eng, err := rag.Open("", rag.WithConfig(c), rag.WithEmbedder(&ragtest.HashEmbedder{}), rag.WithLockWait(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = eng.Close() }) // nothing is written any more
	return eng
}

// TestCatalogOnACluster has one engine ingest and another search, which share the catalog in PostgreSQL and the indexes in
// Weaviate, of which a node is killed meanwhile.
func TestCatalogOnACluster(t *testing.T) {
	nodes := strings.Split(os.Getenv("RAG_WEAVIATE"), ",")
	if nodes[0] == "" {
		t.Skip("skipped: no cluster of Weaviate at $RAG_WEAVIATE; make cluster starts one")
	}
	script := func(what string) {
		if out, err := exec.Command(os.Getenv("RAG_WEAVIATE_CLUSTER"), what, "1").CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", what, err, out)
		}
	}
	at, folder := database(t, ""), t.TempDir()
	stores := weaviate.Config{URL: nodes[1], Others: []string{nodes[2], nodes[0]}, Prefix: fmt.Sprintf("P%d", os.Getpid()), Replicas: 3}
	writer := openOverCluster(t, at, stores)
	stores.URL, stores.Others = nodes[0], nodes[1:]
	reader := openOverCluster(t, at, stores)
	var kill sync.Once
	ingest := func(version int, committed func()) {
		t.Helper()
		writePapers(t, folder, version)
		rep, err := writer.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(folder)}, Progress: func(p rag.Progress) {
			if p.Stage == rag.StageUpsert {
				committed()
			}
		}})
		if err != nil || len(rep.Failed) > 0 {
			t.Fatalf("ingest of version %d: %v, %v", version, err, rep.Failed)
		}
	}
	ingest(1, func() {})
	done := make(chan struct{})
	var searching sync.WaitGroup
	searching.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				t.Logf("%d searches", i)
				return
			default:
			}
			if err := lookUp(reader, i%papers); err != nil {
				t.Error(err)
			}
		}
	})
	defer script("--start")
	ingest(2, func() { kill.Do(func() { script("--kill") }) })
	close(done)
	searching.Wait()
	whole(t, writer, "version2")
	whole(t, reader, "version2")
}
