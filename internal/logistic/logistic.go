// Package logistic fits a logistic regression to a few hundred examples of a few features.
//
//	m := logistic.Fit(x, y, 1)
//	p := m.Probability(features) // 0 to 1
package logistic

import (
	"cmp"
	"math"
	"slices"
)

// Model turns features into a probability. A feature that is NaN is not known and counts as average.
type Model struct {
	Bias    float64   `json:"bias"`
	Weights []float64 `json:"weights"` // of the features, each in standard deviations from its mean
	Mean    []float64 `json:"mean"`    // of the features that the model was fitted to
	Scale   []float64 `json:"scale"`   // their standard deviations; 0 of one that tells nothing
}

// Probability returns the probability that an example with these features is one of those that hold.
func (m *Model) Probability(features []float64) float64 {
	return sigmoid(m.score(features))
}

func (m *Model) score(features []float64) float64 {
	z := m.Bias
	for j, w := range m.Weights {
		z += w * m.standard(features, j)
	}
	return z
}

// standard returns a feature in standard deviations from its mean. One far out, which no example was like, counts as
// three of them: what lies beyond was never measured.
func (m *Model) standard(features []float64, j int) float64 {
	if m.Scale[j] == 0 || math.IsNaN(features[j]) {
		return 0
	}
	const far = 3
	return max(-far, min(far, (features[j]-m.Mean[j])/m.Scale[j]))
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// steps is how many Newton steps are taken. With a penalty the optimum is unique, and they converge in fewer than ten.
const steps = 25

// Fit returns the model that maximises the likelihood of the labels less penalty/2 times the squared weights; the bias is
// free. Each example has the same number of features. A penalty above 0 keeps the weights finite where the features tell
// the examples apart without error; 1 is what few examples want. The result depends on nothing but the arguments.
func Fit(x [][]float64, y []bool, penalty float64) Model {
	if len(x) == 0 {
		return Model{}
	}
	m := Model{Weights: make([]float64, len(x[0])), Mean: make([]float64, len(x[0])), Scale: make([]float64, len(x[0]))}
	m.standardise(x)
	n := len(x[0]) + 1 // the bias comes last
	row := make([]float64, n)
	for range steps {
		gradient, hessian := make([]float64, n), make([][]float64, n)
		for j := range hessian {
			hessian[j] = make([]float64, n)
		}
		for i := range x {
			for j := range n - 1 {
				row[j] = m.standard(x[i], j)
			}
			row[n-1] = 1
			p, label := m.Probability(x[i]), 0.0
			if y[i] {
				label = 1
			}
			for j := range n {
				gradient[j] += (label - p) * row[j]
				for k := range n {
					hessian[j][k] += p * (1 - p) * row[j] * row[k]
				}
			}
		}
		for j := range n - 1 {
			gradient[j] -= penalty * m.Weights[j]
			hessian[j][j] += penalty
		}
		const steady = 1e-6 // one class only: the bias would go to infinity
		hessian[n-1][n-1] += steady
		step := solve(hessian, gradient)
		for j := range n - 1 {
			m.Weights[j] += step[j]
		}
		m.Bias = max(-maxBias, min(maxBias, m.Bias+step[n-1]))
	}
	return m
}

// maxBias is a probability of 0.99995, and of its opposite: no few hundred examples show more.
const maxBias = 10

// standardise takes mean and deviation of each feature over the examples that have it.
func (m *Model) standardise(x [][]float64) {
	for j := range m.Mean {
		n, sum, squares := 0.0, 0.0, 0.0
		for i := range x {
			if v := x[i][j]; !math.IsNaN(v) {
				n, sum, squares = n+1, sum+v, squares+v*v
			}
		}
		if n == 0 {
			continue
		}
		m.Mean[j] = sum / n
		const least = 1e-9 // less is rounding
		if variance := squares/n - m.Mean[j]*m.Mean[j]; variance > least {
			m.Scale[j] = math.Sqrt(variance)
		}
	}
}

// solve returns the solution of a symmetric positive definite system by elimination. It overwrites its arguments.
func solve(a [][]float64, b []float64) []float64 {
	n := len(b)
	for i := range n {
		for k := i + 1; k < n; k++ {
			f := a[k][i] / a[i][i]
			for j := i; j < n; j++ {
				a[k][j] -= f * a[i][j]
			}
			b[k] -= f * b[i]
		}
	}
	for i := n - 1; i >= 0; i-- {
		for j := i + 1; j < n; j++ {
			b[i] -= a[i][j] * b[j]
		}
		b[i] /= a[i][i]
	}
	return b
}

// Risks returns, for each number of examples that are answered, the most probable ones first, the share of them that do not
// hold: the risk–coverage curve. Examples of one probability are answered together, each with their mean, so that their
// order decides nothing. order lists the examples by falling probability.
func Risks(probability []float64, holds []bool) (risks []float64, order []int) {
	for i := range probability {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(probability[b], probability[a]) })
	wrong := 0.0
	for i := 0; i < len(order); {
		end, bad := i, 0
		for ; end < len(order) && probability[order[end]] == probability[order[i]]; end++ {
			if !holds[order[end]] {
				bad++
			}
		}
		each := float64(bad) / float64(end-i)
		for ; i < end; i++ {
			wrong += each
			risks = append(risks, wrong/float64(i+1))
		}
	}
	return risks, order
}
