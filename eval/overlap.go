package eval

import (
	"context"
	"strings"
	"unicode"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/cite"
)

// Metrics of words, which need no model. They are crude: what is said in other words counts as not said.
const (
	// FaithfulnessOverlap is the share of the answer's different words that are in the passages.
	FaithfulnessOverlap = "faithfulness_overlap"
	// AnswerRelevancyOverlap is the share of the question's different words that are in the answer.
	AnswerRelevancyOverlap = "answer_relevancy_overlap"
	// ContextPrecisionOverlap is as ContextPrecision; a passage helps if it has half of the reference's words.
	ContextPrecisionOverlap = "context_precision_overlap"
	// ContextRecallOverlap is the share of the reference's different words that are in the passages.
	ContextRecallOverlap = "context_recall_overlap"
	// CorrectnessOverlap is F1 of the answer's words against the reference's, as SQuAD measures answers (Rajpurkar et al.,
	// EMNLP 2016). Of Chinese and Japanese each character is a word.
	CorrectnessOverlap = "correctness_overlap"
)

// overlapKinds gives each metric of words the judged metric whose needs it has.
var overlapKinds = map[string]string{
	FaithfulnessOverlap: Faithfulness, AnswerRelevancyOverlap: AnswerRelevancy, ContextPrecisionOverlap: ContextPrecision,
	ContextRecallOverlap: ContextRecall, CorrectnessOverlap: Correctness,
}

// Overlap measures answers by their words.
type Overlap struct{ metrics []string }

var _ rag.Evaluator = (*Overlap)(nil)

// NewOverlap returns an evaluator of some metrics; nil: all. An unknown one is ErrInvalid.
func NewOverlap(metrics []string) (*Overlap, error) {
	all := sortedKeys(overlapKinds)
	if metrics == nil {
		metrics = all
	}
	return &Overlap{metrics}, known(metrics, all)
}

// Metrics returns those that it was made for.
func (o *Overlap) Metrics() []string { return o.metrics }

// Evaluate compares words. Its only error is that of a done context.
func (o *Overlap) Evaluate(ctx context.Context, samples []rag.EvalSample) (map[string][]rag.EvalValue, error) {
	values := map[string][]rag.EvalValue{}
	for i := range samples {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, metric := range o.metrics {
			values[metric] = append(values[metric], overlapOf(metric, &samples[i]))
		}
	}
	return values, nil
}

func overlapOf(metric string, s *rag.EvalSample) rag.EvalValue {
	if why := lacking(overlapKinds[metric], s, true); why != "" {
		return rag.EvalNull(why)
	}
	passages := strings.Join(s.Contexts, "\n")
	switch metric {
	case FaithfulnessOverlap:
		return covered(s.Answer, passages)
	case AnswerRelevancyOverlap:
		return covered(s.Question, s.Answer)
	case ContextRecallOverlap:
		return covered(s.Reference, passages)
	case ContextPrecisionOverlap:
		return helpful(s)
	default:
		return wordF1(s.Answer, s.Reference)
	}
}

// covered is the share of the different words of a text that are in another.
func covered(text, in string) rag.EvalValue {
	have, want := countWords(in), countWords(text)
	if len(want) == 0 {
		return rag.EvalNull("it has no word")
	}
	n := 0
	for w := range want {
		if have[w] > 0 {
			n++
		}
	}
	return rag.EvalNumber(float64(n) / float64(len(want)))
}

// helpfulShare of the reference's words makes a passage helpful.
const helpfulShare = 0.5

func helpful(s *rag.EvalSample) rag.EvalValue {
	sum, useful := 0.0, 0
	for i, c := range s.Contexts {
		v := covered(s.Reference, c)
		if !v.OK() {
			return v
		}
		if v.Number >= helpfulShare {
			useful++
			sum += float64(useful) / float64(i+1)
		}
	}
	return rag.EvalNumber(sum / float64(max(1, useful)))
}

func wordF1(answer, reference string) rag.EvalValue {
	got, want := countWords(answer), countWords(reference)
	same, all := 0, 0
	for w, n := range got {
		same += min(n, want[w])
		all += n
	}
	for _, n := range want {
		all += n
	}
	if all == 0 {
		return rag.EvalNull("neither has a word")
	}
	return rag.EvalNumber(2 * float64(same) / float64(all))
}

// countWords counts the words of a text without case; a character of a script that writes no blanks is a word.
func countWords(text string) map[string]int {
	words := map[string]int{}
	for _, field := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) }) {
		rest := strings.Map(func(r rune) rune {
			if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) {
				words[string(r)]++
				return -1
			}
			return r
		}, field)
		if rest != "" {
			words[rest]++
		}
	}
	return words
}

// FaithfulnessVerified is the share of the answer's sentences that a verifier finds supported by the passages.
const FaithfulnessVerified = "faithfulness_verified"

// Verified measures answers by a verifier, such as that of an engine.
type Verified struct{ verifier rag.Verifier }

var _ rag.Evaluator = (*Verified)(nil)

// NewVerified returns an evaluator over a verifier.
func NewVerified(v rag.Verifier) *Verified { return &Verified{v} }

// Metrics returns FaithfulnessVerified.
func (v *Verified) Metrics() []string { return []string{FaithfulnessVerified} }

// Evaluate has each sentence of an answer, without its citations, verified against all its passages. An error of the verifier ends it.
func (v *Verified) Evaluate(ctx context.Context, samples []rag.EvalSample) (map[string][]rag.EvalValue, error) {
	var values []rag.EvalValue
	for i := range samples {
		value, err := v.one(ctx, &samples[i])
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return map[string][]rag.EvalValue{FaithfulnessVerified: values}, ctx.Err()
}

func (v *Verified) one(ctx context.Context, s *rag.EvalSample) (rag.EvalValue, error) {
	if why := lacking(Faithfulness, s, true); why != "" {
		return rag.EvalNull(why), nil
	}
	var claims []rag.Claim
	passages := strings.Join(s.Contexts, "\n\n")
	// An answer that is not blank has at least one sentence.
	for _, sentence := range cite.Sentences(s.Answer) {
		claims = append(claims, rag.Claim{Text: cite.Strip(s.Answer[sentence.Start:sentence.End]), Passage: passages})
	}
	verdicts, err := v.verifier.Verify(ctx, claims)
	if err != nil {
		return rag.EvalValue{}, err
	}
	supported := 0
	for _, verdict := range verdicts {
		if verdict.Supported {
			supported++
		}
	}
	return rag.EvalNumber(float64(supported) / float64(len(claims))), nil
}
