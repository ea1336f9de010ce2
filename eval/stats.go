package eval

import (
	"math"
	"math/rand/v2"
	"slices"
)

// resamples is how many samples an interval and a test draw. At 10,000 the error of a p of 0.05 is about 0.004 (two
// standard deviations), and a thousand questions take a tenth of a second.
const resamples = 10_000

// confidence is the share of means that an interval holds.
const confidence = 0.95

// alpha is the P below which a difference counts.
const alpha = 1 - confidence

// newRandom returns the generator of every draw: the same numbers each time, so that a report can be repeated.
func newRandom() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// Interval returns the bounds between which 95 % of the means of samples with replacement lie: the percentile bootstrap
// (Efron: Bootstrap Methods: Another Look at the Jackknife, 1979). It tells what another set of as many questions of the
// same kind may give; with few questions it is somewhat too narrow.
func Interval(numbers []float64) (low, high float64) {
	if len(numbers) == 0 {
		return 0, 0
	}
	random, n := newRandom(), len(numbers)
	means := make([]float64, resamples)
	for i := range means {
		sum := 0.0
		for range n {
			sum += numbers[random.IntN(n)]
		}
		means[i] = sum / float64(n)
	}
	slices.Sort(means)
	cut := int(float64(resamples) * (1 - confidence) / 2)
	return means[cut], means[resamples-1-cut]
}

// Comparison says how something differs from a baseline, question by question.
type Comparison struct {
	N           int      `json:"n"`    // questions that have a value in both
	Diff        float64  `json:"diff"` // mean of the differences; above 0: better than the baseline
	Low         float64  `json:"low"`  // bounds of its 95 % interval, see Interval
	High        float64  `json:"high"`
	P           float64  `json:"p"` // chance of a difference as large if it made no difference, see Compare
	Significant bool     `json:"significant"`
	Wins        int      `json:"wins"`   // questions with a larger value than the baseline's
	Losses      int      `json:"losses"` // with a smaller one
	Ties        int      `json:"ties"`
	Won         []string `json:"won"`  // IDs of the questions with a larger value, in order
	Lost        []string `json:"lost"` // with a smaller one
}

// Compare sums up what a baseline and something else made of the same questions. Those that have no value in one of them
// are left out.
//
// P is that of a two-sided randomisation test: how often the mean difference is as large as it is when each question's
// two values are swapped by the toss of a coin (Smucker, Allan, Carterette: A Comparison of Statistical Significance Tests
// for Information Retrieval Evaluation, CIKM 2007). Significant is P below 0.05; who compares many variants will see one
// in twenty of them by chance.
func Compare(pairs []Pair) Comparison {
	c := Comparison{Won: []string{}, Lost: []string{}}
	var diffs []float64
	for _, p := range pairs {
		switch p.Outcome() {
		case Unmeasured:
			continue
		case Won:
			c.Won = append(c.Won, p.ID)
		case Lost:
			c.Lost = append(c.Lost, p.ID)
		}
		d, _ := p.diff()
		diffs = append(diffs, d)
	}
	c.N, c.Wins, c.Losses = len(diffs), len(c.Won), len(c.Lost)
	c.Ties = c.N - c.Wins - c.Losses
	c.Diff, c.P = Mean(diffs), 1
	c.Low, c.High = Interval(diffs)
	if c.Wins+c.Losses > 0 {
		c.P = randomisation(diffs)
	}
	c.Significant = c.P < alpha
	return c
}

// randomisation returns the share of random signs under which the sum of the differences is as far from 0 as it is, the
// signs that they have being one of the draws: so it is never 0.
func randomisation(diffs []float64) float64 {
	var moved []float64 // the others have no sign
	sum := 0.0
	for _, d := range diffs {
		if d != 0 {
			moved = append(moved, d)
			sum += d
		}
	}
	want := math.Abs(sum) - tie*float64(len(moved))
	random, as := newRandom(), 1
	for range resamples {
		drawn := 0.0
		var bits uint64
		for i, d := range moved {
			if i%64 == 0 {
				bits = random.Uint64()
			}
			if bits&1 == 0 {
				d = -d
			}
			bits >>= 1
			drawn += d
		}
		if math.Abs(drawn) >= want {
			as++
		}
	}
	return float64(as) / (resamples + 1)
}
