package mcpadapter_test

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/mcpadapter"
	"github.com/seed-d8745b77/rag/ragtest"
)

// markers are those of an answer, in order.
func markers(text string) (list []int) {
	for _, m := range regexp.MustCompile(`\[(\d+)\]`).FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			n = -1
		}
		list = append(list, n)
	}
	return list
}

// TestAnswersAgreeEverywhere: whatever a model says, the answer has the same markers in text, JSON and MCP, and each names a
// source that stands there.
func TestAnswersAgreeEverywhere(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 8))
	pieces := []string{
		"The heron eats fish at dawn.", "Badgers eat worms.", " [1]", " [2]", "[7]", " 【2】", "[0]", " [1,2]", "[1-3]", "(1)", "[^2]",
		" [1](http://x.example)", "[", "]", "\n\n", " [２]", "[1][2]", " and so on", "。", " [x]",
	}
	question := map[string]any{"query": "what does the heron of red eat?"}
	cited := 0
	for range 60 {
		var reply strings.Builder
		for range 1 + rnd.IntN(12) {
			reply.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		eng := engine(t, rag.WithChatModel(&ragtest.Script{Replies: []string{reply.String()}}))
		answer, err := eng.Ask(t.Context(), rag.AskRequest{Query: rag.Query{Text: question["query"].(string)}})
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		var printed struct{ Answer string }
		if err := json.Unmarshal(raw, &printed); err != nil {
			t.Fatal(err)
		}
		text, data := call(t, connect(t, adapter(t, eng, mcpadapter.Options{Tools: []string{"ask"}}), nil), "ask", question)
		shown, _, _ := strings.Cut(text, "\nSources:")
		want := markers(answer.Text)
		cited += len(want)
		for name, got := range map[string][]int{"JSON": markers(printed.Answer), "MCP data": markers(data["answer"].(string)), "MCP text": markers(shown)} {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q: %s has other markers than the text:\n%s", reply.String(), name, diff)
			}
		}
		numbers := map[int]bool{}
		for _, s := range data["sources"].([]any) {
			numbers[int(s.(map[string]any)["n"].(float64))] = true
		}
		for _, n := range want {
			if _, ok := answer.Source(n); !ok || !numbers[n] {
				t.Errorf("%q: [%d] names no source of %q", reply.String(), n, answer.Text)
			}
		}
	}
	if cited < 30 {
		t.Errorf("%d markers in all answers: the test shows nothing", cited)
	}
}

// TestSmallTalkIsRoutedOnce: the rules say that it is small talk, and the model answers it. What is none the model is asked about
// once, and where it takes it for small talk it is searched.
func TestSmallTalkIsRoutedOnce(t *testing.T) {
	for query, want := range map[string]struct{ reply, intent, text string }{
		"write me a poem about a bird": {"A heron stands here.", "chat", "A heron stands here."},
		"what does the heron eat":      {`{"intent": "chat", "confidence": 1}`, "search", "The heron of red eats fish at dawn."},
	} {
		script := &ragtest.Script{Replies: []string{want.reply}}
		s := connect(t, adapter(t, engine(t, rag.WithChatModel(script)), mcpadapter.Options{}), nil)
		text, data := call(t, s, "query_knowledge_hub", map[string]any{"query": query})
		if !strings.Contains(text, want.text) || data["intent"] != want.intent {
			t.Errorf("%s: %q, intent %v", query, text, data["intent"])
		}
		if n := len(script.Requests()); n != 1 {
			t.Errorf("%s: the model was asked %d times", query, n)
		}
	}
}
