package mcpadapter

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/agent"
)

// excerpts is the data of search_documents.
type excerpts struct {
	Results []excerpt `json:"results"`
}

type excerpt struct {
	Source     string   `json:"source"`
	Similarity *float64 `json:"similarity,omitempty"` // cosine; missing where only the words were found
	Excerpt    string   `json:"excerpt"`
	Status     string   `json:"status,omitempty"` // under a validity policy
}

// courseExcerpts is how many excerpts a search gives.
const courseExcerpts = 3

func (a *Adapter) searchDocuments() *tool {
	return &tool{
		name: "search_documents", title: "Search documents", out: excerpts{}, run: runSearchDocuments,
		about:  "Find the three excerpts of the course documents that fit a question best. No model is asked.",
		params: []param{question("question or keywords")},
	}
}

// courseQuery is the question of a tool that has no other parameter.
func (c *call) courseQuery() (rag.Query, error) {
	return c.ruled(rag.Query{Text: c.args.text("query"), Collection: c.adapter.options.Collection, Progress: c.done}, c.adapter.options.Now())
}

func runSearchDocuments(ctx context.Context, c *call) (*reply, error) {
	q, err := c.courseQuery()
	if err != nil {
		return nil, err
	}
	q.TopK = courseExcerpts
	res, err := c.engine.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	c.notes = append(c.notes, res.Notes...)
	data := excerpts{Results: []excerpt{}}
	var b strings.Builder
	for i := range res.Hits {
		h := &res.Hits[i]
		e := excerpt{Source: fileName(h.Chunk.URI), Excerpt: cut(h.Chunk.Text, maxPassage), Status: h.Status}
		fmt.Fprintf(&b, "**[%d] %s**", i+1, e.Source)
		if r, ok := h.RankAt(rag.StageDense); ok {
			e.Similarity = new(rounded(r.Score))
			fmt.Fprintf(&b, " · similarity %.4f", *e.Similarity)
		}
		data.Results = append(data.Results, e)
		b.WriteString(caution(e.Status) + "\n" + quoted(e.Excerpt) + "\n\n")
	}
	if len(res.Hits) == 0 {
		b.WriteString(nothing(res.Query, res.Collection))
	}
	return &reply{text: b.String(), data: data}, nil
}

// courseAnswer is the data of ask_question.
type courseAnswer struct {
	Question string   `json:"question"`
	Intent   string   `json:"intent"`
	Answer   string   `json:"answer"`
	Sources  []string `json:"sources"` // names of files
	Status   string   `json:"status"`  // RELIABLE, TO VERIFY or NO ANSWER
}

func (a *Adapter) askQuestion() *tool {
	return &tool{
		name: "ask_question", title: "Ask a question", out: courseAnswer{}, run: runAskQuestion,
		about:  "Answer a question from the course documents, and tell how far the answer can be relied on. That it is not known is an answer.",
		params: []param{question("question")},
	}
}

func runAskQuestion(ctx context.Context, c *call) (*reply, error) {
	q, err := c.courseQuery()
	if err != nil {
		return nil, err
	}
	router, err := c.agent(ctx, agent.Course, q.Collection)
	if err != nil {
		return nil, err
	}
	answer, err := c.follow(router.AskStream(ctx, rag.AskRequest{Query: q}))
	if err != nil {
		return nil, err
	}
	data := courseAnswer{answer.Question, answer.Intent, answer.Text, []string{}, answer.Reliability}
	if answer.Refused || data.Status == "" {
		data.Status = rag.NoAnswer
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", answer.Text)
	seen := map[string]bool{}
	for i := range answer.Sources {
		s := &answer.Sources[i]
		name := fileName(s.Hit.Chunk.URI)
		fmt.Fprintf(&b, "[%d] %s%s\n", s.Number, name, caution(s.Hit.Status))
		if !seen[name] {
			seen[name] = true
			data.Sources = append(data.Sources, name)
		}
	}
	fmt.Fprintf(&b, "\nIntent: %s · Status: %s\n", data.Intent, data.Status)
	return &reply{text: b.String(), data: data}, nil
}
