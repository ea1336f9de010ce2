package logistic

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestFitFindsTheWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var x [][]float64
	var y []bool
	for range 20000 {
		f := []float64{r.NormFloat64(), 3 + 2*r.NormFloat64(), r.NormFloat64()}
		x = append(x, f)
		y = append(y, r.Float64() < sigmoid(0.5+1.5*f[0]-(f[1]-3)/2))
	}
	m := Fit(x, y, 1)
	for j, want := range []float64{1.5, -1, 0} {
		if math.Abs(m.Weights[j]-want) > 0.08 {
			t.Errorf("weight %d is %v, want about %v", j, m.Weights[j], want)
		}
	}
	if math.Abs(m.Bias-0.5) > 0.08 {
		t.Errorf("bias is %v, want about 0.5", m.Bias)
	}
}

func TestFitOfDegenerateExamples(t *testing.T) {
	nan := math.NaN()
	for name, tt := range map[string]struct {
		x [][]float64
		y []bool
	}{
		"none":           {},
		"one":            {[][]float64{{1, 2}}, []bool{true}},
		"one class":      {[][]float64{{1, 2}, {2, 1}, {3, 5}}, []bool{true, true, true}},
		"without error":  {[][]float64{{1}, {2}, {3}, {4}}, []bool{false, false, true, true}},
		"constant":       {[][]float64{{7}, {7}, {7}}, []bool{false, true, true}},
		"unknown":        {[][]float64{{nan, 1}, {nan, 2}, {nan, 3}}, []bool{false, true, true}},
		"partly unknown": {[][]float64{{nan, 1}, {2, 2}, {5, nan}}, []bool{false, true, true}},
	} {
		m := Fit(tt.x, tt.y, 1)
		features := make([]float64, len(m.Weights))
		if p := m.Probability(features); !(p >= 0 && p <= 1) {
			t.Errorf("%s: probability %v", name, p)
		}
	}
}

func TestWhatIsNotKnownCountsAsAverage(t *testing.T) {
	m := Model{Bias: 0.3, Weights: []float64{2, 1}, Mean: []float64{5, 0}, Scale: []float64{1, 1}}
	if got, want := m.Probability([]float64{math.NaN(), 1}), m.Probability([]float64{5, 1}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
