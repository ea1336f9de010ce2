package rag_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

func TestDeleteByFilter(t *testing.T) {
	f := newFixture(t)
	for i := range 6 {
		f.write(fmt.Sprintf("old/doc%d.md", i), fmt.Sprintf("---\nyear: %d\n---\n# Report %d\n\nThe report of a year.\n", 2018+i, i))
	}
	f.write("empty.md", "")
	f.ingest(nil)
	left := func() (names []string) {
		for _, d := range f.stored() {
			names = append(names, filepath.Base(d.URI))
		}
		slices.Sort(names)
		return names
	}
	folder := rag.FileURI(filepath.Join(f.docs, "old")) + "/"
	for _, step := range []struct {
		name    string
		req     rag.DeleteRequest
		want    rag.DeleteReport
		left    []string
		invalid bool
	}{
		{name: "matches none", req: rag.DeleteRequest{Filter: rag.Eq("year", 1900)}, left: []string{"doc0.md", "doc1.md", "doc2.md", "doc3.md", "doc4.md", "doc5.md", "empty.md"}},
		{name: "of all", req: rag.DeleteRequest{Filter: rag.In("year", 2018, 2020)}, want: rag.DeleteReport{Existed: true, Documents: 2, Chunks: 2}, left: []string{"doc1.md", "doc3.md", "doc4.md", "doc5.md", "empty.md"}},
		{name: "of a folder", req: rag.DeleteRequest{URIs: []string{folder}, Filter: rag.Eq("title", "Report 1")}, want: rag.DeleteReport{Existed: true, Documents: 1, Chunks: 1}, left: []string{"doc3.md", "doc4.md", "doc5.md", "empty.md"}},
		{name: "a document that does not match", req: rag.DeleteRequest{URIs: []string{folder + "doc3.md"}, Filter: rag.Eq("year", 2022)}, left: []string{"doc3.md", "doc4.md", "doc5.md", "empty.md"}},
		{name: "without passages", req: rag.DeleteRequest{Filter: rag.Not(rag.Exists("year"))}, want: rag.DeleteReport{Existed: true, Documents: 1}, left: []string{"doc3.md", "doc4.md", "doc5.md"}},
		{name: "nothing named", invalid: true, left: []string{"doc3.md", "doc4.md", "doc5.md"}},
		{name: "all and a part", req: rag.DeleteRequest{All: true, Filter: rag.Eq("year", 2022)}, invalid: true, left: []string{"doc3.md", "doc4.md", "doc5.md"}},
		{name: "all", req: rag.DeleteRequest{All: true}, want: rag.DeleteReport{Existed: true, Documents: 3, Chunks: 3}},
	} {
		dry := step.req
		dry.DryRun = true
		would, err := f.Delete(t.Context(), dry)
		if !step.invalid && (err != nil || would.Documents != step.want.Documents || would.Chunks != step.want.Chunks || !dry.All && len(would.Plan) != would.Documents) {
			t.Errorf("%s: a dry run says %+v, %v", step.name, would, err)
		}
		rep, err := f.Delete(t.Context(), step.req)
		if errors.Is(err, rag.ErrInvalid) != step.invalid || err != nil && !step.invalid {
			t.Fatalf("%s: %v", step.name, err)
		}
		if !step.invalid {
			step.want.Collection, step.want.NotFound, step.want.Failed = "default", []string{}, []rag.IndexFailure{}
			if diff := cmp.Diff(&step.want, rep); diff != "" {
				t.Errorf("%s: %s", step.name, diff)
			}
		}
		if step.left == nil {
			break // the collection is gone
		}
		if diff := cmp.Diff(step.left, left()); diff != "" {
			t.Errorf("%s: %s", step.name, diff)
		}
		f.sound()
	}
}

// TestDeleteWaitsForTheIngest: a delete of a source that is being ingested waits, and what it deletes stays deleted.
func TestDeleteWaitsForTheIngest(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", prose("ferns", 3))
	f.write("b.txt", prose("oaks", 3))
	uri := rag.FileURI(filepath.Join(f.docs, "a.txt"))
	f.ingest(nil)
	f.write("a.txt", prose("mosses", 3))
	deleted := make(chan error, 1)
	started := false
	f.ingest(func(r *rag.IngestRequest) {
		r.Progress = func(p rag.Progress) {
			select {
			case err := <-deleted:
				t.Errorf("the delete did not wait: %v, at %+v", err, p)
			default:
			}
			if p.URI == uri && !started {
				started = true
				go func() {
					_, err := f.Delete(t.Context(), rag.DeleteRequest{URIs: []string{uri}})
					deleted <- err
				}()
			}
		}
	})
	if err := <-deleted; err != nil {
		t.Fatal(err)
	}
	if _, err := f.Document(t.Context(), "", uri); !errors.Is(err, rag.ErrNotFound) {
		t.Errorf("the document is there: %v", err)
	}
	f.sound()
}

// A file that gave several documents goes with all of them, also if the first is gone already.
func TestDeleteOfASourceWithSeveralDocuments(t *testing.T) {
	for name, first := range map[string]string{"whole": "", "rest": "one"} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.write("r.jsonl", "{\"kind\": \"one\", \"text\": \"a walrus\"}\n{\"kind\": \"two\", \"text\": \"a walrus cow\"}\n{\"kind\": \"three\", \"text\": \"a walrus bull\"}\n")
			f.write("r.jsonl.md", "A walrus of another file.")
			f.ingest(nil)
			uri := rag.FileURI(filepath.Join(f.docs, "r.jsonl"))
			want := 3
			if first != "" {
				want--
				if rep, err := f.Delete(t.Context(), rag.DeleteRequest{Filter: rag.Eq("kind", first)}); err != nil || rep.Documents != 1 {
					t.Fatalf("%+v, %v", rep, err)
				}
			}
			rep, err := f.Delete(t.Context(), rag.DeleteRequest{URIs: []string{uri}})
			if err != nil || rep.Documents != want || len(rep.NotFound) > 0 {
				t.Errorf("%+v, %v", rep, err)
			}
			if got := names(f.search(rag.Query{Text: "walrus"})); len(got) != 1 || got[0] != "r.jsonl.md" {
				t.Errorf("found %v", got)
			}
			f.sound()
		})
	}
}
