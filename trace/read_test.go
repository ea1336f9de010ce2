package trace_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/trace"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// sample makes the n-th of some traces: a minute apart, every third an ingest, every fifth failed.
func sample(n int) rag.Trace {
	t := rag.Trace{
		ID: fmt.Sprintf("%016x", uint64(n)*0x9e3779b97f4a7c15), Type: rag.TraceQuery, Timestamp: noon.Add(time.Duration(n) * time.Minute),
		Collection: "default", UserQuery: fmt.Sprintf("Question \"%d\" about notice periods \\ and \n[{ leave", n), Mode: "hybrid", TotalMS: float64(n % 100),
		Stages: []rag.Span{
			{Stage: rag.StageQuery, ElapsedMS: 1, EndMS: 1, In: 1, Out: 1, Detail: map[string]any{"a]\"}": "\",\"candidates\":[{", "filter": map[string]any{"candidates": []any{"x"}}}},
			{Stage: rag.StageDense, Method: "hnsw", ElapsedMS: float64(n), StartMS: 1, EndMS: 2, Out: 2, Candidates: []rag.Candidate{{ChunkID: "c]\"", Rank: 1, FoundBy: []int{0, 1}}, {ChunkID: "d", Rank: 2}}},
			{Stage: rag.StageRerank, Status: rag.SpanOff},
		},
		TopK: []rag.TopHit{{Rank: 1, ChunkID: "c", URI: "file:a", Score: 0.5, Trail: []rag.Rank{{Stage: rag.StageDense, Position: 1}}}},
	}
	if n%3 == 0 {
		t.Type, t.UserQuery, t.Mode, t.SourcePath, t.TopK = rag.TraceIngest, "", "", []string{"file:///docs/Leave.md"}, nil
		t.Counts = &rag.Counts{Added: 1}
	}
	if n%5 == 0 {
		t.Error = "it broke"
	}
	return t
}

// readers returns an index whose files rotate and a ring, both with the first n samples.
func readers(t *testing.T, n int) map[string]trace.Reader {
	t.Helper()
	dir := t.TempDir()
	sink, ring := trace.NewJSONL(dir, trace.JSONLConfig{MaxBytes: 5000}), trace.NewRing(trace.RingConfig{Size: n})
	for i := range n {
		tr := sample(i)
		if err := errors.Join(sink.Record(t.Context(), &tr), ring.Record(t.Context(), &tr)); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]trace.Reader{"index": trace.NewIndex(dir), "ring": ring}
}

func listed(t *testing.T, r trace.Reader, q trace.Query) (ids []string, next string) {
	t.Helper()
	page, err := r.List(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	ids = []string{}
	for _, s := range page.Traces {
		ids = append(ids, s.ID)
	}
	return ids, page.Next
}

// TestListIsWhatAllHas compares pages of every kind of query with a plain filter over all traces.
func TestListIsWhatAllHas(t *testing.T) {
	const n = 60
	queries := []struct {
		q    trace.Query
		want func(rag.Trace) bool
	}{
		{trace.Query{}, func(rag.Trace) bool { return true }},
		{trace.Query{Types: []string{rag.TraceIngest}}, func(t rag.Trace) bool { return t.Type == rag.TraceIngest }},
		{trace.Query{Text: "PERIODS question"}, func(t rag.Trace) bool { return t.UserQuery != "" }},
		{trace.Query{Text: "leave.md"}, func(t rag.Trace) bool { return t.SourcePath != nil }},
		{trace.Query{Status: []string{trace.StatusError}}, func(t rag.Trace) bool { return t.Error != "" }},
		{trace.Query{MinMS: 30}, func(t rag.Trace) bool { return t.TotalMS >= 30 }},
		{trace.Query{Collection: "other"}, func(t rag.Trace) bool { return false }},
		{trace.Query{Since: noon.Add(10 * time.Minute), Until: noon.Add(20 * time.Minute)}, func(t rag.Trace) bool {
			return !t.Timestamp.Before(noon.Add(10*time.Minute)) && t.Timestamp.Before(noon.Add(20*time.Minute))
		}},
	}
	for name, r := range readers(t, n) {
		for _, tc := range queries {
			want := []string{}
			for tr, err := range r.All() {
				if err != nil {
					t.Fatal(err)
				}
				if tc.want(tr) {
					want = append(want, tr.ID)
				}
			}
			slices.Reverse(want)
			for _, limit := range []int{0, 1, 7, n} {
				tc.q.Limit, tc.q.Before = limit, ""
				got := []string{}
				for {
					ids, next := listed(t, r, tc.q)
					got = append(got, ids...)
					if tc.q.Before = next; next == "" {
						break
					}
				}
				if diff := gocmp.Diff(want, got); diff != "" {
					t.Errorf("%s, %+v (-want +got):\n%s", name, tc.q, diff)
				}
			}
		}
	}
}

func TestSummary(t *testing.T) {
	for name, r := range readers(t, 5) {
		page, err := r.List(t.Context(), trace.Query{Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		want := []trace.Summary{
			{
				ID: sample(4).ID, Type: rag.TraceQuery, Timestamp: sample(4).Timestamp, Collection: "default", Question: sample(4).UserQuery, Mode: "hybrid",
				Status: trace.StatusOK, TotalMS: 4, Hits: 1,
				Stages: []trace.StageTime{{Stage: rag.StageQuery, EndMS: 1, MS: 1}, {Stage: rag.StageDense, StartMS: 1, EndMS: 2, MS: 4}},
			},
			{
				ID: sample(3).ID, Type: rag.TraceIngest, Timestamp: sample(3).Timestamp, Collection: "default", Sources: []string{"file:///docs/Leave.md"},
				Status: trace.StatusOK, TotalMS: 3, Counts: &rag.Counts{Added: 1},
				Stages: []trace.StageTime{{Stage: rag.StageQuery, EndMS: 1, MS: 1}, {Stage: rag.StageDense, StartMS: 1, EndMS: 2, MS: 3}},
			},
		}
		if diff := gocmp.Diff(want, page.Traces); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestStatus(t *testing.T) {
	for want, tr := range map[string]rag.Trace{
		trace.StatusOK:      {},
		trace.StatusError:   {Error: "no"},
		trace.StatusRefused: {Answer: &rag.AnswerTrace{Refused: true}},
		trace.StatusPartial: {Stages: []rag.Span{{Status: rag.SpanFailed}}},
	} {
		r := trace.NewRing(trace.RingConfig{})
		tr.ID = "a"
		if err := r.Record(t.Context(), &tr); err != nil {
			t.Fatal(err)
		}
		page, err := r.List(t.Context(), trace.Query{})
		if err != nil || page.Traces[0].Status != want {
			t.Errorf("status %q, error %v, want %q", page.Traces[0].Status, err, want)
		}
	}
}

func TestGet(t *testing.T) {
	const n = 20
	for name, r := range readers(t, n) {
		for i := range n {
			want := sample(i)
			for _, id := range []string{want.ID, want.ID[:10]} {
				got, err := r.Get(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				if diff := gocmp.Diff(asJSON(t, want), asJSON(t, got)); diff != "" {
					t.Errorf("%s, %s (-want +got):\n%s", name, id, diff)
				}
			}
		}
		for _, id := range []string{"", "zz", sample(1).ID + "0"} {
			if _, err := r.Get(t.Context(), id); !errors.Is(err, rag.ErrNotFound) {
				t.Errorf("%s, Get(%q): error %v, want ErrNotFound", name, id, err)
			}
		}
		ids := []string{}
		for i := range n {
			ids = append(ids, sample(i).ID)
		}
		slices.Sort(ids)
		twice := ""
		for i := range ids[1:] {
			if ids[i][:1] == ids[i+1][:1] {
				twice = ids[i][:1]
			}
		}
		if _, err := r.Get(t.Context(), twice); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%s, Get(%q): error %v, want ErrInvalid", name, twice, err)
		}
	}
}

func asJSON(t *testing.T, tr rag.Trace) string {
	t.Helper()
	b, err := json.Marshal(tr)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestIndexFollows has an index read between the writes of two sinks that rotate and forget, and a file cut off half way.
func TestIndexFollows(t *testing.T) {
	dir := t.TempDir()
	rnd := rand.New(rand.NewPCG(1, 2))
	sinks := []*trace.JSONL{
		trace.NewJSONL(dir, trace.JSONLConfig{MaxBytes: 4000, KeepFiles: 3}),
		trace.NewJSONL(dir, trace.JSONLConfig{MaxBytes: 4000, KeepFiles: 3}),
	}
	index := trace.NewIndex(dir)
	for i := range 200 {
		tr := sample(i)
		if err := sinks[rnd.IntN(2)].Record(t.Context(), &tr); err != nil {
			t.Fatal(err)
		}
		if i%10 == 9 {
			appendTo(t, filepath.Join(dir, "traces.jsonl"), `{"trace_id":"half`)
		}
		if rnd.IntN(3) > 0 {
			continue
		}
		want := ids(t, trace.NewIndex(dir).All())
		slices.Reverse(want)
		if got, _ := listed(t, index, trace.Query{Limit: 1000}); !slices.Equal(got, want) {
			t.Fatalf("after %d: the index has %v, the files %v", i+1, got, want)
		}
		if got, err := index.Get(t.Context(), want[len(want)-1]); err != nil || got.ID != want[len(want)-1] {
			t.Errorf("Get of the oldest = %q, %v", got.ID, err)
		}
	}
}

func appendTo(t *testing.T, file, text string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestAfterAndBefore(t *testing.T) {
	for name, r := range readers(t, 9) {
		if got, _ := listed(t, r, trace.Query{After: sample(6).ID}); !slices.Equal(got, []string{sample(8).ID, sample(7).ID}) {
			t.Errorf("%s, after the seventh: %v", name, got)
		}
		if got, _ := listed(t, r, trace.Query{Before: "gone"}); len(got) > 0 {
			t.Errorf("%s, before a trace that is gone: %v", name, got)
		}
		if _, err := r.List(t.Context(), trace.Query{Limit: 1001}); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%s, limit 1001: error %v", name, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		tr := sample(9)
		if ring, ok := r.(*trace.Ring); ok {
			if err := ring.Record(t.Context(), &tr); err != nil {
				t.Fatal(err)
			}
			if _, err := r.List(ctx, trace.Query{}); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, cancelled: error %v", name, err)
			}
		}
	}
}

func TestStats(t *testing.T) {
	for name, r := range readers(t, 40) {
		q := trace.Query{Types: []string{rag.TraceQuery}}
		got, err := r.Stats(t.Context(), q, 3)
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for i, b := range got {
			count += b.Count
			var totals []float64
			for j := range 40 {
				tr := sample(j)
				last := i == len(got)-1
				if tr.Type == rag.TraceQuery && !tr.Timestamp.Before(b.Start) && (tr.Timestamp.Before(b.End) || last) {
					totals = append(totals, tr.TotalMS)
				}
			}
			slices.SortFunc(totals, cmp.Compare)
			if b.Count != len(totals) || b.Total.P50 != totals[(len(totals)-1)/2] || b.Total.P95 != totals[len(totals)-1] {
				t.Errorf("%s, bucket %d: %+v, want the percentiles of %v", name, i, b, totals)
			}
			if len(b.Stages) != 2 || b.Stages[0].Stage != rag.StageQuery || b.Stages[1].Stage != rag.StageDense || b.Stages[1].P50 != b.Total.P50 {
				t.Errorf("%s, bucket %d: stages %+v", name, i, b.Stages)
			}
		}
		if count != 26 || got[0].Start != sample(1).Timestamp || got[2].End != sample(38).Timestamp {
			t.Errorf("%s: %d traces in %+v", name, count, got)
		}
		if got, err := r.Stats(t.Context(), trace.Query{Collection: "other"}, 3); err != nil || got != nil {
			t.Errorf("%s, of none: %v, %v", name, got, err)
		}
		if _, err := r.Stats(t.Context(), q, 0); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%s, no buckets: error %v", name, err)
		}
	}
}

// A clock that is put back must not make the newest traces the oldest, which go first.
func TestTheClockIsPutBack(t *testing.T) {
	dir, now := t.TempDir(), noon
	var p rag.Providers
	trace.Register(&p)
	sink, err := p.TraceSinks.New("jsonl", rag.Env{Dir: dir, Now: func() time.Time { return now }}, []byte(`{"max_bytes": 1, "keep_files": 4}`))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		now = noon.Add(-time.Duration(i) * time.Hour)
		tr := sample(i)
		tr.Timestamp = now
		if err := sink.Record(t.Context(), &tr); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{sample(5).ID, sample(6).ID, sample(7).ID, sample(8).ID, sample(9).ID}
	if diff := gocmp.Diff(want, ids(t, trace.NewIndex(dir).All())); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

func TestKeepDaysAndTotal(t *testing.T) {
	dir := t.TempDir()
	now := noon
	open := func(settings string) rag.TraceSink {
		var p rag.Providers
		trace.Register(&p)
		sink, err := p.TraceSinks.New("jsonl", rag.Env{Dir: dir, Now: func() time.Time { return now }}, []byte(settings))
		if err != nil {
			t.Fatal(err)
		}
		return sink
	}
	sink := open(`{"keep_days": 3}`)
	for day := range 10 {
		now = noon.AddDate(0, 0, day)
		tr := sample(day)
		tr.Timestamp = now
		if err := sink.Record(t.Context(), &tr); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(dir, "traces.jsonl"), now, now); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{sample(6).ID, sample(7).ID, sample(8).ID, sample(9).ID}
	if diff := gocmp.Diff(want, ids(t, trace.NewIndex(dir).All())); diff != "" {
		t.Errorf("after ten days (-want +got):\n%s", diff)
	}

	const most = 8000
	sink = open(fmt.Sprintf(`{"max_total_bytes": %d}`, most))
	for i := range 100 {
		tr := sample(10 + i)
		if err := sink.Record(t.Context(), &tr); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		total := int64(0)
		for _, f := range files {
			info, err := os.Stat(f)
			if err != nil {
				t.Fatal(err)
			}
			total += info.Size()
		}
		if total > most {
			t.Fatalf("%d bytes in %s", total, strings.Join(files, ", "))
		}
	}
	got := ids(t, trace.NewIndex(dir).All())
	if len(got) < 4 || got[len(got)-1] != sample(109).ID {
		t.Errorf("kept %v: the newest should be there, and a few before it", got)
	}
}

// TestDaysOfAFileAreInItsZone: engines in different zones write to one file for a day, and do not each begin a new one.
func TestDaysOfAFileAreInItsZone(t *testing.T) {
	dir := t.TempDir()
	record := func(n int, now time.Time) {
		t.Helper()
		var p rag.Providers
		trace.Register(&p)
		sink, err := p.TraceSinks.New("jsonl", rag.Env{Dir: dir, Now: func() time.Time { return now }}, []byte(`{"keep_days": 3}`))
		if err != nil {
			t.Fatal(err)
		}
		tr := sample(n)
		tr.Timestamp = now
		if err := sink.Record(t.Context(), &tr); err != nil {
			t.Fatal(err)
		}
	}
	files := func() int {
		t.Helper()
		all, err := filepath.Glob(filepath.Join(dir, "traces*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	east := time.FixedZone("", 13*60*60) // noon there is the day after
	for i := range 6 {
		now := noon.Add(time.Duration(i) * time.Second)
		if i%2 == 1 {
			now = now.In(east)
		}
		record(i, now)
	}
	if n := files(); n != 1 {
		t.Errorf("one day is in %d files", n)
	}
	record(6, noon.AddDate(0, 0, 1).In(east))
	if n := files(); n != 2 {
		t.Errorf("two days are in %d files", n)
	}
}

// impatient is a context that is over after so many looks at it.
type impatient struct {
	context.Context //nolint:containedctx // it is one itself
	looks           int
}

func (c *impatient) Err() error {
	if c.looks--; c.looks < 0 {
		return context.Canceled
	}
	return nil
}

// TestReadersThatGiveUpGetOn: what one reader of many traces has read, the next one need not.
func TestReadersThatGiveUpGetOn(t *testing.T) {
	const n, looks = 60, 20
	dir := t.TempDir()
	sink := trace.NewJSONL(dir, trace.JSONLConfig{MaxBytes: 20_000})
	for i := range n {
		tr := sample(i)
		if err := sink.Record(t.Context(), &tr); err != nil {
			t.Fatal(err)
		}
	}
	index := trace.NewIndex(dir)
	for try := range n {
		page, err := index.List(&impatient{t.Context(), looks}, trace.Query{Limit: n})
		if errors.Is(err, context.Canceled) && try < n/looks+1 {
			continue
		}
		if err != nil || try == 0 || len(page.Traces) != n || page.Traces[0].ID != sample(n-1).ID || page.Traces[n-1].ID != sample(0).ID {
			t.Fatalf("after giving up %d times: %v, %d traces; want %d in their order", try, err, len(page.Traces), n)
		}
		return
	}
}
