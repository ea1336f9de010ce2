package eval_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
	"github.com/seed-d8745b77/rag/internal/testdata"
)

// goldenTolerance is how far values may be from those of trec_eval and ranx.
const goldenTolerance = 1e-6

// readGolden reads a file that scripts/eval/golden.py wrote.
func readGolden(t *testing.T, name string, into any) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(into); err != nil {
		t.Fatal(err)
	}
}

// compare holds the metrics of a ranking against those of trec_eval and ranx. It returns how many were compared.
func compare(t *testing.T, at string, ranked []string, grades eval.Grades, want map[string]float64) int {
	t.Helper()
	for name, want := range want {
		m, err := eval.ParseMetric(name)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := m.Of(ranked, grades)
		if ok != (grades.Relevant() > 0) {
			t.Errorf("%s %s: ok is %v with %d relevant", at, name, ok, grades.Relevant())
		}
		if math.Abs(got-want) > goldenTolerance { // without a relevant document both are 0
			t.Errorf("%s %s: got %v, want %v", at, name, got, want)
		}
	}
	return len(want)
}

func TestMetricsEqualTrecEvalOnGeneratedCases(t *testing.T) {
	var cases []struct {
		Qrels map[string]eval.Grades
		Run   eval.TRECRun
		Want  map[string]map[string]float64
	}
	readGolden(t, "generated.json.gz", &cases)
	if len(cases) != 200 {
		t.Fatalf("%d cases", len(cases))
	}
	compared, notRanked := 0, 0
	for i, c := range cases {
		for query, grades := range c.Qrels {
			want, ranked := c.Want[query]
			if !ranked {
				notRanked++ // trec_eval says nothing of it; in a mean it counts 0, as with its option -c
				if v, _ := (eval.Metric{Kind: eval.NDCG}).Of(c.Run.Ranked(query), grades); v != 0 {
					t.Errorf("case %d %s: %v without a ranking", i, query, v)
				}
				continue
			}
			compared += compare(t, query, c.Run.Ranked(query), grades, want)
		}
		if _, judged := c.Want["unjudged"]; judged {
			t.Errorf("case %d: trec_eval measured a query without judgements", i)
		}
	}
	if compared < 15000 || notRanked < 10 {
		t.Errorf("%d values compared, %d queries without a ranking: the cases are not what they should be", compared, notRanked)
	}
}

func TestMetricsEqualTrecEvalOnSciFact(t *testing.T) {
	judged, err := eval.ReadQrels(testdata.Shared(t, "data", "ir", "scifact", "qrels.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var run struct {
		Ranked map[string][]string
		Want   map[string]map[string]float64
	}
	readGolden(t, "scifact.json.gz", &run)
	compared := 0
	for query, want := range run.Want {
		compared += compare(t, query, run.Ranked[query], judged[query], want)
	}
	if compared < 300*39 {
		t.Errorf("only %d values compared", compared)
	}
}

func TestMetricsOfPlacesThatHoldSeveralItems(t *testing.T) {
	grades := eval.Grades{"a": 1, "b": 1}
	both, twice := [][]string{{"a", "b"}}, [][]string{{"a"}, {"a"}, nil, {"b"}}
	for _, c := range []struct {
		metric string
		places [][]string
		want   float64
	}{
		{"recall@1", both, 1}, {"map", both, 1}, {"ndcg", both, 1}, {"precision@1", both, 1}, {"hit@1", both, 1}, {"mrr", both, 1},
		{"recall@2", twice, 0.5}, {"precision@2", twice, 0.5}, {"map", twice, (1 + 2.0/4) / 2}, {"mrr@1", [][]string{nil, {"a"}}, 0}, {"hit@5", nil, 0},
	} {
		m, err := eval.ParseMetric(c.metric)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := m.OfPlaces(c.places, grades); !ok || math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s of %v: got %v, want %v", c.metric, c.places, got, c.want)
		}
	}
}

func TestNDCGWithExponentialGain(t *testing.T) {
	grades := eval.Grades{"a": 3, "b": 1}
	want := (1 + 7/math.Log2(3)) / (7 + 1/math.Log2(3))
	if got, _ := (eval.Metric{Kind: eval.NDCGExp, K: 2}).Of([]string{"b", "a"}, grades); !(math.Abs(got-want) <= 1e-12) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestParseMetric(t *testing.T) {
	for _, name := range []string{"hit@1", "recall@100", "precision@5", "mrr", "mrr@10", "map", "map@3", "ndcg", "ndcg@10", "ndcg_exp@10"} {
		m, err := eval.ParseMetric(name)
		if err != nil || m.String() != name {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
	for name, want := range map[string]string{
		"": "known", "hit": "hit@5", "recall": "recall@5", "precision": "precision@5", "ndgc@10": `did you mean "ndcg"`, "ndcg@0": "at least 1", "ndcg@": "at least 1", "mrr@x": "at least 1", "ndcg@-1": "at least 1",
	} {
		if _, err := eval.ParseMetric(name); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", name, err, want)
		}
	}
}

func TestOneValueHasNoInterval(t *testing.T) {
	if one := eval.Summarise([]rag.EvalValue{rag.EvalNumber(1)}); one.N != 1 || one.Low != nil || one.High != nil {
		t.Errorf("of one value: %+v", one)
	}
	two := eval.Summarise([]rag.EvalValue{rag.EvalNumber(1), rag.EvalNumber(0)})
	if two.Low == nil || two.High == nil || *two.Low != 0 || *two.High != 1 {
		t.Errorf("of two: %+v", two)
	}
}

func TestLatencies(t *testing.T) {
	var ms []float64
	for i := range 40 {
		ms = append(ms, float64(i+1))
	}
	if got := eval.Latencies(ms); got != (eval.Latency{P50: 20, P95: 38}) {
		t.Errorf("got %+v", got)
	}
	if got := eval.Latencies([]float64{1.23456}); got.P50 != 1.235 {
		t.Errorf("got %v, want microseconds", got.P50)
	}
}

func TestScoresCountNullsAndLeaveThemOut(t *testing.T) {
	got := eval.Summarise([]rag.EvalValue{rag.EvalNumber(1), rag.EvalNull("why"), rag.EvalNumber(0), rag.EvalNumber(math.NaN()), rag.EvalNull("why")})
	if got.Mean == nil || *got.Mean != 0.5 || got.N != 2 || got.Nulls != 3 {
		t.Errorf("got %+v", got)
	}
	if diff := cmp.Diff(map[string]int{"why": 2, "not a finite number": 1}, got.Why); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	if mean := eval.Mean(nil); mean != 0 {
		t.Errorf("the mean of nothing is %v", mean)
	}
	if none := eval.Summarise([]rag.EvalValue{rag.EvalNull("why")}); none.Mean != nil || none.Low != nil {
		t.Errorf("of nothing: %+v", none)
	}
}

func TestValuesInJSON(t *testing.T) {
	want := []rag.EvalValue{rag.EvalNumber(0), rag.EvalNumber(0.25), rag.EvalNull("no claims")}
	data, err := json.Marshal(want)
	if err != nil || string(data) != `[0,0.25,{"null":"no claims"}]` {
		t.Fatalf("%s, %v", data, err)
	}
	var got []rag.EvalValue
	if err := json.Unmarshal([]byte(`[0,0.25,{"null":"no claims"},null,{"null":""}]`), &got); err != nil {
		t.Fatal(err)
	}
	unknown := rag.EvalNull("no reason is given")
	if diff := cmp.Diff(append(want, unknown, unknown), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := json.Unmarshal([]byte(`"x"`), new(rag.EvalValue)); err == nil {
		t.Error("a text was read as a value")
	}
}

func TestPercentile(t *testing.T) {
	numbers := []float64{5, 1, 4, 2, 3}
	for p, want := range map[float64]float64{0: 1, 0.2: 1, 0.5: 3, 0.95: 5, 1: 5, 1.5: 5} {
		if got := eval.Percentile(numbers, p); got != want {
			t.Errorf("percentile %v: got %v, want %v", p, got, want)
		}
	}
	if got := eval.Percentile(nil, 0.5); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
}
