package eval

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/prompt"
)

// Metrics that a chat model judges. Definitions are those of Ragas (Es et al.: RAGAs, EACL 2024, and its documentation); a
// null stands where Ragas has NaN.
const (
	// Faithfulness is the share of the answer's claims that the passages support; null if it makes none.
	Faithfulness = "faithfulness"
	// AnswerRelevancy is the mean cosine between the question and three questions that the answer would answer; 0 if the
	// answer commits to nothing. It needs an embedder.
	AnswerRelevancy = "answer_relevancy"
	// ContextPrecision is the mean, over the passages that help to the reference answer, of the share of helpful passages
	// down to each; 0 if none helps.
	ContextPrecision = "context_precision"
	// ContextRecall is the share of the reference's claims that the passages support.
	ContextRecall = "context_recall"
	// Correctness is F1 of the answer's claims against the reference's.
	Correctness = "correctness"
)

// JudgedMetrics lists what a [Judge] measures.
var JudgedMetrics = []string{Faithfulness, AnswerRelevancy, ContextPrecision, ContextRecall, Correctness}

// JudgeConfig sets a judge.
type JudgeConfig struct {
	Metrics  []string     `json:"metrics"` // of JudgedMetrics; nil: all
	Repeat   int          `json:"repeat"`  // times that each answer is judged; the value is the mean; 0: 1; at least 0
	CacheDir string       `json:"-"`       // folder in which verdicts are kept; "": nowhere
	Embedder rag.Embedder `json:"-"`       // for AnswerRelevancy; nil: it is null
}

// Judge has a chat model judge answers. It is safe for concurrent use if the model is.
type Judge struct {
	model   rag.ChatModel
	config  JudgeConfig
	replies *replies
}

var (
	_ rag.Evaluator     = (*Judge)(nil)
	_ rag.Fingerprinter = (*Judge)(nil)
)

// NewJudge returns a judge. ErrInvalid: no model, an unknown metric.
func NewJudge(model rag.ChatModel, c JudgeConfig) (*Judge, error) {
	if model == nil {
		return nil, fmt.Errorf("judge: it needs a chat model: %w", rag.ErrInvalid)
	}
	if c.Metrics == nil {
		c.Metrics = JudgedMetrics
	}
	if err := known(c.Metrics, JudgedMetrics); err != nil {
		return nil, fmt.Errorf("judge: %w", err)
	}
	if c.Repeat < 0 {
		return nil, fmt.Errorf("judge: repeat is %d: it must not be negative: %w", c.Repeat, rag.ErrInvalid)
	}
	c.Repeat = max(1, c.Repeat)
	return &Judge{model, c, newReplies(model, c.CacheDir)}, nil
}

// known reports a name that is none of the list.
func known(names, list []string) error {
	for _, name := range names {
		found := false
		for _, k := range list {
			found = found || k == name
		}
		if !found {
			return fmt.Errorf("metric %q%s (known: %s): %w", name, rag.DidYouMean(name, list), strings.Join(list, ", "), rag.ErrInvalid)
		}
	}
	return nil
}

// Metrics returns those that the judge was made for.
func (j *Judge) Metrics() []string { return j.config.Metrics }

// Fingerprint names the chat model, "" if it does not say which it is, and how often it is asked.
func (j *Judge) Fingerprint() string {
	if j.replies.model == "" || j.config.Repeat == 1 {
		return j.replies.model
	}
	return fmt.Sprintf("%s, %d times", j.replies.model, j.config.Repeat)
}

// Evaluate judges each sample by itself. A verdict that cannot be read is asked for once more, and then null. Only a done
// context is an error, and a model that gave no verdict at all, which is the first of its errors.
func (j *Judge) Evaluate(ctx context.Context, samples []rag.EvalSample) (map[string][]rag.EvalValue, error) {
	values := map[string][]rag.EvalValue{}
	answered := false
	var first error
	for i := range samples {
		for _, metric := range j.config.Metrics {
			v, err := j.repeated(ctx, metric, &samples[i])
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				v = rag.EvalNull(err.Error())
				if first == nil && !errors.Is(err, errNoVerdict) {
					first = err
				}
			}
			answered = answered || v.OK()
			values[metric] = append(values[metric], v)
		}
	}
	if !answered && first != nil {
		return nil, first
	}
	return values, nil
}

// repeated judges a sample as often as configured and returns the mean.
func (j *Judge) repeated(ctx context.Context, metric string, s *rag.EvalSample) (rag.EvalValue, error) {
	if why := lacking(metric, s, j.config.Embedder != nil); why != "" {
		return rag.EvalNull(why), nil
	}
	sum, n := 0.0, 0
	var last rag.EvalValue
	for round := range j.config.Repeat {
		v, err := j.once(ctx, metric, s, round)
		if err != nil {
			return v, err
		}
		if last = v; v.OK() {
			sum, n = sum+v.Number, n+1
		}
	}
	if n == 0 {
		return last, nil
	}
	return rag.EvalNumber(sum / float64(n)), nil
}

// lacking says why a metric does not apply to a sample; "" if it does.
func lacking(metric string, s *rag.EvalSample, embedder bool) string {
	needsReference := metric == ContextRecall || metric == Correctness || metric == ContextPrecision
	needsAnswer := metric == Faithfulness || metric == AnswerRelevancy || metric == Correctness
	switch {
	case needsReference && strings.TrimSpace(s.Reference) == "":
		return "there is no reference answer"
	case needsAnswer && s.Refused:
		return "the answer is a refusal"
	case needsAnswer && strings.TrimSpace(s.Answer) == "":
		return "there is no answer"
	case metric != AnswerRelevancy && metric != Correctness && len(s.Contexts) == 0:
		return "there are no passages"
	case metric == AnswerRelevancy && !embedder:
		return "there is no embedder"
	}
	return ""
}

// errNoVerdict marks replies that cannot be read.
var errNoVerdict = errors.New("no verdict")

// once asks for one verdict.
func (j *Judge) once(ctx context.Context, metric string, s *rag.EvalSample, round int) (rag.EvalValue, error) {
	switch metric {
	case Faithfulness:
		return j.claims(ctx, faithfulnessTask, round, prompt.Quote("answer", s.Answer, "passages", "question"), quoted("question", s.Question), passages(s))
	case ContextRecall:
		return j.claims(ctx, recallTask, round, prompt.Quote("answer", s.Reference, "passages", "question"), quoted("question", s.Question), passages(s))
	case ContextPrecision:
		return j.contextPrecision(ctx, round, s)
	case Correctness:
		return j.correctness(ctx, round, s)
	default:
		return j.relevancy(ctx, round, s)
	}
}

func quoted(name, text string) string {
	return prompt.Quote(name, text, "answer", "passages", "reference")
}

// passages are the contexts of a sample with a number each.
func passages(s *rag.EvalSample) string {
	var b strings.Builder
	for i, c := range s.Contexts {
		fmt.Fprintf(&b, "[%d] %s\n\n", i+1, c)
	}
	return prompt.Quote("passages", b.String(), "answer", "question", "reference")
}

const (
	faithfulnessTask = `Split the answer into its claims: single statements that can be true or false. For each decide whether the passages support it: what follows from them directly is supported; what they do not say, only touch on, or contradict is not.
Reply with a JSON object and nothing else: {"claims": [{"claim": "...", "supported": true, "reason": "..."}]}. If the answer makes no claim, the list is empty.` + prompt.Guard
	recallTask = `Split the answer, which is known to be right, into its claims. For each decide whether it can be found in the passages.
Reply with a JSON object and nothing else: {"claims": [{"claim": "...", "supported": true, "reason": "..."}]}.` + prompt.Guard
	precisionTask = `For each of the passages, in order, decide whether it helped to arrive at the right answer that stands as reference.
Reply with a JSON object and nothing else: {"useful": [true, false]} with one value for each passage.` + prompt.Guard
	correctnessTask = `Split the answer and the reference, which is right, into claims. List the claims of the answer that the reference supports (true_positives), those that it does not (false_positives), and the claims of the reference that the answer lacks (false_negatives).
Reply with a JSON object and nothing else: {"true_positives": ["..."], "false_positives": ["..."], "false_negatives": ["..."]}.` + prompt.Guard
	relevancyTask = `Write three different questions that the answer answers completely, in its language. Say whether the answer is noncommittal: evasive, vague, or that something is not known.
Reply with a JSON object and nothing else: {"questions": ["...", "...", "..."], "noncommittal": false}.` + prompt.Guard
)

// claims is the share of supported claims.
func (j *Judge) claims(ctx context.Context, task string, round int, parts ...string) (v rag.EvalValue, err error) {
	err = j.ask(ctx, task, strings.Join(parts, "\n"), round, func(reply string) error {
		var got struct {
			Claims *[]struct {
				Claim     string
				Supported *bool
			}
		}
		if err := prompt.ReadJSON(reply, &got); err != nil {
			return err
		}
		if got.Claims == nil {
			return errors.New("it has no claims")
		}
		supported := 0
		for _, c := range *got.Claims {
			if c.Supported == nil || strings.TrimSpace(c.Claim) == "" {
				return errors.New("a claim has no text or no verdict")
			}
			if *c.Supported {
				supported++
			}
		}
		if len(*got.Claims) == 0 {
			v = rag.EvalNull("it makes no claim")
			return nil
		}
		v = rag.EvalNumber(float64(supported) / float64(len(*got.Claims)))
		return nil
	})
	return v, err
}

func (j *Judge) contextPrecision(ctx context.Context, round int, s *rag.EvalSample) (v rag.EvalValue, err error) {
	err = j.ask(ctx, precisionTask, quoted("question", s.Question)+quoted("reference", s.Reference)+passages(s), round, func(reply string) error {
		var got struct{ Useful []*bool }
		if err := prompt.ReadJSON(reply, &got); err != nil {
			return err
		}
		if len(got.Useful) != len(s.Contexts) {
			return fmt.Errorf("it has %d verdicts for %d passages", len(got.Useful), len(s.Contexts))
		}
		sum, useful := 0.0, 0
		for i, u := range got.Useful {
			switch {
			case u == nil:
				return errors.New("a verdict is null")
			case *u:
				useful++
				sum += float64(useful) / float64(i+1)
			}
		}
		v = rag.EvalNumber(sum / float64(max(1, useful)))
		return nil
	})
	return v, err
}

func (j *Judge) correctness(ctx context.Context, round int, s *rag.EvalSample) (v rag.EvalValue, err error) {
	err = j.ask(ctx, correctnessTask, quoted("question", s.Question)+prompt.Quote("answer", s.Answer, "reference", "question")+quoted("reference", s.Reference), round, func(reply string) error {
		var got struct {
			TP *[]string `json:"true_positives"`
			FP *[]string `json:"false_positives"`
			FN *[]string `json:"false_negatives"`
		}
		if err := prompt.ReadJSON(reply, &got); err != nil {
			return err
		}
		if got.TP == nil || got.FP == nil || got.FN == nil {
			return errors.New("one of the three lists is missing")
		}
		tp, wrong := float64(len(*got.TP)), float64(len(*got.FP)+len(*got.FN))
		if tp+wrong == 0 {
			v = rag.EvalNull("neither answer nor reference makes a claim")
			return nil
		}
		v = rag.EvalNumber(tp / (tp + wrong/2))
		return nil
	})
	return v, err
}

// askedBack is how many questions an answer is turned into, as in Ragas.
const askedBack = 3

func (j *Judge) relevancy(ctx context.Context, round int, s *rag.EvalSample) (v rag.EvalValue, err error) {
	var got struct {
		Questions    []string
		Noncommittal *bool
	}
	err = j.ask(ctx, relevancyTask, prompt.Quote("answer", s.Answer), round, func(reply string) error {
		got.Questions, got.Noncommittal = nil, nil
		if err := prompt.ReadJSON(reply, &got); err != nil {
			return err
		}
		if len(got.Questions) != askedBack || got.Noncommittal == nil {
			return fmt.Errorf("it has %d questions, or does not say whether the answer is noncommittal", len(got.Questions))
		}
		for _, q := range got.Questions {
			if strings.TrimSpace(q) == "" {
				return errors.New("a question is empty")
			}
		}
		return nil
	})
	if err != nil {
		return v, err
	}
	if *got.Noncommittal {
		return rag.EvalNumber(0), nil
	}
	vectors, err := j.config.Embedder.Embed(ctx, rag.AsQuestion, append([]string{s.Question}, got.Questions...))
	if err != nil {
		return v, err
	}
	sum := 0.0
	for _, vector := range vectors[1:] {
		sum += max(0, cosine(vectors[0], vector))
	}
	return rag.EvalNumber(sum / askedBack), nil
}
