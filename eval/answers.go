package eval

import "math"

// Refusal measures whether an engine refuses what the documents do not answer. Refusing is the positive class.
type Refusal struct {
	Refused      int      `json:"refused"`      // answers that are refusals
	Unanswerable int      `json:"unanswerable"` // questions that should be refused
	Right        int      `json:"right"`        // refused, and should be
	Precision    *float64 `json:"precision"`    // right of refused; nil if nothing was refused
	Recall       *float64 `json:"recall"`       // right of unanswerable; nil if there is no such question
	F1           *float64 `json:"f1"`           // nil if one of the two is
	N            int      `json:"n"`            // questions that were answered or refused and say whether they are answerable
	Nulls        int      `json:"nulls"`        // questions that say it, without an answer or refusal: something failed
}

// refusals counts over the questions that say whether they are answerable.
func refusals(r *Run, set *TestSet) *Refusal {
	var f Refusal
	answered := false
	for i, out := range r.Questions {
		answerable := set.Questions[i].Answerable
		answered = answered || out.Answer != nil || out.AnswerError != ""
		switch {
		case answerable == nil:
			continue
		case out.Answer == nil:
			f.Nulls++
			continue
		}
		f.N++
		if out.Answer.Refused {
			f.Refused++
		}
		if !*answerable {
			f.Unanswerable++
			if out.Answer.Refused {
				f.Right++
			}
		}
	}
	if !answered {
		return nil
	}
	f.Precision, f.Recall = share(f.Right, f.Refused), share(f.Right, f.Unanswerable)
	if f.Precision != nil && f.Recall != nil {
		f.F1 = share(2*f.Right, f.Refused+f.Unanswerable)
	}
	return &f
}

// share returns a/b, nil if b is 0.
func share(a, b int) *float64 {
	if b == 0 {
		return nil
	}
	return new(float64(a) / float64(b))
}

// Router measures what a router made of the questions.
type Router struct {
	Accuracy  float64                   `json:"accuracy"`
	N         int                       `json:"n"`         // questions with a label that were routed
	Nulls     int                       `json:"nulls"`     // with a label, and not routed
	Confusion map[string]map[string]int `json:"confusion"` // by label, then by what the router made of it
}

func routing(r *Run, set *TestSet) *Router {
	router := Router{Confusion: map[string]map[string]int{}}
	right := 0
	for i, out := range r.Questions {
		want := set.Questions[i].Intents[r.Intent]
		if want == "" {
			continue
		}
		if out.Answer == nil || out.Answer.Intent == "" {
			router.Nulls++
			continue
		}
		got := out.Answer.Intent
		if router.Confusion[want] == nil {
			router.Confusion[want] = map[string]int{}
		}
		router.Confusion[want][got]++
		router.N++
		if got == want {
			right++
		}
	}
	if router.N == 0 {
		return nil
	}
	router.Accuracy = float64(right) / float64(router.N)
	return &router
}

// AnswerTime says how long answers took, in milliseconds: from the question to the last word, the search included.
type AnswerTime struct {
	Mean float64 `json:"mean"`
	Latency
	N int `json:"n"`
}

func answerTimes(r *Run) *AnswerTime {
	var ms []float64
	for _, out := range r.Questions {
		if out.Answer != nil {
			ms = append(ms, out.Answer.MS)
		}
	}
	if len(ms) == 0 {
		return nil
	}
	return &AnswerTime{round3(Mean(ms)), Latencies(ms), len(ms)}
}

// Agreement says how a judge and people agree on the same answers.
type Agreement struct {
	N       int      `json:"n"`        // answers that have both
	Same    float64  `json:"same"`     // share on the same side of 0.5
	Kappa   *float64 `json:"kappa"`    // the same, beyond chance (Cohen 1960); nil if both always say the same
	MeanGap float64  `json:"mean_gap"` // mean of the absolute differences
}

// agreements compares the metrics of answers for which the test set has values of people.
func agreements(r *Run, set *TestSet) map[string]Agreement {
	type pair struct{ judge, human float64 }
	pairs := map[string][]pair{}
	for i, out := range r.Questions {
		for name, human := range set.Questions[i].Human {
			if v, ok := out.Metrics[name]; ok && v.OK() {
				pairs[name] = append(pairs[name], pair{v.Number, human})
			}
		}
	}
	var all map[string]Agreement
	for name, list := range pairs {
		a, n := Agreement{N: len(list)}, float64(len(list))
		var judgeYes, humanYes float64
		for _, p := range list {
			a.MeanGap += math.Abs(p.judge-p.human) / n
			if (p.judge >= 0.5) == (p.human >= 0.5) {
				a.Same += 1 / n
			}
			if p.judge >= 0.5 {
				judgeYes += 1 / n
			}
			if p.human >= 0.5 {
				humanYes += 1 / n
			}
		}
		if chance := judgeYes*humanYes + (1-judgeYes)*(1-humanYes); chance < 1 {
			a.Kappa = new((a.Same - chance) / (1 - chance))
		}
		if all == nil {
			all = map[string]Agreement{}
		}
		all[name] = a
	}
	return all
}
