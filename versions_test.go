package rag_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

// writeVersion makes the folder of a version, which is done once, when it is released:
//
//	go test -run TestDataOfEveryVersion -write-version v1.2.3 .
var writeVersion = flag.String("write-version", "", "write the data folder of this version into testdata/versions")

// written is what a version found in its data.
type written struct {
	Documents map[string][]string `json:"documents"` // URI → IDs of its passages
	Hits      []string            `json:"hits"`      // of a question, best first
	Pictures  []string            `json:"pictures"`
}

// openVersion opens the data folder of a version. Its embedder needs no model and is the same for ever.
func openVersion(t *testing.T, dir string) *rag.Engine {
	t.Helper()
	eng, err := rag.Open(dir, rag.WithEmbedder(&ragtest.HashEmbedder{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	return eng
}

// readVersion asks for what written holds.
func readVersion(t *testing.T, eng *rag.Engine) written {
	t.Helper()
	w := written{Documents: map[string][]string{}}
	for entry, err := range eng.Documents(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		chunks, err := eng.DocumentChunks(t.Context(), "", entry.URI, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range chunks {
			w.Documents[entry.URI] = append(w.Documents[entry.URI], c.ID)
			for _, img := range c.Images {
				w.Pictures = append(w.Pictures, img.ID)
			}
		}
	}
	res, err := eng.Search(t.Context(), rag.Query{Text: "who signs off a trip abroad?", Filter: rag.Eq("department", "people")})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range res.Hits {
		w.Hits = append(w.Hits, h.Chunk.ID)
	}
	return w
}

// A data folder and an export that a released version wrote are read by this one: the same documents, passages, pictures and
// order, sound, and known again.
func TestDataOfEveryVersion(t *testing.T) {
	if *writeVersion != "" {
		writeVersionTo(t, filepath.Join("testdata", "versions", *writeVersion))
	}
	versions, err := filepath.Glob(filepath.Join("testdata", "versions", "v*"))
	if err != nil || len(versions) == 0 {
		t.Fatalf("no versions: %v", err)
	}
	for _, version := range versions {
		t.Run(filepath.Base(version), func(t *testing.T) {
			var want written
			text, err := os.ReadFile(filepath.Join(version, "want.json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(filepath.Join(version, "data"))); err != nil {
				t.Fatal(err)
			}
			eng := openVersion(t, dir)
			if diff := cmp.Diff(want, readVersion(t, eng)); diff != "" {
				t.Error(diff)
			}
			if rep, err := eng.Verify(t.Context(), ""); err != nil || !rep.OK {
				t.Errorf("verify: %+v, %v", rep, err)
			}
			report := ingestVersion(t, eng, version)
			if report.Added != 0 || len(report.Failed) != 0 { // a later pipeline may read them anew
				t.Errorf("ingesting the same again: %+v", report)
			}

			again := openVersion(t, t.TempDir())
			exported, err := rag.Exported(filepath.Join(version, "export.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := again.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{exported}}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, readVersion(t, again)); diff != "" {
				t.Errorf("from the export: %s", diff)
			}
		})
	}
}

// ingestVersion ingests the documents of a version under the names they had.
func ingestVersion(t *testing.T, eng *rag.Engine, version string) *rag.IngestReport {
	t.Helper()
	report, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.FS(os.DirFS(filepath.Join(version, "docs")), "kb:")}})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// writeVersionTo writes what TestDataOfEveryVersion reads, from the documents that lie there or, where none do, from those
// of the version before.
func writeVersionTo(t *testing.T, version string) {
	t.Helper()
	docs := filepath.Join(version, "docs")
	if _, err := os.Stat(docs); err != nil {
		before, _ := filepath.Glob(filepath.Join(filepath.Dir(version), "v*", "docs"))
		if len(before) == 0 {
			t.Fatal("there are no documents to write")
		}
		if err := os.CopyFS(docs, os.DirFS(slices.Max(before))); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	eng := openVersion(t, dir)
	ingestVersion(t, eng, version)
	if _, err := eng.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(version, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := eng.Backup(t.Context(), filepath.Join(version, "data", "rag.db")); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(version, "export.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := eng.Export(t.Context(), "", out); err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(readVersion(t, eng), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(version, "want.json"), append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
