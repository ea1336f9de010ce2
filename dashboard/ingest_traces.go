package dashboard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/trace"
)

func (s *Server) ingestTraceRoutes(on router) {
	on.view("/traces/ingest", "ingest_traces", s.ingestTraces)
	on.view("/traces/ingest/{id}", "ingest_trace", s.ingestTrace)
}

// ingestTracesView lists the traces of ingests, newest first.
type ingestTracesView struct {
	Kept        bool              `json:"kept"` // there is something that records them
	Filter      ingestTraceFilter `json:"filter"`
	Collections []string          `json:"collections"`
	Statuses    []string          `json:"-"`
	Rows        []ingestTraceRow  `json:"traces"`
	Pager       pager             `json:"pager"`
}

// ingestTraceFilter says which traces are wanted, each field as it was typed.
type ingestTraceFilter struct {
	Text       string `json:"q,omitempty"`
	Collection string `json:"collection,omitempty"`
	Status     string `json:"status,omitempty"`
	From       string `json:"from,omitempty"` // first day or instant, in UTC
	To         string `json:"to,omitempty"`   // last day
}

// ingestTraceRow is a line of the list.
type ingestTraceRow struct {
	trace.Summary
	Kind  string     `json:"-"` // of its badge
	Title string     `json:"-"`
	More  int        `json:"-"` // sources that the title does not name
	Bar   []stageBar `json:"-"` // shares of the stages in the work, one behind the other
}

// traceStatuses are those an ingest can have.
var traceStatuses = []string{trace.StatusOK, trace.StatusPartial, trace.StatusError}

func (s *Server) ingestTraces(r *request) (any, error) {
	v := &ingestTracesView{
		Kept: s.o.Traces != nil, Statuses: traceStatuses, Rows: []ingestTraceRow{},
		Filter: ingestTraceFilter{r.param("q"), r.param("collection"), r.param("status"), r.param("from"), r.param("to")},
	}
	var err error
	if v.Collections, err = s.collectionNames(r); err != nil || !v.Kept {
		return v, err
	}
	q, err := v.Filter.query()
	if err != nil {
		return nil, err
	}
	q.Before = r.param("after")
	page, err := s.o.Traces.List(r.Context(), q)
	if err != nil {
		return nil, err
	}
	for _, t := range page.Traces {
		v.Rows = append(v.Rows, ingestRowOf(t))
	}
	v.Pager = r.pagerAfter(page.Next, page.Next != "")
	return v, nil
}

// query is what the filter asks of a reader of traces.
func (f *ingestTraceFilter) query() (q trace.Query, err error) {
	q = trace.Query{Types: []string{rag.TraceIngest}, Text: f.Text, Collection: f.Collection, Limit: pageSize}
	if f.Status != "" {
		if !slices.Contains(traceStatuses, f.Status) {
			return q, fmt.Errorf("status %q: one of %v is wanted: %w", f.Status, traceStatuses, rag.ErrInvalid)
		}
		q.Status = []string{f.Status}
	}
	q.Since, q.Until, err = readDays(f.From, f.To)
	return q, err
}

func ingestRowOf(t trace.Summary) ingestTraceRow {
	row := ingestTraceRow{Summary: t, Kind: statusKind(t.Status), Title: t.ID, Bar: shares(t.Stages)}
	if len(t.Sources) > 0 && t.Sources[0] != "" {
		row.Title, row.More = place(t.Sources[0]), len(t.Sources)-1
	}
	return row
}

// statusKind is the badge of a trace's status.
func statusKind(status string) string {
	switch status {
	case trace.StatusOK:
		return "ok"
	case trace.StatusError:
		return "bad"
	}
	return "warn"
}

// shares puts stages one behind the other, each as long as its share in the work of all: of workers beside one another the
// times add up to more than the whole took.
func shares(stages []trace.StageTime) []stageBar {
	var all, x float64
	for _, st := range stages {
		all += st.MS
	}
	var bars []stageBar
	for _, st := range stages {
		if all > 0 && st.MS > 0 {
			w := min(st.MS/all*100, 100-x)
			bars = append(bars, stageBar{st.Stage, st.MS, x, w, fillOf(st.Stage)})
			x += w
		}
	}
	return bars
}

// ingestTraceView is one ingest.
type ingestTraceView struct {
	Trace     *rag.Trace      `json:"trace"`
	Status    string          `json:"status"`
	Kind      string          `json:"-"`
	Waterfall trace.Waterfall `json:"waterfall"`
	Bars      []barRow        `json:"-"`
	Ticks     []tick          `json:"-"`
	Stages    []stageTotal    `json:"stages"`
	Files     []fileBars      `json:"files"` // those that took most work, the most first
	Failures  []noteGroup     `json:"failures"`
	Warnings  []noteGroup     `json:"warnings"`
	Unlisted  int             `json:"-"`               // failures that the trace does not list
	Older     string          `json:"older,omitempty"` // URL of the ingest before
	List      string          `json:"-"`
}

func (v *ingestTraceView) title(r *request) string { return r.T("ingest_trace.of", v.Trace.Collection) }

// stageTotal is a stage in numbers.
type stageTotal struct {
	Stage   string   `json:"stage"`
	Method  string   `json:"method,omitempty"`
	Status  string   `json:"status,omitempty"`
	MS      float64  `json:"elapsed_ms"`
	Each    float64  `json:"ms_per_item"` // 0: nothing went through
	Share   float64  `json:"share"`       // of the work of all stages
	In      int      `json:"in"`
	Out     int      `json:"out"`
	Error   string   `json:"error,omitempty"`
	Details []detail `json:"-"`
}

// fileBars is a file with its stages on the axis of the whole.
type fileBars struct {
	rag.FileTrace
	Work float64    `json:"work_ms"` // of stages that were done for several files its share
	Bars []stageBar `json:"-"`
	Word string     `json:"-"` // what was done with it
	Kind string     `json:"-"` // of its badge
	URL  string     `json:"-"` // its document; "" if there is none
}

// noteGroup is a remark on several documents, which differs between them in numbers only.
type noteGroup struct {
	Message string     `json:"message"` // of the first
	Places  []noteItem `json:"documents"`
}

type noteItem struct {
	URI     string `json:"uri"`
	Message string `json:"message"`
	URL     string `json:"-"`
}

func (s *Server) ingestTrace(r *request) (any, error) {
	if s.o.Traces == nil {
		return nil, fmt.Errorf("no traces are kept: %w", rag.ErrNotFound)
	}
	t, err := s.o.Traces.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if t.Type != rag.TraceIngest {
		return redirect(s.link("/traces/query/" + t.ID)), nil
	}
	v := &ingestTraceView{Trace: &t, Waterfall: trace.NewWaterfall(&t), List: s.link("/traces/ingest"), Stages: []stageTotal{}, Files: []fileBars{}}
	v.Status = summaryOf(&t).Status
	v.Kind = statusKind(v.Status)
	v.Bars, v.Ticks = drawWaterfall(&v.Waterfall, &t), ticks(v.Waterfall.TotalMS)
	v.Stages = stageTotals(t.Stages)
	v.addFiles(r)
	var warnings []noteItem
	for _, w := range t.Warnings {
		warnings = append(warnings, noteItem{w.URI, w.Message, s.stillThere(r, t.Collection, w.URI)})
	}
	v.Warnings = groups(warnings)
	older, err := s.o.Traces.List(r.Context(), trace.Query{Types: []string{rag.TraceIngest}, Before: t.ID, Limit: 1})
	if err == nil && len(older.Traces) > 0 {
		v.Older = s.link("/traces/ingest/" + older.Traces[0].ID)
	}
	return v, err
}

func stageTotals(spans []rag.Span) []stageTotal {
	all := 0.0
	for _, s := range spans {
		all += s.ElapsedMS
	}
	totals := make([]stageTotal, 0, len(spans))
	for _, s := range spans {
		row := stageTotal{Stage: s.Stage, Method: s.Method, Status: s.Status, MS: s.ElapsedMS, In: s.In, Out: s.Out, Error: s.Error, Details: detailsOf(s.Detail)}
		if s.Out > 0 {
			row.Each = s.ElapsedMS / float64(s.Out)
		}
		if all > 0 {
			row.Share = s.ElapsedMS / all
		}
		totals = append(totals, row)
	}
	return totals
}

// addFiles adds the files that the trace lists, and groups those that failed.
func (v *ingestTraceView) addFiles(r *request) {
	var failed []noteItem
	for _, f := range v.Trace.Files {
		row := fileBars{FileTrace: f, Word: f.Action, Kind: "ok"}
		for _, st := range f.Stages {
			row.Work += st.MS / float64(max(st.Shared, 1))
			row.Bars = append(row.Bars, v.place(st))
		}
		row.URL = r.s.stillThere(r, v.Trace.Collection, f.URI)
		if f.Error != "" {
			row.Word, row.Kind = rag.ActionFailed, "bad"
			_, cause, found := strings.Cut(f.Error, f.URI+": ") // a rag.StageError says where, which the page does as well
			if !found {
				cause = f.Error
			}
			failed = append(failed, noteItem{f.URI, cause, row.URL})
		}
		v.Files = append(v.Files, row)
	}
	slices.SortStableFunc(v.Files, func(a, b fileBars) int { return cmp.Compare(b.Work, a.Work) })
	v.Failures = groups(failed)
	if v.Trace.Counts != nil {
		v.Unlisted = max(0, v.Trace.Counts.Failed-len(failed))
	}
}

// stillThere is the page of a document, or "" if the collection does not have it: it was never ingested, or is gone.
func (s *Server) stillThere(r *request, collection, uri string) string {
	if uri == "" { // a trace of the lowest level does not name it
		return ""
	}
	if _, err := s.eng.Entry(r.Context(), collection, uri); err != nil {
		return ""
	}
	return s.documentURL(collection, uri)
}

// place puts a stage of a file on the axis.
func (v *ingestTraceView) place(st rag.FileSpan) stageBar {
	bar := stageBar{Stage: st.Stage, MS: st.MS, Fill: fillOf(st.Stage)}
	if total := v.Waterfall.TotalMS; total > 0 {
		bar.W = min(100, max(leastBar, 100*(st.EndMS-st.StartMS)/total))
		bar.X = max(0, min(100-bar.W, 100*st.StartMS/total))
	}
	return bar
}

// groups puts remarks together that differ in numbers only, the most frequent first.
func groups(notes []noteItem) []noteGroup {
	found := []noteGroup{}
	at := map[string]int{}
	for _, n := range notes {
		kind := kindOfNote(n.Message)
		i, known := at[kind]
		if !known {
			i = len(found)
			at[kind] = i
			found = append(found, noteGroup{Message: n.Message})
		}
		found[i].Places = append(found[i].Places, n)
	}
	slices.SortStableFunc(found, func(a, b noteGroup) int { return cmp.Compare(len(b.Places), len(a.Places)) })
	return found
}

// kindOfNote is a message without its numbers.
func kindOfNote(message string) string {
	return strings.Join(strings.FieldsFunc(message, unicode.IsDigit), "#")
}
