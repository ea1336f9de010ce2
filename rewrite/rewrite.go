// Package rewrite has query transformers: what a search makes of a question before it looks it up.
//
//	engine, err := rag.Open(dir, rag.WithChatModel(model), rag.WithConfig(config)) // config.QueryTransforms: history, decompose, hyde
//
// [History] makes a question of its own of a follow-up, [Decompose] finds the parts of a question, [MultiQuery] other
// wordings, [StepBack] a more general question, and [HyDE] writes a passage such as an answer may stand in. The first two
// have rules for what is plain, and do without a chat model; what the others add only a model can know.
//
// A model is shown the question as data, replies in JSON, and is given what it finds hard twice. Replies are remembered, so
// that a question asked again costs nothing. All transformers are safe for concurrent use if the model is.
package rewrite

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/prompt"
)

// Modes of the transformers that have rules.
const (
	Rules = "rules"
	LLM   = "llm" // with the rules to fall back on
)

// modeFor checks a mode and fills in the default: LLM where there is a model.
func modeFor(mode string, model rag.ChatModel) (string, error) {
	switch mode {
	case "":
		if model == nil {
			return Rules, nil
		}
		return LLM, nil
	case Rules, LLM:
		return mode, nil
	}
	return "", rag.UnknownName("mode", mode, []string{Rules, LLM})
}

// Most is the most texts that a transformer finds for a question: each asks both indexes.
const Most = 3

// checkMost checks a number of texts and fills in the default.
func checkMost(method string, n int) (int, error) {
	if n < 0 || n > Most {
		return 0, fmt.Errorf("%s: max is %d: it must be from 1 to %d: %w", method, n, Most, rag.ErrInvalid)
	}
	if n == 0 {
		return Most, nil
	}
	return n, nil
}

// checkWeight checks a weight of texts and fills in the default.
func checkWeight(method string, weight, otherwise float64) (float64, error) {
	if !(weight >= 0) || weight-weight != 0 { // not a number, or infinite
		return 0, fmt.Errorf("%s: weight is %v: it must not be negative: %w", method, weight, rag.ErrInvalid)
	}
	if weight == 0 {
		return otherwise, nil
	}
	return weight, nil
}

// besideQuestion is the default weight of another question: half of the user's own words. With parts that weighed as much
// as the whole, passages of the whole were lost, see docs/adr/0030.
const besideQuestion = 0.5

// longestQuestion is the most bytes of a question that a model gives: longer ones explain instead of asking.
const longestQuestion = 400

// questionsSchema is that of a reply with questions.
var questionsSchema = json.RawMessage(`{"type":"object","properties":{"questions":{"type":"array","items":{"type":"string"}}},"required":["questions"],"additionalProperties":false}`)

// askQuestions asks for up to most questions beside the one given.
func (a *asker) askQuestions(ctx context.Context, query string, most int) ([]string, asked, error) {
	var found []string
	did, err := a.ask(ctx, prompt.Quote("question", query), func(reply string) error {
		var r struct{ Questions []string }
		if err := prompt.ReadJSON(reply, &r); err != nil {
			return err
		}
		found = distinct(query, r.Questions, most)
		return nil
	})
	return found, did, err
}

// distinct returns the first texts that are neither empty nor the question nor one before, whatever their case.
func distinct(query string, texts []string, most int) []string {
	seen := []string{query}
	for _, text := range texts {
		text = oneLine(text, longestQuestion)
		if text != "" && len(seen) <= most && !slices.ContainsFunc(seen, func(s string) bool { return strings.EqualFold(s, text) }) {
			seen = append(seen, text)
		}
	}
	return seen[1:]
}

// subQueries gives texts a weight.
func subQueries(texts []string, weight float64) []rag.SubQuery {
	var also []rag.SubQuery
	for _, text := range texts {
		also = append(also, rag.SubQuery{Text: text, Weight: weight})
	}
	return also
}
