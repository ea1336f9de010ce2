package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// Action is what is done with a question.
type Action string

// The actions.
const (
	ActChat    Action = "chat"    // small talk: answered without a search; only rules choose it, never a model
	ActSearch  Action = "search"  // passages are searched and the question is answered from them
	ActFilter  Action = "filter"  // as search, among the documents that the question names
	ActCompare Action = "compare" // as search, once for each side, and what is found is put together
	ActRefuse  Action = "refuse"  // neither searched nor answered
)

var actions = []string{string(ActChat), string(ActSearch), string(ActFilter), string(ActCompare), string(ActRefuse)}

// Label is a kind of question, and what is done with it.
type Label struct {
	Name          string   `json:"name"`                                // lower case; what Answer.Intent says
	Action        Action   `json:"action"`                              // "": search
	Description   string   `json:"description"`                         // one sentence for the model that chooses
	Words         []string `json:"words"`                               // words and phrases by which it is known where no model chooses; case, accents and plural s do not matter
	TopK          int      `json:"top_k" range:"[0,10000]"`             // passages given to the answer; 0: as configured
	ContextTokens int      `json:"context_tokens" range:"[0,10000000]"` // of passages given to the answer; 0: as configured
	Filter        string   `json:"filter"`                              // condition on documents, in the text form of filters; "": none
}

// LabelSet is a closed list of labels.
type LabelSet struct {
	Labels  []Label // in the order in which rules try them
	Default string  // of questions that nothing else fits; "": the label "search", whether it is in the list or not
}

// Names of the built-in sets.
const (
	Hub    = "hub"    // chat, search, filter, compare
	Course = "course" // definition, exercise, comparison, summary, off_topic
)

// BuiltinLabels returns a built-in set; an unknown name is ErrInvalid.
func BuiltinLabels(name string) (LabelSet, error) {
	switch name {
	case Hub:
		return hubLabels(), nil
	case Course:
		return courseLabels(), nil
	}
	return LabelSet{}, rag.UnknownName("labels", name, []string{Hub, Course})
}

func hubLabels() LabelSet {
	return LabelSet{Default: "search", Labels: []Label{
		{Name: "chat", Action: ActChat, Description: "a greeting, thanks, small talk, a request to write or translate something, or a question about the assistant itself"},
		{Name: "compare", Action: ActCompare, Description: "asks how two or three named things differ, or which of them is better"},
		{Name: "filter", Action: ActFilter, Description: "asks only among documents of an author, kind, date or collection that the question names"},
		{Name: "search", Action: ActSearch, Description: "every other question of fact, whatever its subject"},
	}}
}

// Summaries and comparisons get more context than the three excerpts of other questions.
const (
	courseExcerpts = 3
	courseBroad    = 8
)

func courseLabels() LabelSet {
	return LabelSet{Default: "definition", Labels: []Label{
		{Name: "comparison", Action: ActCompare, TopK: courseBroad, Description: "asks how two or more notions differ, or which is better"},
		{Name: "summary", Action: ActSearch, TopK: courseBroad, Description: "asks for a summary or an overview, or for what several documents say together", Words: summaryWords},
		{Name: "exercise", Action: ActSearch, TopK: courseExcerpts, Description: "is about an exercise, tutorial, assignment or exam: its text, solution, points or rules", Words: exerciseWords},
		{Name: "definition", Action: ActSearch, TopK: courseExcerpts, Description: "asks what a notion of the course means or how it works", Words: definitionWords},
		{Name: "off_topic", Action: ActRefuse, Description: "has nothing to do with the course: small talk, news, shopping, travel, cooking"},
	}}
}

// Words of the labels of a course, in English, French, German, Spanish and Chinese.
var (
	summaryWords = []string{
		"summary", "summarize", "summarise", "overview", "tl dr", "tldr", "main point", "key point", "recap",
		"resume", "resumer", "resumez", "synthese", "vue d'ensemble", "grandes lignes",
		"zusammenfassung", "zusammenfassen", "fasse zusammen", "uberblick", "resumen", "resumir", "总结", "概括", "概述", "摘要", "综述",
	}
	exerciseWords = []string{
		"exercise", "exam", "midterm", "tutorial", "assignment", "homework", "solution of question", "problem set", "quiz", "deadline", "submit", "hand in", "mark", "grade",
		"exercice", "examen", "partiel", "devoir", "td", "rattrapage", "note", "rendre", "bareme",
		"ubung", "ubungsblatt", "aufgabe", "klausur", "prufung", "hausaufgabe", "ejercicio", "tarea", "parcial",
		"习题", "练习", "作业", "考试", "期中", "期末", "试题", "真题", "答案",
	}
	definitionWords = []string{
		"what is", "what are", "what's", "define", "definition", "meaning of", "what does", "explain", "why",
		"c'est quoi", "qu'est ce", "definir", "que signifie", "explique", "comment fonctionne", "pourquoi",
		"was ist", "was sind", "definiere", "erklare", "que es", "define", "什么是", "是什么", "定义", "含义", "解释", "为什么",
	}
)

// check completes the set and finds what cannot be right in it.
func (s *LabelSet) check() error {
	if len(s.Labels) == 0 {
		return fmt.Errorf("the set of labels is empty: %w", rag.ErrInvalid)
	}
	seen := map[string]bool{}
	s.Labels = slices.Clone(s.Labels)
	for i := range s.Labels {
		l := &s.Labels[i]
		if l.Action == "" {
			l.Action = ActSearch
		}
		_, err := l.filter()
		switch {
		case l.Name == "" || l.Name != strings.ToLower(strings.TrimSpace(l.Name)):
			return fmt.Errorf("label %q: the name must be in lower case and not empty: %w", l.Name, rag.ErrInvalid)
		case seen[l.Name]:
			return fmt.Errorf("label %q stands twice: %w", l.Name, rag.ErrInvalid)
		case !slices.Contains(actions, string(l.Action)):
			return rag.UnknownName(fmt.Sprintf("%d.action", i), string(l.Action), actions)
		case l.TopK < 0 || l.ContextTokens < 0:
			return fmt.Errorf("label %q: top_k and context_tokens must not be below 0: %w", l.Name, rag.ErrInvalid)
		case err != nil:
			return fmt.Errorf("label %q: filter: %w", l.Name, err)
		}
		seen[l.Name] = true
	}
	if s.Default == "" {
		s.Default = string(ActSearch)
	}
	if s.Default != string(ActSearch) && !seen[s.Default] {
		return fmt.Errorf("the default label %q is not in the set: %w", s.Default, rag.ErrInvalid)
	}
	return nil
}

// filter is the label's own condition.
func (l Label) filter() (rag.Filter, error) {
	if l.Filter == "" {
		return rag.Filter{}, nil
	}
	return rag.ParseFilter(l.Filter)
}

// named returns the label of this name. What is in no list is searched.
func (s *LabelSet) named(name string) Label {
	for _, l := range s.Labels {
		if l.Name == name {
			return l
		}
	}
	return Label{Name: name, Action: ActSearch}
}

// first returns the first label that does one of these things, in the order asked; ok is false if none does.
func (s *LabelSet) first(wanted ...Action) (l Label, ok bool) {
	for _, a := range wanted {
		for _, l := range s.Labels {
			if l.Action == a {
				return l, true
			}
		}
	}
	return Label{}, false
}
