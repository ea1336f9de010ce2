package rerank

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
	"github.com/seed-d8745b77/rag/internal/prompt"
)

// readRanking reads which of n texts (1-based in the reply, 0-based in the result) the model named, in order. It takes
// the first JSON object or list in the reply, whatever stands around it; numbers out of range or given again are passed
// over. A reply that names less than half of the texts is no order.
func readRanking(reply string, n int) ([]int, error) {
	var given []any
	for value := range jsonValues(reply) {
		switch v := value.(type) {
		case map[string]any:
			given, _ = v["ranking"].([]any)
		case []any:
			given = v
		}
		if given != nil {
			break
		}
	}
	seen := make([]bool, n)
	var order []int
	for _, x := range given {
		if i, ok := prompt.Number(x); ok && i == math.Trunc(i) && i >= 1 && i <= float64(n) && !seen[int(i)-1] {
			seen[int(i)-1] = true
			order = append(order, int(i)-1)
		}
	}
	if 2*len(order) < n {
		return nil, unreadable(fmt.Sprintf("it orders %d of %d passages", len(order), n), reply)
	}
	return order, nil
}

// topScore is the best score that the model may give.
const topScore = 10

// readScore reads {"score": n}, or a number alone, from 0 to topScore, and returns it as a share.
func readScore(reply string) (float64, error) {
	for value := range jsonValues(reply) {
		if object, ok := value.(map[string]any); ok {
			value = object["score"]
		}
		if x, ok := prompt.Number(value); ok && x >= 0 && x <= topScore {
			return x / topScore, nil
		}
	}
	if x, err := strconv.ParseFloat(strings.TrimSpace(reply), 64); err == nil && x >= 0 && x <= topScore {
		return x / topScore, nil
	}
	return 0, unreadable("there is no score from 0 to 10 in it", reply)
}

// maxStarts is how many braces of a reply may open JSON: one with more is no reply to what was asked.
const maxStarts = 200

// jsonValues yields the objects and lists in a text, each as soon as one can be read from where it begins: models put
// fences and sentences around what they were asked for.
func jsonValues(text string) func(yield func(any) bool) {
	return func(yield func(any) bool) {
		for range maxStarts {
			at := strings.IndexAny(text, "{[")
			if at < 0 {
				return
			}
			text = text[at:]
			var v any
			dec := json.NewDecoder(strings.NewReader(text))
			if err := dec.Decode(&v); err != nil {
				text = text[1:]
				continue
			}
			if !yield(v) {
				return
			}
			text = text[dec.InputOffset():]
		}
	}
}

// unreadable is the error for a reply that gives no order.
func unreadable(why, reply string) error {
	const shown = 120 // bytes
	if len(reply) > shown {
		reply = mdtext.Cut(reply, shown) + "…"
	}
	return fmt.Errorf("llm reranker: the model's reply cannot be read, %s: %q: %w", why, reply, rag.ErrUnavailable)
}
