package eval

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/seed-d8745b77/rag"
)

// Score is a metric over many questions: the mean of those that have a value.
type Score struct {
	Mean  *float64       `json:"mean"`           // nil if no question has a value
	Low   *float64       `json:"low,omitempty"`  // bounds of the 95 % interval of the mean, see [Interval]; nil below two values
	High  *float64       `json:"high,omitempty"` //
	N     int            `json:"n"`              // questions with a value
	Nulls int            `json:"nulls"`          // questions without
	Why   map[string]int `json:"why,omitempty"`  // reasons of the nulls, and how often
}

// Summarise returns the score of the values of one metric.
func Summarise(values []rag.EvalValue) Score {
	var s Score
	numbers := make([]float64, 0, len(values))
	for _, v := range values {
		if v.OK() {
			numbers = append(numbers, v.Number)
			continue
		}
		if s.Why == nil {
			s.Why = map[string]int{}
		}
		s.Nulls++
		s.Why[v.Null]++
	}
	if s.N = len(numbers); s.N == 0 {
		return s
	}
	s.Mean = new(Mean(numbers))
	if s.N > 1 {
		low, high := Interval(numbers)
		s.Low, s.High = &low, &high
	}
	return s
}

// Mean returns the mean of numbers, 0 of none.
func Mean(numbers []float64) float64 {
	if len(numbers) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range numbers {
		sum += v
	}
	return sum / float64(len(numbers))
}

// Percentile returns the smallest of the numbers that at least the share p of them do not exceed (nearest rank), 0 of none.
func Percentile(numbers []float64, p float64) float64 {
	if len(numbers) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(numbers))
	return sorted[max(0, min(len(sorted)-1, int(math.Ceil(p*float64(len(sorted))))-1))]
}

// Latency sums up how long calls took, in milliseconds.
type Latency struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
}

// Latencies returns the percentiles of durations in milliseconds.
func Latencies(ms []float64) Latency {
	return Latency{round3(Percentile(ms, 0.5)), round3(Percentile(ms, 0.95))}
}

// round3 keeps three digits behind the point: a microsecond.
func round3(v float64) float64 { return math.Round(v*1000) / 1000 }

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
