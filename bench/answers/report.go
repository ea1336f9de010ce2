package main

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
	"github.com/seed-d8745b77/rag/internal/logistic"
)

// depth is how many sources count.
const depth = 3

// printSources tells how often an answer has a right source.
func printSources(outcomes []outcome, verbose bool) {
	type tally struct{ asked, right, quoted, passage int }
	by := map[string]*tally{}
	for _, o := range outcomes {
		if !o.answerable {
			continue
		}
		passage := false
		for _, s := range o.firstSources() {
			passage = passage || o.rightSource(s.Hit.Chunk.URI) && o.inPassage(s.Hit.Chunk.Text)
		}
		for _, group := range []string{"all", o.Set, o.Language, o.Kind} {
			if by[group] == nil {
				by[group] = &tally{}
			}
			t := by[group]
			t.asked++
			t.right += one(o.right())
			t.passage += one(passage)
			t.quoted += one(o.quoted())
		}
		if verbose && !o.right() {
			fmt.Printf("- %s %s: %s\n", o.ID, o.Kind, o.Text)
		}
	}
	fmt.Print("| answerable questions | asked | with a right document in the first 3 | quoted from one | with the passage itself in the first 3 |\n|---|---|---|---|---|\n")
	for _, group := range slices.Sorted(maps.Keys(by)) {
		t := by[group]
		fmt.Printf("| %s | %d | %s | %s | %s |\n", group, t.asked, percent(t.right, t.asked), percent(t.quoted, t.asked), percent(t.passage, t.asked))
	}
	fmt.Println()
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// firstSources are those that count.
func (o *outcome) firstSources() []rag.AnswerSource {
	return o.answer.Sources[:min(depth, len(o.answer.Sources))]
}

// right reports whether a right document is among the first sources.
func (o *outcome) right() bool {
	return slices.ContainsFunc(o.firstSources(), func(s rag.AnswerSource) bool { return o.rightSource(s.Hit.Chunk.URI) })
}

// quoted reports whether the answer has a sentence of a right document.
func (o *outcome) quoted() bool {
	return slices.ContainsFunc(o.answer.Citations, func(c rag.Citation) bool { return o.rightSource(o.answer.Sources[c.Marker-1].Hit.Chunk.URI) })
}

// rightSource reports whether a document answers the question and is in force.
func (o *outcome) rightSource(uri string) bool {
	is := func(name string) bool { return eval.SameDocument(uri, name) }
	return slices.ContainsFunc(slices.Collect(maps.Keys(o.Documents)), is) && !slices.ContainsFunc(o.Excluded, is)
}

// inPassage reports whether a text has the sentence that answers the question: the first, where the set names several.
func (o *outcome) inPassage(text string) bool {
	return len(o.Sentences) > 0 && strings.Contains(eval.Fold(text), eval.Fold(o.Sentences[0]))
}

// heldOut returns confidences: those of a collection come from a model that was fitted to the questions of the others.
func heldOut(outcomes []outcome) []float64 {
	confidence := make([]float64, len(outcomes))
	for _, set := range setsOf(outcomes) {
		var x [][]float64
		var y []bool
		for _, o := range outcomes {
			if o.Set != set {
				x, y = append(x, o.features), append(y, o.answerable)
			}
		}
		var c rag.Calibration
		c.Full, c.Words = rag.FitConfidence(x, y)
		for i, o := range outcomes {
			if o.Set == set {
				confidence[i] = c.Confidence(o.features)
			}
		}
	}
	return confidence
}

// builtIn returns the confidences that the engine gave.
func builtIn(outcomes []outcome) (confidence []float64) {
	for _, o := range outcomes {
		confidence = append(confidence, o.answer.Confidence)
	}
	return confidence
}

// printRefusals tells how well confidences tell questions apart.
func printRefusals(outcomes []outcome, confidence []float64, verbose bool) {
	fmt.Print("| refused below | precision | recall | of off-topic | of unanswerable on topic, or left out | false refusals | answerable: answered, with a right document in the first 3 |\n|---|---|---|---|---|---|---|\n")
	for _, threshold := range []float64{0.2, 0.3, 0.4, 0.45, 0.5, 0.6, 0.75} {
		printThreshold(outcomes, confidence, threshold)
	}
	fmt.Println()
	if verbose {
		for i, o := range outcomes {
			if o.answerable != (confidence[i] >= rag.DefaultConfig().Answer.RefuseBelow) {
				fmt.Printf("- %s %s %v: %.2f %s %.2f: %s\n", o.ID, o.Kind, o.answerable, confidence[i], o.Language, o.features, o.Text)
			}
		}
	}
	printLevels(outcomes, confidence)
	printCurve(outcomes, confidence)
}

// printLevels tells how often the answers of each level are right.
func printLevels(outcomes []outcome, confidence []float64) {
	d := rag.DefaultConfig().Answer
	type tally struct{ asked, answerable, right, quoted, onTopic int }
	onTopic := 0
	levels := map[string]*tally{rag.Reliable: {}, rag.ToVerify: {}, rag.NoAnswer: {}}
	for i, o := range outcomes {
		level := rag.ToVerify
		switch {
		case confidence[i] < d.RefuseBelow:
			level = rag.NoAnswer
		case confidence[i] >= d.ReliableFrom && !o.doubted:
			level = rag.Reliable
		}
		t := levels[level]
		t.asked++
		t.answerable += one(o.answerable)
		t.right += one(o.answerable && o.right())
		t.quoted += one(o.answerable && o.quoted())
		if o.Kind == "unanswerable_on_topic" || o.Kind == "left_out" {
			t.onTopic++
			onTopic++
		}
	}
	fmt.Print("| level | questions | can be answered | with a right document in the first 3 | quoted from one | of all unanswerable on topic, or left out |\n|---|---|---|---|---|---|\n")
	for _, level := range []string{rag.Reliable, rag.ToVerify, rag.NoAnswer} {
		t := levels[level]
		fmt.Printf("| %s | %d | %s | %s | %s | %s |\n", level, t.asked, percent(t.answerable, t.asked), percent(t.right, t.asked), percent(t.quoted, t.asked), percent(t.onTopic, onTopic))
	}
	fmt.Println()
}

func printThreshold(outcomes []outcome, confidence []float64, threshold float64) {
	var r rag.Refusals
	refused, asked, right := map[string]int{}, map[string]int{}, 0
	for i, o := range outcomes {
		no := confidence[i] < threshold
		asked[o.Kind]++
		if no {
			refused[o.Kind]++
		}
		switch {
		case no && o.answerable:
			r.Wrong++
		case no:
			r.Right++
		case o.answerable:
			r.Answered++
			right += one(o.right())
		default:
			r.Missed++
		}
	}
	fmt.Printf("| %.2f | %s | %s | %s | %s | %s | %s |\n", threshold, percent(r.Right, r.Right+r.Wrong), percent(r.Right, r.Right+r.Missed),
		percent(refused["off_topic"], asked["off_topic"]), percent(refused["unanswerable_on_topic"]+refused["left_out"], asked["unanswerable_on_topic"]+asked["left_out"]), percent(r.Wrong, r.Wrong+r.Answered), percent(right, r.Wrong+r.Answered))
}

// printCurve compares risk and coverage with those of a threshold on the cosine.
func printCurve(outcomes []outcome, confidence []float64) {
	fmt.Print("| questions | area, evidence | area, cosine | best there could be | difference, 95 % |\n|---|---|---|---|---|\n")
	groups := append([]string{"all"}, setsOf(outcomes)...)
	for _, group := range groups {
		var mine, cosine []float64
		var y []bool
		for i, o := range outcomes {
			if group == "all" || o.Set == group {
				mine, cosine, y = append(mine, confidence[i]), append(cosine, o.cosine), append(y, o.answerable)
			}
		}
		ideal := make([]float64, len(y))
		for i := range y {
			ideal[i] = float64(one(y[i]))
		}
		low, high := bootstrap(mine, cosine, y)
		fmt.Printf("| %s | %.3f | %.3f | %.3f | %.3f to %.3f |\n", group, area(mine, y), area(cosine, y), area(ideal, y), low, high)
	}
	y := make([]bool, len(outcomes))
	cosine := make([]float64, len(outcomes))
	for i, o := range outcomes {
		y[i], cosine[i] = o.answerable, o.cosine
	}
	fmt.Print("\n| coverage | risk, evidence | risk, cosine |\n|---|---|---|\n")
	mine, _ := logistic.Risks(confidence, y)
	theirs, _ := logistic.Risks(cosine, y)
	for c := 10; c <= 100; c += 10 {
		at := len(y)*c/100 - 1
		fmt.Printf("| %d %% | %.1f %% | %.1f %% |\n", c, 100*mine[at], 100*theirs[at])
	}
	fmt.Println()
}

// area under the risk–coverage curve.
func area(confidence []float64, y []bool) float64 {
	risks, _ := logistic.Risks(confidence, y)
	sum := 0.0
	for _, r := range risks {
		sum += r
	}
	return sum / float64(len(risks))
}

// bootstrap returns an interval for the difference of the areas: 2000 resamples of the questions, both curves on the same.
func bootstrap(mine, cosine []float64, y []bool) (low, high float64) {
	const samples = 2000
	r := rand.New(rand.NewPCG(8, 8))
	var differences []float64
	for range samples {
		a, b, label := make([]float64, len(y)), make([]float64, len(y)), make([]bool, len(y))
		for i := range y {
			k := r.IntN(len(y))
			a[i], b[i], label[i] = mine[k], cosine[k], y[k]
		}
		differences = append(differences, area(a, label)-area(b, label))
	}
	slices.Sort(differences)
	return differences[samples*25/1000], differences[samples*975/1000]
}

func setsOf(outcomes []outcome) []string {
	var sets []string
	for _, o := range outcomes {
		if !slices.Contains(sets, o.Set) {
			sets = append(sets, o.Set)
		}
	}
	return sets
}

// percent shows a share with its Wilson interval at 95 %.
func percent(k, n int) string {
	if n == 0 {
		return "–"
	}
	const z = 1.96
	p, m := float64(k)/float64(n), float64(n)
	mid := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return fmt.Sprintf("%d/%d = %.0f %% (%.0f to %.0f)", k, n, 100*p, 100*max(0, mid-half), 100*min(1, mid+half))
}

// printFit prints the model fitted to everything, for calibration.go.
func printFit(outcomes []outcome) {
	var x [][]float64
	var y []bool
	for _, o := range outcomes {
		x, y = append(x, o.features), append(y, o.answerable)
	}
	full, words := rag.FitConfidence(x, y)
	for _, m := range []rag.ConfidenceModel{full, words} {
		printModel(m)
	}
}

func printModel(m rag.ConfidenceModel) {
	list := func(name string, values []float64) {
		fmt.Printf("\t%s: []float64{", name)
		for i, v := range values {
			if i > 0 {
				fmt.Print(", ")
			}
			fmt.Printf("%.4f", v)
		}
		fmt.Println("},")
	}
	list("Weights", m.Weights)
	list("Mean", m.Mean)
	list("Scale", m.Scale)
	fmt.Printf("\tBias: %.4f,\n", m.Bias)
}
