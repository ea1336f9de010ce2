package rag_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

// traces keeps what it is given.
type traces struct{ all []*rag.Trace }

func (s *traces) Record(_ context.Context, t *rag.Trace) error {
	s.all = append(s.all, t)
	return nil
}

func TestATraceNamesTheKindOfItsError(t *testing.T) {
	kept := &traces{}
	f := newFixture(t, rag.WithTraceSink(kept))
	f.write("a.txt", "A text about opals.")
	f.ingest(nil)
	for _, c := range []struct {
		cancel  bool
		q       rag.Query
		failing error // of the embedder
		want    string
	}{
		{false, rag.Query{Text: "opals"}, nil, ""},
		{false, rag.Query{Text: "opals", Mode: "hybird"}, nil, "invalid"},
		{false, rag.Query{Text: "opals", Collection: "none"}, nil, "not_found"},
		{true, rag.Query{Text: "opals"}, nil, "canceled"},
		{false, rag.Query{Text: "opals", Mode: rag.Dense}, errors.New("out of order"), "unavailable"}, // no lane answered
	} {
		f.embedder.Before = func(context.Context, rag.EmbedRole, []string) error { return c.failing }
		ctx, cancel := context.WithCancel(t.Context())
		if c.cancel {
			cancel()
		}
		_, err := f.Search(ctx, c.q)
		cancel()
		last := kept.all[len(kept.all)-1]
		if last.ErrorKind != c.want || (err == nil) != (last.Error == "") {
			t.Errorf("%+v: error %v, kind %q, want %q", c.q, err, last.ErrorKind, c.want)
		}
	}
}

func TestATraceNamesItsModels(t *testing.T) {
	kept := &traces{}
	config := rag.DefaultConfig()
	config.Answer.RefuseBelow = -1
	f := newFixture(t, rag.WithTraceSink(kept), rag.WithConfig(config), rag.WithChatModel(&ragtest.Script{Replies: []string{"Opals [1]."}}))
	f.write("a.txt", "A text about opals.")
	f.ingest(nil)
	if _, err := f.Ask(t.Context(), rag.AskRequest{Query: rag.Query{Text: "opals"}}); err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	for _, s := range kept.all[len(kept.all)-1].Stages {
		for _, name := range []string{"embedder", "model", "dimension", "top_k"} {
			if v, ok := s.Detail[name]; ok {
				got[s.Stage+"."+name] = v
			}
		}
	}
	m := f.embedder.Model()
	want := map[string]any{
		"query_processing.top_k": config.Retrieval.TopK, "generate.model": "ragtest.Script",
		"dense.embedder": "ragtest.HashEmbedder", "dense.model": m.Name, "dense.dimension": m.Dims,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What could not even be listed stands in the trace: it names all that was asked for.
func TestTheTraceOfAnIngestNamesWhatIsMissing(t *testing.T) {
	kept := &traces{}
	f := newFixture(t, rag.WithTraceSink(kept))
	f.write("a.md", "An opal.\n")
	there, missing := filepath.Join(f.docs, "a.md"), filepath.Join(f.docs, "missing.md")
	if _, err := f.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Path(there), rag.Path(missing)}}); !errors.Is(err, rag.ErrPartial) {
		t.Fatal(err)
	}
	want := []string{rag.FileURI(there), rag.FileURI(missing)}
	if diff := cmp.Diff(want, kept.all[len(kept.all)-1].SourcePath); diff != "" {
		t.Errorf("sources in the trace (-want +got):\n%s", diff)
	}
}
