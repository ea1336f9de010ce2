package rewrite_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/rewrite"
)

func TestDecomposeByRules(t *testing.T) {
	d, err := rewrite.NewDecompose(nil, rewrite.DecomposeConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for question, want := range map[string][]string{
		"How long is the notice period?":                                               nil,
		"terms and conditions":                                                         nil,
		"What is the notice period? How many days of leave are there?":                 {"What is the notice period?", "How many days of leave are there?"},
		"Who pays? And when? And how? And why?":                                        {"Who pays?", "And when? pays", "And how? pays"},
		"What is the notice period and how many days of leave do I get?":               {"What is the notice period", "how many days of leave do I get?"},
		"Compare plan A with plan B.":                                                  {"plan A", "plan B"},
		"Please compare BM25 and dense retrieval in terms of speed":                    {"BM25 in terms of speed", "dense retrieval in terms of speed"},
		"compare İzmir'in KİRASI of interns with OF managers":                          {"İzmir'in KİRASI of interns", "İzmir'in KİRASI OF managers"}, // shorter in lower case
		"What is the difference between the notice period of interns and of managers?": {"the notice period of interns", "the notice period of managers"},
		"How does HNSW differ from a flat index?":                                      {"HNSW", "a flat index"},
		"Postgres vs. MySQL":                                                           {"Postgres", "MySQL"},
		"Quelle est la différence entre un stage et une alternance ?":                  {"un stage", "une alternance"},
		"Was ist der Unterschied zwischen Urlaub und Sonderurlaub?":                    {"Urlaub", "Sonderurlaub"},
		"¿Cuáles son las diferencias entre el plan básico y el plan completo?":         {"el plan básico", "el plan completo"},
		"比较一下年假和病假":                                                                    {"年假", "病假"},
		"2025年和2026年的数据科学硕士有什么不同？":                                                     {"2025年的数据科学硕士", "2026年的数据科学硕士"},
		"Who pays for it and who signs it off?":                                        {"Who pays for it", "who signs it off? pays"},
		"年假和病假有什么区别？":                                                                  {"年假", "病假"},
		"年假有几天？怎么申请？":                                                                  {"年假有几天？", "怎么申请？ 年假 天"},
		"what?!":                                                                       nil,
		"???":                                                                          nil,
		"compare  with ":                                                               nil,
	} {
		got, err := d.Rewrite(t.Context(), rag.RewriteRequest{Query: question})
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, q := range got.Also {
			texts = append(texts, q.Text)
			if q.Weight != 0.5 || q.Role != "" {
				t.Errorf("%q: sub-query %+v", question, q)
			}
		}
		if diff := cmp.Diff(want, texts); diff != "" || got.Text != "" {
			t.Errorf("%q (-want +got):\n%s", question, diff)
		}
	}
}

// A text of signs, such as comes by accident, costs no more than another.
func TestRulesOnALongText(t *testing.T) {
	d, err := rewrite.NewDecompose(nil, rewrite.DecomposeConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"？", "a? ", "a vs ", "compare a and ", "it, "} {
		if _, err := d.Rewrite(t.Context(), rag.RewriteRequest{Query: strings.Repeat(part, 1<<14)}); err != nil {
			t.Error(err)
		}
	}
}

func TestFollowUpByRules(t *testing.T) {
	h, err := rewrite.NewHistory(nil, rewrite.HistoryConfig{})
	if err != nil {
		t.Fatal(err)
	}
	talk := func(questions ...string) (turns []rag.ChatMessage) {
		for _, q := range questions {
			turns = append(turns, rag.ChatMessage{Role: rag.RoleUser, Text: q}, rag.ChatMessage{Role: rag.RoleAssistant, Text: "An answer about bicycles."})
		}
		return turns
	}
	leave := "How much annual leave do employees get?"
	for _, tt := range []struct {
		question string
		turns    []rag.ChatMessage
		want     string
	}{
		{"Where do they live?", talk("Tell me about owls"), "Where do they live? owls"},
		{"And in Germany?", talk(leave), "And in Germany? annual leave employees"},
		{"How long does it last in Germany?", talk(leave), "How long does it last in Germany? annual leave employees"},
		{"What is the deadline for this?", talk("tuition fee refunds"), "What is the deadline for this? tuition fee refunds"},
		{"And its price?", talk("the red bicycle", "what about its weight?"), "And its price? weight red bicycle"},
		{"Et pour les stagiaires ?", talk("Combien de jours de congé annuel ?"), "Et pour les stagiaires ? jours congé annuel"},
		{"Und wie lange dauert sie?", talk("Wie beantrage ich Elternzeit?"), "Und wie lange dauert sie? beantrage Elternzeit"},
		{"它有几天？", talk("年假怎么申请？"), "它有几天？ 年假 申请"},
		// Questions of their own.
		{"How long is the notice period?", talk(leave), ""},
		{"What is BM25 and how does it work?", talk(leave), ""},
		{"If an employee is ill, must they call?", talk(leave), ""},
		{"Can an employee carry over their leave?", talk("bicycles"), ""},
		{"Is it possible to carry leave over?", talk("bicycles"), ""},
		{"病假怎么申请？", talk("年假有几天？"), ""},
		// Nothing to add.
		{"Where do they live?", nil, ""},
		{"Where do they live?", talk("and you?"), ""},
		{"Where do owls live, and them?", talk("owls live"), ""},
	} {
		got, err := h.Rewrite(t.Context(), rag.RewriteRequest{Query: tt.question, Turns: tt.turns})
		if err != nil {
			t.Fatal(err)
		}
		if got.Text != tt.want || len(got.Also) != 0 {
			t.Errorf("%q: got %q, want %q", tt.question, got.Text, tt.want)
		}
	}
}

func FuzzRules(f *testing.F) {
	for _, q := range []string{"compare a of b with of c?", "what? and it?", "年假和病假有什么区别？", "\xff?", "vs vs vs", "compare >/\xec̥\xf5\x16\xcea of b with of c"} {
		f.Add(q, q)
	}
	d, err := rewrite.NewDecompose(nil, rewrite.DecomposeConfig{})
	if err != nil {
		f.Fatal(err)
	}
	h, err := rewrite.NewHistory(nil, rewrite.HistoryConfig{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, question, before string) {
		got, err := d.Rewrite(t.Context(), rag.RewriteRequest{Query: question})
		if err != nil || len(got.Also) > rewrite.Most {
			t.Fatalf("%q: %+v, %v", question, got, err)
		}
		for _, q := range got.Also {
			if strings.TrimSpace(q.Text) == "" {
				t.Errorf("%q: an empty part", question)
			}
		}
		got, err = h.Rewrite(t.Context(), rag.RewriteRequest{Query: question, Turns: []rag.ChatMessage{{Role: rag.RoleUser, Text: before}}})
		if err != nil || got.Text != "" && !strings.HasPrefix(got.Text, question) {
			t.Errorf("%q after %q: %+v, %v", question, before, got, err)
		}
	})
}

func TestContract(t *testing.T) {
	answers := func() *ragtest.Script {
		return &ragtest.Script{Replies: []string{`{"questions": ["another wording", "a third"], "passage": "It is so.", "question": "What is meant?"}`}}
	}
	for name, open := range map[string]func(*ragtest.Script) (rag.QueryTransformer, error){
		"multi_query": func(m *ragtest.Script) (rag.QueryTransformer, error) {
			return rewrite.NewMultiQuery(m, rewrite.MultiQueryConfig{})
		},
		"step_back": func(m *ragtest.Script) (rag.QueryTransformer, error) {
			return rewrite.NewStepBack(m, rewrite.StepBackConfig{})
		},
		"hyde": func(m *ragtest.Script) (rag.QueryTransformer, error) { return rewrite.NewHyDE(m, rewrite.HyDEConfig{}) },
		"decompose": func(m *ragtest.Script) (rag.QueryTransformer, error) {
			return rewrite.NewDecompose(m, rewrite.DecomposeConfig{})
		},
		"history": func(m *ragtest.Script) (rag.QueryTransformer, error) {
			return rewrite.NewHistory(m, rewrite.HistoryConfig{})
		},
		"decompose by rules": func(*ragtest.Script) (rag.QueryTransformer, error) {
			return rewrite.NewDecompose(nil, rewrite.DecomposeConfig{Mode: rewrite.Rules})
		},
		"history by rules": func(*ragtest.Script) (rag.QueryTransformer, error) {
			return rewrite.NewHistory(nil, rewrite.HistoryConfig{Mode: rewrite.Rules})
		},
	} {
		t.Run(name, func(t *testing.T) {
			ragtest.TestQueryTransformer(t, func(t *testing.T) rag.QueryTransformer {
				made, err := open(answers())
				if err != nil {
					t.Fatal(err)
				}
				return made
			})
		})
	}
}
