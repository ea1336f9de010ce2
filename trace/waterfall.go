package trace

import (
	"cmp"
	"slices"

	"github.com/seed-d8745b77/rag"
)

// Waterfall is a trace on one axis of time. For every trace BusyMS and GapMS are together TotalMS, to the rounding of
// floating point, and no row lies outside 0 to TotalMS.
type Waterfall struct {
	TotalMS float64        `json:"total_ms"`
	BusyMS  float64        `json:"busy_ms"` // during which a stage was at work, or several were: the union of their bars
	GapMS   float64        `json:"gap_ms"`  // and during which none was: passages were read, or the pipeline waited
	Rows    []WaterfallRow `json:"rows"`    // never null
}

// WaterfallRow is a bar.
type WaterfallRow struct {
	Stage    string  `json:"stage"` // "" for a gap
	Method   string  `json:"method,omitempty"`
	Failed   bool    `json:"failed,omitempty"`
	StartMS  float64 `json:"start_ms"`
	EndMS    float64 `json:"end_ms"`
	MS       float64 `json:"elapsed_ms"`         // time at work: less than the bar if it paused, more if several workers did it
	Parallel bool    `json:"parallel,omitempty"` // another stage was at work at the same time
	In       int     `json:"in"`
	Out      int     `json:"out"`
}

// shownGap is the share of the whole from which on a gap has a row of its own.
const shownGap = 0.01

// NewWaterfall makes the rows of a trace: the stages that ran, in pipeline order, and between them the gaps of at least a
// hundredth of the whole. A stage of a trace that does not say when it ran has a row without a bar.
func NewWaterfall(t *rag.Trace) Waterfall {
	w := Waterfall{TotalMS: max(t.TotalMS, 0), Rows: []WaterfallRow{}}
	for i := range t.Stages {
		s := &t.Stages[i]
		if s.Status != "" && s.Status != rag.SpanFailed && s.EndMS == 0 { // one that is off may still hand on what it was given, which takes time
			continue
		}
		row := WaterfallRow{Stage: s.Stage, Method: s.Method, Failed: s.Status == rag.SpanFailed, MS: s.ElapsedMS, In: s.In, Out: s.Out}
		row.StartMS = min(max(s.StartMS, 0), w.TotalMS)
		row.EndMS = min(max(s.EndMS, row.StartMS), w.TotalMS)
		w.Rows = append(w.Rows, row)
	}
	for i := range w.Rows {
		for j := range w.Rows {
			a, b := &w.Rows[i], &w.Rows[j]
			a.Parallel = a.Parallel || i != j && min(a.EndMS, b.EndMS) > max(a.StartMS, b.StartMS)
		}
	}
	for _, g := range w.gaps() {
		if w.GapMS += g.EndMS - g.StartMS; g.EndMS-g.StartMS >= shownGap*w.TotalMS {
			at := slices.IndexFunc(w.Rows, func(r WaterfallRow) bool { return r.StartMS >= g.EndMS && r.EndMS > g.StartMS })
			if at < 0 {
				at = len(w.Rows)
			}
			w.Rows = slices.Insert(w.Rows, at, g)
		}
	}
	w.BusyMS = w.TotalMS - w.GapMS
	return w
}

// gaps are the stretches in which no stage was at work, in order.
func (w *Waterfall) gaps() []WaterfallRow {
	bars := slices.Clone(w.Rows)
	slices.SortFunc(bars, func(a, b WaterfallRow) int { return cmp.Compare(a.StartMS, b.StartMS) })
	var gaps []WaterfallRow
	at := 0.0
	for _, b := range append(bars, WaterfallRow{StartMS: w.TotalMS, EndMS: w.TotalMS}) {
		if b.StartMS > at {
			gaps = append(gaps, WaterfallRow{StartMS: at, EndMS: b.StartMS, MS: b.StartMS - at})
		}
		at = max(at, b.EndMS)
	}
	return gaps
}
