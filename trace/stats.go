package trace

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/seed-d8745b77/rag"
)

// mostBuckets bounds a chart: nobody sees more points.
const mostBuckets = 1000

// Bucket sums up the traces that began in a stretch of time.
type Bucket struct {
	Start   time.Time      `json:"start"`
	End     time.Time      `json:"end"` // exclusive, but that of the last one
	Count   int            `json:"count"`
	Failed  int            `json:"failed"`  // with StatusError or StatusPartial
	Refused int            `json:"refused"` // with StatusRefused
	Total   Percentiles    `json:"total"`   // of the whole calls
	Stages  []StageLatency `json:"stages"`  // in pipeline order; never null
}

// StageLatency is how long a stage took in the traces in which it ran.
type StageLatency struct {
	Stage string `json:"stage"`
	Count int    `json:"count"`
	Percentiles
}

// Percentiles of times in milliseconds, by nearest rank: each is a time that was really taken. Both are 0 of none.
type Percentiles struct {
	P50 float64 `json:"p50_ms"`
	P95 float64 `json:"p95_ms"`
}

func percentiles(times []float64) Percentiles {
	if len(times) == 0 {
		return Percentiles{}
	}
	slices.Sort(times)
	at := func(p float64) float64 { return times[max(0, int(math.Ceil(p*float64(len(times))))-1)] }
	return Percentiles{at(0.5), at(0.95)}
}

// stats makes the buckets of Reader.Stats.
func stats(entries iter.Seq[*entry], q Query, buckets int) ([]Bucket, error) {
	if buckets < 1 || buckets > mostBuckets {
		return nil, fmt.Errorf("statistics of traces in %d stretches: it must be from 1 to %d: %w", buckets, mostBuckets, rag.ErrInvalid)
	}
	m := q.matcher()
	var found []*entry
	for e := range entries {
		if m.match(e) {
			found = append(found, e)
		}
	}
	from, to := q.Since, q.Until
	for _, e := range found {
		if q.Since.IsZero() && (from.IsZero() || e.Timestamp.Before(from)) {
			from = e.Timestamp
		}
		if q.Until.IsZero() && e.Timestamp.After(to) {
			to = e.Timestamp
		}
	}
	if from.IsZero() || to.IsZero() {
		return nil, nil
	}
	length := to.Sub(from)
	if length < 0 {
		return nil, fmt.Errorf("statistics of traces: the range ends before it begins: %w", rag.ErrInvalid)
	}
	parts := make([][]*entry, buckets)
	for _, e := range found {
		at := 0
		if length > 0 {
			at = min(int(float64(e.Timestamp.Sub(from))/float64(length)*float64(buckets)), buckets-1)
		}
		parts[at] = append(parts[at], e)
	}
	out := make([]Bucket, buckets)
	for i, part := range parts {
		out[i] = sumUp(part)
		out[i].Start = from.Add(length / time.Duration(buckets) * time.Duration(i))
		out[i].End = from.Add(length / time.Duration(buckets) * time.Duration(i+1))
	}
	out[buckets-1].End = to
	return out, nil
}

// sumUp makes the bucket of some traces.
func sumUp(part []*entry) Bucket {
	b := Bucket{Count: len(part), Stages: []StageLatency{}}
	totals, times := make([]float64, len(part)), map[string][]float64{}
	for i, e := range part {
		totals[i] = e.TotalMS
		switch e.Status {
		case StatusError, StatusPartial:
			b.Failed++
		case StatusRefused:
			b.Refused++
		}
		for _, s := range e.Stages {
			times[s.Stage] = append(times[s.Stage], s.MS)
		}
	}
	b.Total = percentiles(totals)
	for stage, ms := range times {
		b.Stages = append(b.Stages, StageLatency{stage, len(ms), percentiles(ms)})
	}
	slices.SortFunc(b.Stages, func(a, b StageLatency) int {
		return cmp.Or(cmp.Compare(stageOrder(a.Stage), stageOrder(b.Stage)), cmp.Compare(a.Stage, b.Stage))
	})
	return b
}

// stages in pipeline order.
var stages = []string{
	rag.StageLoad, rag.StageSplit, rag.StageTransform, rag.StageEmbed, rag.StageUpsert,
	rag.StageQuery, rag.StageDense, rag.StageSparse, rag.StageFusion, rag.StageRerank, rag.StageShape,
	rag.StageEvidence, rag.StagePack, rag.StageGenerate, rag.StageExtract, rag.StageCite, rag.StageVerify,
}

// stageOrder is the place of a stage in its pipeline; those of agents come behind.
func stageOrder(stage string) int {
	if i := slices.Index(stages, stage); i >= 0 {
		return i
	}
	return len(stages)
}
