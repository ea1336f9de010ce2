package dashboard

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/trace"
)

// queryTraceView is the page of one query.
type queryTraceView struct {
	tryView
	Trace     *rag.Trace      `json:"trace"`
	Flags     []flag          `json:"flags"`
	Found     int             `json:"found"` // different passages that the lanes found, as far as the trace lists them
	Usage     rag.ChatUsage   `json:"usage"`
	Model     string          `json:"model,omitempty"` // that answered, as far as the trace says
	Waterfall trace.Waterfall `json:"waterfall"`
	Bars      []barRow        `json:"-"` // the same, to be drawn
	Ticks     []tick          `json:"-"`
	Table     []rankRow       `json:"rank_table"`
	All       int             `json:"rank_table_rows"` // without the filter
	Lanes     []laneView      `json:"-"`
	Answer    *answerView     `json:"answer"`
	Sort      string          `json:"sort"`
	Doc       string          `json:"doc,omitempty"` // only rows whose document has these letters
	Sorts     []sortLink      `json:"-"`
	Sets      []setInfo       `json:"-"` // test sets that the question can be added to
	CanAdd    bool            `json:"-"`
	Raw       string          `json:"-"` // the trace as JSON
}

// title is the question.
func (v *queryTraceView) title(r *request) string {
	return cmp.Or(v.Trace.UserQuery, r.T("query_trace.title"))
}

// rankRow is a row of the rank table with its passage.
type rankRow struct {
	trace.RankRow
	Passage passage `json:"passage"`
}

// Move is how the passage moved, for the template of moves.
func (r rankRow) Moved() move {
	by := r.Delta
	if by < 0 {
		by = -by
	}
	return move{r.RankRow.Move, by}
}

// Out reports whether the passage is no result: such rows are dimmed.
func (r rankRow) Out() bool { return r.Rank == nil }

// laneView is what one lane found, best first.
type laneView struct {
	Stage string
	Span  *rag.Span // nil: it was off
	Rows  []laneRow
}

// laneRow is a passage in a lane.
type laneRow struct {
	Place   trace.Place
	Other   *trace.Place // in the other lane; nil: it is not there
	Final   *int
	Passage passage
}

func (s *Server) showQuery(r *request) (any, error) {
	t, tried, err := s.getTrace(r, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	v := &queryTraceView{Trace: t, Flags: flagsOf(summaryOf(t)), Sort: cmp.Or(r.param("sort"), "final"), Doc: r.param("doc"), Waterfall: trace.NewWaterfall(t), Raw: rawJSON(t)}
	v.Bars, v.Ticks = drawWaterfall(&v.Waterfall, t), ticks(v.Waterfall.TotalMS)
	look := r.passages(t.Collection)
	rows, err := rankRows(look, t)
	if err != nil {
		return nil, err
	}
	v.All, v.Found, v.Lanes = len(rows), foundIn(rows), lanes(rows, t)
	v.Table = rowsOf(rows, v.Doc)
	sortRows(v.Table, v.Sort)
	v.Sorts = sortLinks(r, v.Sort)
	if v.Answer, err = s.viewAnswer(look, t, tried); err != nil {
		return nil, err
	}
	if t.Answer != nil {
		v.Usage = t.Answer.Usage
	}
	if span := ranStage(t, rag.StageGenerate); span != nil {
		v.Model = span.Method
	}
	f := tryFromTrace(t)
	if tried != nil {
		f = tried.form
	}
	f.Against = t.ID
	if v.CanAdd = s.evals != nil && !s.o.ReadOnly; v.CanAdd {
		if v.Sets, err = s.evals.listSets(); err != nil {
			return nil, err
		}
	}
	v.tryView, err = s.viewTry(r, f)
	return v, err
}

// rankRows is the rank table of a trace with the passages.
func rankRows(look *passages, t *rag.Trace) ([]rankRow, error) {
	var out []rankRow
	for _, row := range trace.RankTable(t) {
		p, err := look.of(row.ChunkID, row.URI)
		if err != nil {
			return nil, err
		}
		if p.Gone {
			p.Line = row.Snippet
		}
		out = append(out, rankRow{row, p})
	}
	return out, nil
}

// foundIn counts the passages that a lane found.
func foundIn(rows []rankRow) int {
	n := 0
	for _, r := range rows {
		if r.Dense != nil || r.Sparse != nil {
			n++
		}
	}
	return n
}

// rowsOf returns the rows of documents whose title, URI or passage ID has the letters, in any case.
func rowsOf(rows []rankRow, doc string) []rankRow {
	doc = strings.ToLower(doc)
	out := make([]rankRow, 0, len(rows))
	for _, r := range rows {
		if strings.Contains(strings.ToLower(r.Passage.Title+"\n"+r.Passage.URI+"\n"+r.ChunkID), doc) {
			out = append(out, r)
		}
	}
	return out
}

// places by which the rank table is sorted, in the order of its columns.
var sortColumns = []string{"final", "dense", "sparse", "fused", "rerank", "move"}

// sortRows sorts by a column, those that are not in its list last; an unknown column leaves the order as it is.
func sortRows(rows []rankRow, by string) {
	place := func(p *trace.Place) int {
		if p == nil {
			return 0
		}
		return p.Rank
	}
	key := map[string]func(*rankRow) int{
		"dense": func(r *rankRow) int { return place(r.Dense) }, "sparse": func(r *rankRow) int { return place(r.Sparse) },
		"fused": func(r *rankRow) int { return place(r.Fusion) }, "rerank": func(r *rankRow) int { return place(r.Rerank) },
	}[by]
	if by == "move" {
		slices.SortStableFunc(rows, func(a, b rankRow) int { return cmp.Compare(b.Delta, a.Delta) })
	} else if key != nil {
		slices.SortStableFunc(rows, func(a, b rankRow) int { return cmp.Compare(lastIfNone(key(&a)), lastIfNone(key(&b))) })
	}
}

// lastIfNone puts the place 0, which is none, behind all others.
func lastIfNone(place int) int {
	if place == 0 {
		return int(^uint(0) >> 1)
	}
	return place
}

// sortLink is the head of a column.
type sortLink struct {
	Name, URL string
	Chosen    bool
}

func sortLinks(r *request, chosen string) []sortLink {
	var out []sortLink
	for _, name := range sortColumns {
		out = append(out, sortLink{name, r.here("sort", name) + "#ranks", name == chosen})
	}
	return out
}

// lanes puts what the two lanes found side by side.
func lanes(rows []rankRow, t *rag.Trace) []laneView {
	lane := func(stage string, in func(*rankRow) (own, other *trace.Place)) laneView {
		v := laneView{Stage: stage, Span: ranStage(t, stage)}
		for i := range rows {
			if own, other := in(&rows[i]); own != nil {
				v.Rows = append(v.Rows, laneRow{*own, other, rows[i].Rank, rows[i].Passage})
			}
		}
		slices.SortStableFunc(v.Rows, func(a, b laneRow) int { return cmp.Compare(a.Place.Rank, b.Place.Rank) })
		return v
	}
	return []laneView{
		lane(rag.StageDense, func(r *rankRow) (*trace.Place, *trace.Place) { return r.Dense, r.Sparse }),
		lane(rag.StageSparse, func(r *rankRow) (*trace.Place, *trace.Place) { return r.Sparse, r.Dense }),
	}
}

// summaryOf is what flags are told from.
func summaryOf(t *rag.Trace) *trace.Summary {
	s := &trace.Summary{TotalMS: t.TotalMS, Status: trace.StatusOK}
	failed := slices.ContainsFunc(t.Stages, func(s rag.Span) bool { return s.Status == rag.SpanFailed })
	switch {
	case t.Error != "":
		s.Status = trace.StatusError
	case t.Answer != nil && t.Answer.Refused:
		s.Status = trace.StatusRefused
	case failed, t.Counts != nil && t.Counts.Failed > 0:
		s.Status = trace.StatusPartial
	}
	return s
}
