package dashboard

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/catalog"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/trace"
)

func TestOverviewOfNothing(t *testing.T) {
	s := server(t, engine(t), Options{})
	code, _, body := get(t, s, "/")
	if code != 200 || strings.Count(body, `data-testid="empty"`) != 2 || !strings.Contains(body, `<a href="/ingest">`) {
		t.Errorf("%d; want a page that says what to do first\n%s", code, body)
	}
	if code, _, body := get(t, s, "/browse"); code != 200 || !strings.Contains(body, `<a href="/ingest">`) {
		t.Errorf("the data browser: %d; want a page that says what to do first", code)
	}
	if _, _, body := get(t, server(t, engine(t), Options{ReadOnly: true}), "/browse"); !strings.Contains(body, "rag ingest FOLDER") {
		t.Error("over a snapshot the data browser does not say how to ingest")
	}
}

func TestOverview(t *testing.T) {
	ring := trace.NewRing(trace.RingConfig{})
	eng := engine(t, rag.WithTraceSink(ring))
	ingest(t, eng, map[string]string{"file:///a.md": "# Herons\n\nThe heron wades.\n", "file:///b.md": "# Otters\n\nThe otter dives.\n"})
	for _, question := range []string{"heron", "otter", "heron and otter"} {
		if _, err := eng.Search(t.Context(), rag.Query{Text: question}); err != nil {
			t.Fatal(err)
		}
	}
	s := server(t, eng, Options{Traces: ring, Version: "v1.2.3"})
	v := read[overviewView](t, s, "/")
	if v.Documents != 2 || v.Chunks != 2 || len(v.Collections) != 1 || v.Collections[0].Name != "default" {
		t.Errorf("it counts %d documents, %d chunks, collections %+v", v.Documents, v.Chunks, v.Collections)
	}
	if c := v.Calls; c == nil || c.Queries != 3 || len(c.Slowest) != 3 || len(c.Last) != 4 || c.Ingest == nil || c.Ingest.Counts.Added != 1 && c.Ingest.Counts.Added != 2 {
		t.Fatalf("it tells of calls %+v", c)
	}
	for i, c := range v.Calls.Slowest[1:] {
		if c.TotalMS > v.Calls.Slowest[i].TotalMS {
			t.Error("the slowest are not in the order of their times")
		}
	}
	if len(v.Calls.Buckets) != ranges[0].buckets || v.Calls.Buckets[ranges[0].buckets-1].Count != 3 {
		t.Errorf("the chart has %d points, the last with %d questions", len(v.Calls.Buckets), v.Calls.Buckets[len(v.Calls.Buckets)-1].Count)
	}
	if len(v.Attention) != 0 || v.Model.Dims != 32 || v.Version != "v1.2.3" {
		t.Errorf("attention %+v, model %+v, version %q", v.Attention, v.Model, v.Version)
	}
	_, _, body := get(t, s, "/?range=7d")
	for _, want := range []string{`data-testid="latency-chart"`, `data-testid="component-splitter"`, "/traces/query/" + v.Calls.Last[0].ID, `data-value="`, "uplot.min.js"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

func TestOverviewTellsWhatIsWrong(t *testing.T) {
	ring := trace.NewRing(trace.RingConfig{})
	cat := catalog.NewMemory()
	eng := engine(t, rag.WithTraceSink(ring), rag.WithCatalog(cat))
	ingest(t, eng, map[string]string{"file:///a.md": "# Herons\n\nThe heron wades.\n"})
	broken := rag.Sources{All: func(yield func(rag.Source, error) bool) {
		yield(rag.Source{URI: "file:///b.md"}, errors.New("the disk is broken"))
	}}
	if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{broken}}); !errors.Is(err, rag.ErrPartial) {
		t.Fatalf("the ingest: %v; want ErrPartial", err)
	}
	other, err := rag.Open("", rag.WithEmbedder(&ragtest.HashEmbedder{Dims: 32, Revision: "2"}), rag.WithCatalog(cat))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	s := server(t, other, Options{Traces: ring})
	v := read[overviewView](t, s, "/")
	if len(v.Attention) != 2 || !strings.Contains(v.Attention[0].Command, "rag reindex") || !strings.Contains(v.Attention[1].URL, "/traces/ingest/") {
		t.Errorf("what needs attention is %+v; want the embedder and the failed source", v.Attention)
	}
}

func TestValidityIsCountedOnce(t *testing.T) {
	s := admissions(t)
	if row := read[overviewView](t, s, "/").Collections[0]; !row.Dated || row.Status != nil {
		t.Errorf("before they are counted the row is %+v", row)
	}
	want := rag.StatusCounts{Current: 1, NeedsReview: 1, Expired: 1}
	if v := read[validityView](t, s, "/validity?collection=default"); v.Counts != want {
		t.Errorf("counted %+v; want %+v", v.Counts, want)
	}
	if row := read[overviewView](t, s, "/").Collections[0]; row.Status == nil || *row.Status != want {
		t.Errorf("afterwards the row has %+v", row.Status)
	}
	if v := read[validityView](t, s, "/validity?as_of=2025-06-01"); v.Counts != (rag.StatusCounts{Current: 2, NeedsReview: 1}) {
		t.Errorf("a year before: %+v", v.Counts)
	}
	info, err := s.info(&request{Request: mustRequest(t), s: s, lang: "en", collection: "default"})
	if err != nil {
		t.Fatal(err)
	}
	if s.counts.known(info, s.now().Add(time.Hour)) != nil {
		t.Error("counts of an hour ago are still shown")
	}
	info.Documents++
	if s.counts.known(info, s.now()) != nil {
		t.Error("counts of another state of the collection are still shown")
	}
	if status(t, s, "/validity?collection=nowhere") != 404 {
		t.Error("an unknown collection is counted")
	}
}

func TestIndexCheck(t *testing.T) {
	eng := engine(t)
	ingest(t, eng, map[string]string{"file:///a.md": "# Herons\n\nThe heron wades.\n"})
	s := server(t, eng, Options{ReadOnly: true})
	if code, h, _ := post(t, s, "/health", url.Values{"collection": {"default"}}.Encode()); code != 303 || h.Get("Location") != "/#collections" {
		t.Fatalf("%d to %q; want 303 to the overview", code, h.Get("Location"))
	}
	s.work.Wait()
	row := read[overviewView](t, s, "/").Collections[0]
	if row.Check == nil || row.Check.Running || row.Check.Report == nil || !row.Check.Report.OK {
		t.Errorf("the check is %+v; want a sound index", row.Check)
	}
	if code, _, _ := post(t, s, "/health", "collection=nowhere"); code != 404 {
		t.Errorf("a collection that is not there: %d; want 404", code)
	}
}

func TestSplitterSizes(t *testing.T) {
	for fingerprint, want := range map[string][]size{
		"recursive/v2/200/30/50":              {{"size", "200", "tokens"}, {"overlap", "30", "tokens"}},
		"recursive/v2/800/150/200/characters": {{"size", "800", "characters"}, {"overlap", "150", "characters"}},
		"one/of/another/form/of/its/own":      nil,
		"short":                               nil,
	} {
		if diff := cmp.Diff(want, splitterSizes(fingerprint)); diff != "" {
			t.Errorf("%s: %s", fingerprint, diff)
		}
	}
}
