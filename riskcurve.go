package rag

import "github.com/seed-d8745b77/rag/internal/logistic"

// RiskCurve says, for each share of the questions that is answered, the most confident ones first, how many of the answers
// are to questions that cannot be answered.
type RiskCurve struct {
	Area   float64     `json:"area"`   // mean risk over all coverages: the smaller the better
	Points []RiskPoint `json:"points"` // by rising coverage, one for each question
}

// RiskPoint is a point of a risk–coverage curve.
type RiskPoint struct {
	Threshold float64 `json:"threshold"` // confidence of the last question that is answered
	Coverage  float64 `json:"coverage"`  // share of the questions that is answered, 0 to 1
	Risk      float64 `json:"risk"`      // share of these that cannot be answered, 0 to 1
}

func riskCurve(confidence []float64, answerable []bool) RiskCurve {
	var c RiskCurve
	risks, order := logistic.Risks(confidence, answerable)
	for i, risk := range risks {
		c.Points = append(c.Points, RiskPoint{confidence[order[i]], float64(i+1) / float64(len(risks)), risk})
		c.Area += risk / float64(len(risks))
	}
	return c
}
