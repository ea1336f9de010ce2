package dashboard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
	"github.com/seed-d8745b77/rag/trace"
)

// barRow is a row of a waterfall as it is drawn: where its bar is, in percent of the whole, and what is behind it.
type barRow struct {
	trace.WaterfallRow
	X, W    float64
	Fill    int // number of its colour; 0: a gap
	Error   string
	Moves   *rag.Moves
	Details []detail
}

// Gap reports whether no stage was at work.
func (b barRow) Gap() bool { return b.Stage == "" }

// detail is something that a stage told.
type detail struct{ Name, Value string }

// tick is a mark on the axis of time.
type tick struct {
	X     float64 // percent
	Label string
}

// leastBar is the width of the shortest bar in percent: about two pixels, so that it is seen.
const leastBar = 0.3

// drawWaterfall places the bars of a waterfall.
func drawWaterfall(w *trace.Waterfall, t *rag.Trace) []barRow {
	out := make([]barRow, 0, len(w.Rows))
	for _, row := range w.Rows {
		b := barRow{WaterfallRow: row}
		if w.TotalMS > 0 {
			b.W = max(leastBar, (row.EndMS-row.StartMS)/w.TotalMS*100)
			b.X = min(100-b.W, row.StartMS/w.TotalMS*100)
		}
		if !b.Gap() {
			b.Fill = fillOf(row.Stage)
			if span := ranStage(t, row.Stage); span != nil {
				b.Error, b.Moves, b.Details = span.Error, span.Moves, detailsOf(span.Detail)
			}
		}
		out = append(out, b)
	}
	return out
}

// detailsOf lists what a stage told by name: texts as they are, the rest as JSON.
func detailsOf(told map[string]any) []detail {
	var out []detail
	for _, name := range slices.Sorted(maps.Keys(told)) {
		text, ok := told[name].(string)
		if !ok {
			text = rawJSON(told[name])
		}
		if text != "" && text != "null" {
			out = append(out, detail{name, cut(text, longestDetail)})
		}
	}
	return out
}

// longestDetail is how much of a detail a page shows, in bytes; the whole is in the trace's JSON.
const longestDetail = 2000

// cut shortens a text to at most so many bytes, at a character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return mdtext.Cut(text, most) + "…"
}

// rawJSON is a value as indented JSON, with its text as it is: the template escapes it.
func rawJSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

// mostTicks of an axis can be read beside one another.
const mostTicks = 6

// ticks marks an axis of so many milliseconds at round places: 1, 2 or 5 times a power of ten apart.
func ticks(totalMS float64) []tick {
	if !(totalMS > 0) || math.IsInf(totalMS, 0) {
		return nil
	}
	power := math.Pow(10, math.Floor(math.Log10(totalMS/mostTicks)))
	step := 10 * power
	for _, times := range []float64{1, 2, 5} {
		if times*power*mostTicks >= totalMS {
			step = times * power
			break
		}
	}
	var out []tick
	for i := 0; float64(i)*step <= totalMS; i++ {
		at := float64(i) * step
		out = append(out, tick{at / totalMS * 100, tickLabel(at)})
	}
	return out
}

func tickLabel(ms float64) string {
	if ms >= 1000 {
		return strconv.FormatFloat(ms/1000, 'g', 4, 64) + " s"
	}
	return fmt.Sprintf("%.4g ms", ms)
}
