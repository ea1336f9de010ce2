package dashboard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/trace"
)

func (s *Server) overviewRoutes(on router) {
	on.view("/{$}", "overview", s.overview)
	on.view("/validity", "validity", s.validity)
	on.post("/health", "overview", 0, s.startCheck) // it looks, and changes nothing
}

// overviewView is what the overview shows.
type overviewView struct {
	Documents   int                 `json:"documents"` // of all collections, as are the others
	Chunks      int                 `json:"chunks"`
	Images      int                 `json:"images"`
	Collections []collectionRow     `json:"collections"`
	Checking    bool                `json:"checking"`        // an index is being checked
	Calls       *callsView          `json:"calls,omitempty"` // nil: no traces are kept
	Attention   []attention         `json:"attention"`
	Components  []rag.Component     `json:"components"`
	Model       *rag.EmbedModel     `json:"model,omitempty"` // of the dense lane
	Retrieval   rag.RetrievalConfig `json:"retrieval"`
	Version     string              `json:"version,omitempty"`
}

// collectionRow is a collection in the overview.
type collectionRow struct {
	Name      string            `json:"name"`
	Documents int               `json:"documents"`
	Chunks    int               `json:"chunks"`
	Images    int               `json:"images"`
	Updated   time.Time         `json:"updated"`
	Embedder  string            `json:"embedder"` // fingerprint of the one it was built with; "": words only
	Recall    *rag.Recall       `json:"recall,omitempty"`
	Dated     bool              `json:"dated"`            // its domain says when documents are in force
	Status    *rag.StatusCounts `json:"status,omitempty"` // nil: not counted since it changed
	Check     *healthCheck      `json:"check,omitempty"`  // the last one
}

// attention is something that somebody should look at.
type attention struct {
	Kind    string `json:"kind"` // "bad" or "warn"
	Text    string `json:"text"`
	URL     string `json:"url,omitempty"`     // page that tells more
	Command string `json:"command,omitempty"` // that puts it right
}

func (s *Server) overview(r *request) (any, error) {
	infos, err := s.eng.Collections(r.Context())
	if err != nil {
		return nil, err
	}
	v := &overviewView{Collections: []collectionRow{}, Attention: []attention{}, Components: s.eng.Components(),
		Retrieval: s.eng.Config().Retrieval, Version: s.o.Version}
	if e := s.eng.Embedder(); e != nil {
		model := e.Model()
		v.Model = &model
	}
	for _, info := range infos {
		row := s.collectionRow(r, info)
		v.Documents, v.Chunks, v.Images = v.Documents+row.Documents, v.Chunks+row.Chunks, v.Images+row.Images
		v.Checking = v.Checking || row.Check != nil && row.Check.Running
		v.Collections = append(v.Collections, row)
		v.Attention = append(v.Attention, s.collectionAttention(r, info, row)...)
	}
	if s.o.Traces == nil {
		return v, nil
	}
	if v.Calls, err = s.calls(r); err != nil {
		return nil, err
	}
	v.Attention = append(v.Attention, s.callAttention(r, v.Calls)...)
	return v, nil
}

func (s *Server) collectionRow(r *request, info rag.CollectionInfo) collectionRow {
	row := collectionRow{Name: info.Name, Documents: info.Documents, Chunks: info.Chunks, Images: info.Images, Updated: info.Updated,
		Embedder: info.Header.Embedder, Check: s.checks.of(info.Name)}
	if d := s.domainOf(r.Context(), info.Name); d != nil && d.Validity != nil {
		row.Dated = true
		row.Status = s.counts.known(info, s.now())
	}
	if recall, err := s.eng.Recall(r.Context(), info.Name); err == nil && (recall.Sampled > 0 || !recall.OK()) {
		row.Recall = &recall
	}
	return row
}

// collectionAttention tells what is wrong with a collection.
func (s *Server) collectionAttention(r *request, info rag.CollectionInfo, row collectionRow) (list []attention) {
	if err := s.eng.Fits(info); err != nil {
		list = append(list, attention{"bad", err.Error(), "", "rag reindex --collection " + info.Name})
	}
	if info.Header.Dirty {
		list = append(list, attention{"warn", r.T("overview.unfinished", info.Name), "", "rag verify --repair --collection " + info.Name})
	}
	if row.Recall != nil && !row.Recall.OK() || row.Check != nil && row.Check.Report != nil && !row.Check.Report.OK {
		list = append(list, attention{"bad", r.T("overview.unhealthy", info.Name), "", "rag verify --repair --collection " + info.Name})
	}
	if row.Status != nil && row.Status.Expired > 0 {
		list = append(list, attention{"warn", r.T("overview.expired", row.Status.Expired, info.Name), s.link("/browse", "collection", info.Name, "status", rag.StatusExpired), ""})
	}
	return list
}

// callAttention tells what went wrong in the last ingest and in questions.
func (s *Server) callAttention(r *request, c *callsView) (list []attention) {
	if last := c.Ingest; last != nil && (last.Status == trace.StatusError || last.Status == trace.StatusPartial) {
		failed := 0
		if last.Counts != nil {
			failed = last.Counts.Failed
		}
		list = append(list, attention{"bad", r.T("overview.ingest_failed", failed, last.Collection), s.link("/traces/ingest/" + last.ID), ""})
	}
	if c.Failed > 0 {
		list = append(list, attention{"warn", r.T("overview.queries_failed", c.Failed), s.link("/traces/query", "status", trace.StatusError), ""})
	}
	return list
}

// callsView sums up the calls that traces tell of.
type callsView struct {
	Range   string            `json:"range"`   // one of ranges
	Queries int               `json:"queries"` // questions in the range
	Failed  int               `json:"failed"`
	Refused int               `json:"refused"` // without an answer
	Times   trace.Percentiles `json:"times"`   // of all in the range
	Buckets []trace.Bucket    `json:"buckets"`
	Stages  []string          `json:"stages"` // that any bucket has, in pipeline order
	Last    []trace.Summary   `json:"last"`
	Slowest []trace.Summary   `json:"slowest"`          // of the newest 1000 of the range
	Ingest  *trace.Summary    `json:"ingest,omitempty"` // the last one
}

// timeRange is a stretch of time up to now, and in how many parts a chart shows it.
type timeRange struct {
	Name    string
	Length  time.Duration
	buckets int
}

var ranges = []timeRange{{"24h", 24 * time.Hour, 24}, {"7d", 7 * 24 * time.Hour, 28}, {"30d", 30 * 24 * time.Hour, 30}}

func rangeNames() (names []string) {
	for _, r := range ranges {
		names = append(names, r.Name)
	}
	return names
}

// rangeOf returns the stretch that ?range= names, or the first.
func rangeOf(r *request) timeRange {
	name := r.param("range")
	if i := slices.IndexFunc(ranges, func(t timeRange) bool { return t.Name == name }); i >= 0 {
		return ranges[i]
	}
	return ranges[0]
}

const (
	shownTraces = 10   // rows of the overview's lists
	scanned     = 1000 // traces that the slowest are looked for among: as many as a page of them may have
)

// questionTypes are the traces of questions.
var questionTypes = []string{rag.TraceQuery, rag.TraceAsk}

// calls reads what traces tell of the last time.
func (s *Server) calls(r *request) (*callsView, error) {
	span, now := rangeOf(r), s.now()
	c := &callsView{Range: span.Name}
	q := trace.Query{Types: questionTypes, Since: now.Add(-span.Length), Until: now}
	whole, err := s.o.Traces.Stats(r.Context(), q, 1)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	for _, b := range whole {
		c.Queries, c.Failed, c.Refused, c.Times = b.Count, b.Failed, b.Refused, b.Total
		for _, stage := range b.Stages {
			c.Stages = append(c.Stages, stage.Stage)
		}
	}
	if c.Buckets, err = s.o.Traces.Stats(r.Context(), q, span.buckets); err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	q.Limit = scanned
	page, err := s.o.Traces.List(r.Context(), q)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	slices.SortStableFunc(page.Traces, func(a, b trace.Summary) int { return cmp.Compare(b.TotalMS, a.TotalMS) })
	c.Slowest = page.Traces[:min(shownTraces, len(page.Traces))]
	if page, err = s.o.Traces.List(r.Context(), trace.Query{Limit: shownTraces}); err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	c.Last = page.Traces
	if page, err = s.o.Traces.List(r.Context(), trace.Query{Types: []string{rag.TraceIngest}, Limit: 1}); err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	if len(page.Traces) > 0 {
		c.Ingest = &page.Traces[0]
	}
	return c, nil
}

// Cells returns a row of the latency table: the median and the 95th percentile of whole calls, then the median of each stage;
// nil where nothing was measured.
func (c *callsView) Cells(b trace.Bucket) []*float64 {
	cells := make([]*float64, 2+len(c.Stages))
	if b.Count > 0 {
		cells[0], cells[1] = &b.Total.P50, &b.Total.P95
	}
	for _, stage := range b.Stages {
		if i := slices.Index(c.Stages, stage.Stage); i >= 0 {
			cells[2+i] = &stage.P50
		}
	}
	return cells
}

// size is one of a splitter's sizes.
type size struct {
	Name, Value string // "size" or "overlap"
	Unit        string // "tokens", "characters" or "words"
}

// splitterSizes reads the sizes out of the fingerprint of a splitter, name/version/size/overlap/least, and its unit behind
// that where it is not tokens; none of one of another form.
func splitterSizes(fingerprint string) []size {
	parts := strings.Split(fingerprint, "/")
	if len(parts) < 4 {
		return nil
	}
	unit := "tokens"
	if len(parts) > 5 {
		unit = parts[5]
	}
	if !slices.Contains([]string{"tokens", "characters", "words"}, unit) {
		return nil
	}
	return []size{{"size", parts[2], unit}, {"overlap", parts[3], unit}}
}
