package dashboard

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/trace"
)

// queryTypes are the types of traces that answer somebody.
var queryTypes = []string{rag.TraceQuery, rag.TraceAsk, rag.TraceAgent}

// slowMS is from where on a call counts as slow, in milliseconds: after a second people notice that they wait (Nielsen:
// Usability Engineering, 1993, section 5.5).
const slowMS = 1000

// Flags of a trace, as words that stand in addresses.
const (
	flagNoAnswer flag = trace.StatusRefused
	flagSlow     flag = "slow"
	flagError    flag = trace.StatusError
	flagDegraded flag = trace.StatusPartial // a stage failed, and the others went on
)

var queryFlags = []flag{flagNoAnswer, flagSlow, flagError, flagDegraded}

// flag is something about a trace that one may look for.
type flag string

// Kind is that of its badge.
func (f flag) Kind() string {
	switch f {
	case flagError:
		return "bad"
	case flagSlow:
		return "info"
	}
	return "warn"
}

// queryFilter says which traces of queries are wanted, each field as it was typed.
type queryFilter struct {
	Text       string `json:"q,omitempty"`
	Collection string `json:"collection,omitempty"`
	Flag       flag   `json:"status,omitempty"`
	From       string `json:"from,omitempty"`  // first day, in UTC
	To         string `json:"to,omitempty"`    // last day
	After      string `json:"after,omitempty"` // cursor: the last trace of the page before
}

func readQueryFilter(v url.Values) queryFilter {
	return queryFilter{v.Get("q"), v.Get("collection"), flag(v.Get("status")), v.Get("from"), v.Get("to"), v.Get("after")}
}

// query is what the filter asks of a reader of traces. What cannot be read is ErrInvalid.
func (f *queryFilter) query() (trace.Query, error) {
	q := trace.Query{Types: queryTypes, Text: f.Text, Collection: f.Collection, Before: f.After}
	switch f.Flag {
	case "":
	case flagNoAnswer, flagError, flagDegraded:
		q.Status = []string{string(f.Flag)}
	case flagSlow:
		q.MinMS = slowMS
	default:
		return q, fmt.Errorf("status %q: one of %v is wanted: %w", f.Flag, queryFlags, rag.ErrInvalid)
	}
	var err error
	q.Since, q.Until, err = readDays(f.From, f.To)
	return q, err
}

// queryRow is a line in the list of queries.
type queryRow struct {
	trace.Summary
	Flags []flag     `json:"flags"`
	Bar   []stageBar `json:"-"`
}

// stageBar is a stage in a mini bar, in percent of the whole call.
type stageBar struct {
	Stage string
	MS    float64
	X, W  float64
	Fill  int // number of its colour
}

// fillOf numbers the colours of stages, as the styles "fill1" and on have them.
func fillOf(stage string) int {
	switch stage {
	case rag.StageDense, rag.StageLoad:
		return 1
	case rag.StageSparse, rag.StageSplit:
		return 2
	case rag.StageFusion, rag.StageShape, rag.StageTransform:
		return 3
	case rag.StageRerank, rag.StageEmbed:
		return 4
	case rag.StageGenerate, rag.StageExtract, rag.StageUpsert:
		return 6
	}
	return 5
}

func queryRows(traces []trace.Summary) []queryRow {
	out := make([]queryRow, 0, len(traces))
	for _, s := range traces {
		out = append(out, queryRow{s, flagsOf(&s), miniBar(&s)})
	}
	return out
}

func flagsOf(s *trace.Summary) []flag {
	flags := []flag{}
	if s.Status != trace.StatusOK {
		flags = append(flags, flag(s.Status))
	}
	if s.TotalMS >= slowMS {
		flags = append(flags, flagSlow)
	}
	return flags
}

// miniBar places the stages of a call on its time. Lanes that ran at once lie over one another: the longer is drawn first.
func miniBar(s *trace.Summary) []stageBar {
	if s.TotalMS <= 0 {
		return nil
	}
	var out []stageBar
	for _, st := range s.Stages {
		x := min(100, max(0, st.StartMS/s.TotalMS*100))
		out = append(out, stageBar{st.Stage, st.MS, x, min(100-x, max(0, (st.EndMS-st.StartMS)/s.TotalMS*100)), fillOf(st.Stage)})
	}
	slices.SortStableFunc(out, func(a, b stageBar) int { return cmp.Compare(b.W, a.W) })
	return out
}
