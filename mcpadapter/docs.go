package mcpadapter

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/agent"
)

// searched is the data of search.
type searched struct {
	Results []snippet `json:"results"`
}

type snippet struct {
	ChunkID string  `json:"chunk_id"`
	Source  string  `json:"source"`
	Section string  `json:"section"`
	Score   float64 `json:"score"`            // four decimals
	Snippet string  `json:"snippet"`          // at most 200 characters
	Status  string  `json:"status,omitempty"` // under a validity policy
}

const maxSnippet = 200

// filterParam is a condition that the caller may add; what a principal is forced to holds besides. It names the fields that
// domains have.
func (a *Adapter) filterParam() param {
	p := param{name: "filter", kind: textKind, about: `condition on metadata, such as: year >= 2025 and country = "uk"`}
	for _, d := range a.options.Domains {
		if names := filterable(d); len(names) > 0 {
			p.about += fmt.Sprintf("; fields of %s: %s", d.Name, strings.Join(names, ", "))
		}
	}
	return p
}

func (a *Adapter) search() *tool {
	return &tool{
		name: "search", title: "Search", out: searched{}, run: runSearch,
		about:  "Find passages by meaning and by words, best first. Use it before answering from memory.",
		params: []param{question("question or keywords"), topK(), a.collectionParam(), a.filterParam()},
	}
}

// query makes the engine's query of the arguments.
func (c *call) query() (rag.Query, error) {
	q := rag.Query{Text: c.args.text("query"), TopK: c.args.whole("top_k"), Collection: c.args.text("collection"), Progress: c.done}
	if text := c.args.text("filter"); text != "" {
		f, err := rag.ParseFilter(text)
		if err != nil {
			return q, fmt.Errorf("filter: %w", err)
		}
		q.Filter = f
	}
	return c.ruled(q, c.adapter.options.Now())
}

func runSearch(ctx context.Context, c *call) (*reply, error) {
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	res, err := c.engine.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	c.notes = append(c.notes, res.Notes...)
	data := searched{Results: []snippet{}}
	var b strings.Builder
	for i := range res.Hits {
		h := &res.Hits[i]
		s := snippet{h.Chunk.ID, fileName(h.Chunk.URI), section(&h.Chunk), rounded(h.Score), cut(strings.Join(strings.Fields(h.Chunk.Text), " "), maxSnippet), h.Status}
		data.Results = append(data.Results, s)
		fmt.Fprintf(&b, "**[%d] %s** · %s · score %.4f%s\n> %s\n\n", i+1, s.Source, s.Section, s.Score, caution(s.Status), s.Snippet)
	}
	if len(res.Hits) == 0 {
		b.WriteString(nothing(res.Query, res.Collection))
	}
	return &reply{text: b.String(), data: data}, nil
}

// answered is the data of ask.
type answered struct {
	Question    string         `json:"question"`
	Answer      string         `json:"answer"`
	Refused     bool           `json:"refused"`
	Reliability string         `json:"reliability"`
	NeedsReview bool           `json:"needs_review"`
	Sources     []answerSource `json:"sources"`
	TraceID     string         `json:"trace_id"`
}

type answerSource struct {
	N       int     `json:"n"`
	Source  string  `json:"source"`
	Section string  `json:"section"`
	Score   float64 `json:"score"`
	URI     string  `json:"uri"`
	Status  string  `json:"status,omitempty"` // under a validity policy
}

func (a *Adapter) ask() *tool {
	return &tool{
		name: "ask", title: "Ask", out: answered{}, run: runAsk,
		about:  "Answer a question from the documents, every statement with its source [n]. Refuses where they do not tell.",
		params: []param{question("question"), topK(), a.collectionParam(), a.filterParam()},
	}
}

func runAsk(ctx context.Context, c *call) (*reply, error) {
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	router, err := c.agent(ctx, agent.Hub, q.Collection)
	if err != nil {
		return nil, err
	}
	answer, err := c.follow(router.AskStream(ctx, rag.AskRequest{Query: q}))
	if err != nil {
		return nil, err
	}
	data := answered{
		Question: answer.Question, Answer: answer.Text, Refused: answer.Refused, Reliability: answer.Reliability, NeedsReview: answer.NeedsReview,
		Sources: []answerSource{}, TraceID: answer.TraceID,
	}
	var b strings.Builder
	b.WriteString(answer.Text + "\n")
	if answer.Refused && answer.Reason != "" {
		fmt.Fprintf(&b, "\n_%s_\n", answer.Reason)
	}
	if len(answer.Sources) > 0 {
		b.WriteString("\nSources:\n")
	}
	for i := range answer.Sources {
		s := &answer.Sources[i]
		one := answerSource{s.Number, fileName(s.Hit.Chunk.URI), section(&s.Hit.Chunk), rounded(s.Hit.Score), resourceURI(answer.Collection, s.Hit.Chunk.DocID), s.Hit.Status}
		data.Sources = append(data.Sources, one)
		fmt.Fprintf(&b, "[%d] %s · %s%s\n", one.N, one.Source, one.Section, caution(one.Status))
	}
	if !answer.Refused && answer.Reliability != "" {
		fmt.Fprintf(&b, "\nReliability: %s\n", answer.Reliability)
	}
	return &reply{text: b.String(), data: data}, nil
}

// follow reads an answer to its end, and tells its stages.
func (c *call) follow(events iter.Seq2[rag.AnswerEvent, error]) (*rag.Answer, error) {
	var answer *rag.Answer
	for event, err := range events {
		switch {
		case err != nil:
			return nil, err
		case event.Stage != "":
			c.begun(event.Stage)
		case event.Answer != nil:
			answer = event.Answer
		}
	}
	c.notes = append(c.notes, answer.Notes...)
	return answer, nil
}

// topics is the data of list_topics.
type topics struct {
	Topics    []string `json:"topics"`
	Truncated bool     `json:"truncated"` // there are more
}

// maxTopics keeps the list in what a host reads.
const maxTopics = 500

func (a *Adapter) listTopics() *tool {
	return &tool{
		name: "list_topics", title: "List topics", out: topics{}, run: runListTopics,
		about:  "List the sections that the documents have.",
		params: []param{a.collectionParam()},
	}
}

func runListTopics(ctx context.Context, c *call) (*reply, error) {
	all, err := c.sections(ctx, c.args.text("collection"))
	if err != nil {
		return nil, err
	}
	data := topics{Topics: all.first, Truncated: all.total > len(all.first)}
	text := "- " + strings.Join(data.Topics, "\n- ")
	if data.Truncated {
		text += fmt.Sprintf("\n\n%d more are not listed.", all.total-len(all.first))
	}
	return &reply{text: text, data: data}, nil
}

// topicList is the distinct sections of a collection: the first maxTopics, sorted, and how many there are.
type topicList struct {
	first []string
	total int
}

func (v *view) sections(ctx context.Context, collection string) (topicList, error) {
	return v.topics.get(ctx, v.engine, collection, func() (topicList, error) {
		seen := map[string]bool{}
		for chunk, err := range v.engine.Chunks(ctx, collection, rag.Filter{}) {
			if err != nil {
				return topicList{}, err
			}
			seen[section(&chunk)] = true
		}
		all := append([]string{}, slices.Sorted(maps.Keys(seen))...)
		return topicList{slices.Clone(all[:min(len(all), maxTopics)]), len(all)}, nil
	})
}

// statistics is the data of stats.
type statistics struct {
	Chunks  int `json:"n_chunks"`
	Sources int `json:"n_sources"`
	Topics  int `json:"n_topics"`
	Dim     int `json:"dim"` // length of a vector; 0: the collection has none
}

func (a *Adapter) stats() *tool {
	return &tool{
		name: "stats", title: "Statistics", out: statistics{}, run: runStats,
		about:  "Count passages, documents and sections of a collection.",
		params: []param{a.collectionParam()},
	}
}

func runStats(ctx context.Context, c *call) (*reply, error) {
	info, err := collectionInfo(ctx, c.engine, c.args.text("collection"))
	if err != nil {
		return nil, err
	}
	all, err := c.sections(ctx, info.Name)
	if err != nil {
		return nil, err
	}
	s := statistics{info.Chunks, info.Documents, all.total, info.Header.Dims}
	return &reply{text: fmt.Sprintf("%s of %s in %s; vectors of length %d.", count(s.Chunks, "passage"), count(s.Sources, "document"), count(s.Topics, "section"), s.Dim), data: s}, nil
}
