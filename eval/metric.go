package eval

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// Grades says how relevant the items of a question are: documents, passages, sections or sentences, by a name of each.
// Above 0 is relevant; an item that is not listed is not.
type Grades map[string]int

// Relevant returns the number of relevant items.
func (g Grades) Relevant() int {
	n := 0
	for _, grade := range g {
		if grade > 0 {
			n++
		}
	}
	return n
}

// Metric is a measure of a ranked list: "ndcg@10", "mrr". [ParseMetric] reads its name. K is how many places it looks at;
// 0: all.
//
// A place of the list may hold several items (a passage in which two of the sentences looked for stand), and several
// places may hold the same item (passages of one document): an item counts at its first place, and the others stay where
// they are. On lists with one item at each place, none twice, the values are those of trec_eval 9.
type Metric struct {
	Kind string
	K    int
}

// Kinds of metrics. Each says which measure of trec_eval it is.
const (
	// Hit is 1 if something relevant is among the first K, else 0: success_K.
	Hit = "hit"
	// Recall is the share of the relevant items among the first K: recall_K.
	Recall = "recall"
	// Precision is the share of the K places that bring something relevant, K being counted whole also where the list is
	// shorter: P_K. Manning, Raghavan, Schütze: Introduction to Information Retrieval (2008), section 8.3.
	Precision = "precision"
	// MRR is 1 over the first place that holds something relevant, 0 if none of the first K does: recip_rank.
	// Voorhees: The TREC-8 Question Answering Track Report (1999).
	MRR = "mrr"
	// MAP is the mean, over all relevant items, of the precision at the place of each, 0 for one that is not among the
	// first K: map, map_cut_K. Buckley, Voorhees: Evaluating Evaluation Measure Stability (SIGIR 2000).
	MAP = "map"
	// NDCG is the discounted gain of the first K places over that of the best order; the gain is the grade, the discount
	// log2(place+1): ndcg, ndcg_cut_K. Järvelin, Kekäläinen: Cumulated Gain-Based Evaluation of IR Techniques (TOIS 2002).
	NDCG = "ndcg"
	// NDCGExp is NDCG with the gain 2^grade − 1, which trec_eval does not have. Burges et al.: Learning to Rank Using
	// Gradient Descent (ICML 2005). With grades 0 and 1 it is NDCG.
	NDCGExp = "ndcg_exp"
)

// metricKinds lists the kinds; true: the name must say K.
var metricKinds = map[string]bool{Hit: true, Recall: true, Precision: true, MRR: false, MAP: false, NDCG: false, NDCGExp: false}

// ParseMetric reads "kind" or "kind@K". What it cannot read is ErrInvalid.
func ParseMetric(name string) (Metric, error) {
	kind, cut, given := strings.Cut(name, "@")
	needsK, known := metricKinds[kind]
	if !known {
		kinds := sortedKeys(metricKinds)
		return Metric{}, fmt.Errorf("metric %q%s (known: %s): %w", name, rag.DidYouMean(kind, kinds), strings.Join(kinds, ", "), rag.ErrInvalid)
	}
	if !given {
		if needsK {
			return Metric{}, fmt.Errorf("metric %q says not how many places it looks at: %s@5: %w", name, kind, rag.ErrInvalid)
		}
		return Metric{Kind: kind}, nil
	}
	k, err := strconv.Atoi(cut)
	if err != nil || k < 1 {
		return Metric{}, fmt.Errorf("metric %q: what stands behind the @ must be a number of places, at least 1: %w", name, rag.ErrInvalid)
	}
	return Metric{kind, k}, nil
}

// String returns the metric's name.
func (m Metric) String() string {
	if m.K == 0 {
		return m.Kind
	}
	return m.Kind + "@" + strconv.Itoa(m.K)
}

// Of measures a list of items, best first. ok is false where nothing is relevant: such a question says nothing about a
// ranking, and is left out of a mean.
func (m Metric) Of(ranked []string, grades Grades) (value float64, ok bool) {
	places := make([][]string, min(len(ranked), m.depth(len(ranked))))
	for i := range places {
		places[i] = ranked[i : i+1]
	}
	return m.OfPlaces(places, grades)
}

// OfPlaces is [Metric.Of] for a list whose places hold any number of items each.
func (m Metric) OfPlaces(places [][]string, grades Grades) (value float64, ok bool) {
	relevant := grades.Relevant()
	if relevant == 0 {
		return 0, false
	}
	found := newlyFound(places[:min(len(places), m.depth(len(places)))], grades)
	switch m.Kind {
	case Hit:
		return float64(min(1, bringing(found))), true
	case Recall:
		return total(found) / float64(relevant), true
	case Precision:
		return float64(bringing(found)) / float64(m.K), true
	case MRR:
		return reciprocalRank(found), true
	case MAP:
		return averagePrecision(found) / float64(relevant), true
	case NDCG:
		return m.ndcg(found, grades, func(grade int) float64 { return float64(grade) }), true
	default:
		return m.ndcg(found, grades, func(grade int) float64 { return math.Exp2(float64(grade)) - 1 }), true
	}
}

// depth is how many places count.
func (m Metric) depth(length int) int {
	if m.K == 0 {
		return length
	}
	return m.K
}

// newlyFound returns for each place the grades of the relevant items that no earlier place holds.
func newlyFound(places [][]string, grades Grades) [][]int {
	found, seen := make([][]int, len(places)), map[string]bool{}
	for i, items := range places {
		for _, item := range items {
			if g := grades[item]; g > 0 && !seen[item] {
				seen[item] = true
				found[i] = append(found[i], g)
			}
		}
	}
	return found
}

func reciprocalRank(found [][]int) float64 {
	for i, grades := range found {
		if len(grades) > 0 {
			return 1 / float64(i+1)
		}
	}
	return 0
}

func total(found [][]int) float64 {
	n := 0
	for _, grades := range found {
		n += len(grades)
	}
	return float64(n)
}

func bringing(found [][]int) int {
	n := 0
	for _, grades := range found {
		if len(grades) > 0 {
			n++
		}
	}
	return n
}

// averagePrecision is the sum of the precisions at the places of the items. A place with two items is no better than one.
func averagePrecision(found [][]int) float64 {
	sum, n := 0.0, 0
	for i, grades := range found {
		n += len(grades)
		sum += float64(len(grades)) * min(1, float64(n)/float64(i+1))
	}
	return sum
}

// ndcg is at most 1 also where a place holds so many items that the list is better than the best with one at each place.
func (m Metric) ndcg(found [][]int, all Grades, gain func(grade int) float64) float64 {
	ideal := make([]int, 0, len(all))
	for _, g := range all {
		if g > 0 {
			ideal = append(ideal, g)
		}
	}
	slices.SortFunc(ideal, func(a, b int) int { return b - a })
	best, got := 0.0, 0.0
	for i, g := range ideal[:min(len(ideal), m.depth(len(ideal)))] {
		best += gain(g) / math.Log2(float64(i)+2)
	}
	for i, grades := range found {
		for _, g := range grades {
			got += gain(g) / math.Log2(float64(i)+2)
		}
	}
	return min(1, got/best)
}
