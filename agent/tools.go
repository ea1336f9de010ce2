package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/analyze"
	"github.com/seed-d8745b77/rag/internal/prompt"
	"github.com/seed-d8745b77/rag/internal/strict"
)

// tool is something that the model may have called. None of them takes a condition on documents: where the agent may look is
// the caller's to say, and nothing that a document says can widen it.
type tool struct {
	rag.ChatTool
	text string // the argument that a text without a name is
	call func(ctx context.Context, r *run, arguments json.RawMessage) (string, error)
}

// callError is a mistake in a call. The model is told, and may do better.
type callError struct{ reason string }

func (e *callError) Error() string { return e.reason }

func callErrorf(format string, args ...any) error { return &callError{fmt.Sprintf(format, args...)} }

// makeTool makes a tool whose arguments are a struct; an unknown argument or one of the wrong kind is a callError.
func makeTool[A any](name, description, parameters, text string, call func(ctx context.Context, r *run, args A) (string, error)) tool {
	return tool{rag.ChatTool{Name: name, Description: description, Parameters: json.RawMessage(parameters)}, text,
		func(ctx context.Context, r *run, raw json.RawMessage) (string, error) {
			var args A
			if len(bytes.TrimSpace(raw)) == 0 {
				raw = json.RawMessage(`{}`)
			}
			if err := strict.Decode(raw, &args); err != nil {
				return "", callErrorf("the arguments of %s cannot be read: %v. They must be a JSON object like %s", name, err, parameters)
			}
			return call(ctx, r, args)
		}}
}

// tools are what an agent can do.
var tools = []tool{
	makeTool("search", "Finds the passages that answer a question or fit keywords best. Ask for one thing at a time, in the language of the documents where you know it.",
		`{"type":"object","properties":{"query":{"type":"string","description":"question or keywords"}},"required":["query"],"additionalProperties":false}`, "query", search),
	makeTool("list_topics", "Lists titles and headings of the documents, to see what there is.",
		`{"type":"object","properties":{},"additionalProperties":false}`, "", listTopics),
	makeTool("read_neighbours", "Shows the passages before and behind a source that you have, where the text goes on.",
		`{"type":"object","properties":{"source":{"type":"integer","description":"its number n"},"before":{"type":"integer","minimum":0,"maximum":3},"after":{"type":"integer","minimum":0,"maximum":3}},"required":["source"],"additionalProperties":false}`, "source", readNeighbours),
	makeTool("get_document", "Shows the document of a source that you have, ten passages at a time.",
		`{"type":"object","properties":{"source":{"type":"integer","description":"its number n"},"from":{"type":"integer","minimum":1,"description":"first passage wanted, from 1"}},"required":["source"],"additionalProperties":false}`, "source", getDocument),
}

// chatTools are the tools as a model is given them.
func chatTools() []rag.ChatTool {
	out := make([]rag.ChatTool, len(tools))
	for i, t := range tools {
		out[i] = t.ChatTool
	}
	return out
}

// invoke calls a tool and returns what the model is told. Mistakes of the model are told to it; other errors end the run.
func (r *run) invoke(ctx context.Context, c rag.ToolCall) (string, error) {
	i := slices.IndexFunc(tools, func(t tool) bool { return t.Name == c.Name })
	if i < 0 {
		names := make([]string, len(tools))
		for i, t := range tools {
			names[i] = t.Name
		}
		return fmt.Sprintf("error: there is no tool %q; there are %s", c.Name, strings.Join(names, ", ")), nil
	}
	seen, err := tools[i].call(ctx, r, tools[i].unnamed(c.Arguments))
	var bad *callError
	if errors.As(err, &bad) {
		return "error: " + bad.reason, nil
	}
	return seen, err
}

// unnamed gives a text that stands alone the name of the argument that it must be.
func (t *tool) unnamed(raw json.RawMessage) json.RawMessage {
	var alone map[string]string
	if json.Unmarshal(raw, &alone) != nil || len(alone) != 1 || t.text == "" {
		return raw
	}
	value, ok := alone[""]
	if !ok {
		return raw
	}
	if n, err := strconv.Atoi(strings.Trim(value, "[] ")); err == nil && t.text == "source" {
		return mustJSON(map[string]int{t.text: n})
	}
	return mustJSON(map[string]string{t.text: value})
}

func search(ctx context.Context, r *run, args struct {
	Query string `json:"query"`
}) (string, error) {
	query := strings.Join(strings.Fields(args.Query), " ")
	if query == "" {
		return "", callErrorf("search needs a query")
	}
	key := analyze.Fold(query)
	if found, again := r.searched[key]; again {
		return fmt.Sprintf("You have searched for this already, and the documents are the same: it found %s. Search for something else, or answer.", listNumbers(found)), nil
	}
	q := r.query
	q.Text = query
	result, err := r.engine.Search(ctx, q)
	if err != nil {
		return "", err
	}
	for _, n := range result.Notes {
		r.note(n)
	}
	numbers := []int{}
	for _, h := range result.Hits {
		numbers = append(numbers, r.table.add(h))
	}
	r.searched[key] = numbers
	if len(numbers) == 0 {
		return "No passage fits. Search with other words.", nil
	}
	return show(numbers, r.table), nil
}

func listNumbers(numbers []int) string {
	if len(numbers) == 0 {
		return "nothing"
	}
	var b strings.Builder
	for _, n := range numbers {
		fmt.Fprintf(&b, "[%d]", n)
	}
	return b.String()
}

// What list_topics lists: of few documents their main headings too.
const (
	mostTopics   = 100
	headingsOf   = 30
	topicHeading = 2 // deepest level
)

func listTopics(ctx context.Context, r *run, _ struct{}) (string, error) {
	var entries []rag.Entry
	for e, err := range r.engine.Documents(ctx, r.query.Collection) {
		if err != nil {
			return "", err
		}
		if r.sees(entryFields(&e), e.Validity) {
			entries = append(entries, e)
		}
	}
	var topics []string
	for _, e := range entries {
		title := e.Title
		if title == "" {
			title = e.URI
		}
		topics = append(topics, title)
		if len(entries) > headingsOf {
			continue
		}
		doc, err := r.engine.Document(ctx, r.query.Collection, e.URI)
		if err != nil {
			return "", err
		}
		for _, s := range doc.Sections {
			if s.Level <= topicHeading && s.Title != title {
				topics = append(topics, s.Title)
			}
		}
	}
	slices.Sort(topics)
	topics = slices.Compact(topics)
	if len(topics) == 0 {
		return "There are no documents.", nil
	}
	rest := ""
	if len(topics) > mostTopics {
		rest = fmt.Sprintf("\nand %d more", len(topics)-mostTopics)
		topics = topics[:mostTopics]
	}
	for i := range topics {
		topics[i] = prompt.Line(topics[i], longestPlace)
	}
	return strings.TrimSuffix(prompt.Quote("topics", strings.Join(topics, "\n")+rest), "\n"), nil
}

// entryFields are the values of a document that filters see.
func entryFields(e *rag.Entry) rag.Meta {
	c := rag.Chunk{URI: e.URI, DocID: e.DocID, Title: e.Title, Language: e.Language, Meta: e.Meta}
	return c.Fields()
}

// sees reports whether the caller's conditions let the agent see a text.
func (r *run) sees(fields rag.Meta, v rag.Validity) bool {
	f := r.query.Filter
	if !r.query.AsOf.IsZero() && !r.query.Expired {
		f = rag.And(f, rag.ValidAt(r.query.AsOf))
	}
	return f.Match(fields, v)
}

const mostNeighbours = 3

func readNeighbours(ctx context.Context, r *run, args struct {
	Source int  `json:"source"`
	Before *int `json:"before"`
	After  *int `json:"after"`
}) (string, error) {
	before, after := 1, 1
	if args.Before != nil {
		before = *args.Before
	}
	if args.After != nil {
		after = *args.After
	}
	if before < 0 || before > mostNeighbours || after < 0 || after > mostNeighbours {
		return "", callErrorf("before and after must be from 0 to %d", mostNeighbours)
	}
	row, at, err := r.document(ctx, args.Source)
	if err != nil {
		return "", err
	}
	return r.read(ctx, row[max(0, at-before):min(len(row), at+after+1)])
}

// pagePassages is how many passages of a document get_document shows at once.
const pagePassages = 10

func getDocument(ctx context.Context, r *run, args struct {
	Source int  `json:"source"`
	From   *int `json:"from"`
}) (string, error) {
	from := 1
	if args.From != nil {
		from = *args.From
	}
	row, _, err := r.document(ctx, args.Source)
	if err != nil {
		return "", err
	}
	if from < 1 || from > len(row) {
		return "", callErrorf("from is %d: the document has passages 1 to %d", from, len(row))
	}
	end := min(len(row), from-1+pagePassages)
	seen, err := r.read(ctx, row[from-1:end])
	if err == nil && end < len(row) {
		seen += fmt.Sprintf("passages %d to %d follow; from %d shows them.", end+1, len(row), end+1)
	}
	return seen, err
}

// document returns the passages of a source's document in order, and which of them the source is.
func (r *run) document(ctx context.Context, source int) (row []rag.ChunkRef, at int, err error) {
	s, ok := r.table.source(source)
	if !ok {
		return nil, 0, callErrorf("there is no source [%d]: you have %d", source, len(r.table.sources))
	}
	entry, err := r.engine.Entry(ctx, r.query.Collection, s.Hit.Chunk.URI)
	if err == nil {
		at = slices.IndexFunc(entry.Chunks, func(c rag.ChunkRef) bool { return c.ID == s.Hit.Chunk.ID })
	}
	if errors.Is(err, rag.ErrNotFound) || at < 0 {
		return nil, 0, callErrorf("the document of [%d] has changed since it was found: search again", source)
	}
	return entry.Chunks, at, err
}

// read shows passages of a document, as far as the caller's conditions let them be seen.
func (r *run) read(ctx context.Context, refs []rag.ChunkRef) (string, error) {
	var numbers []int
	for _, ref := range refs {
		c, err := r.engine.Chunk(ctx, r.query.Collection, ref.ID)
		if errors.Is(err, rag.ErrNotFound) {
			continue // it was replaced while we read
		}
		if err != nil {
			return "", err
		}
		if r.sees(c.Fields(), c.Validity) {
			numbers = append(numbers, r.table.add(rag.Hit{Chunk: c, Status: status(&c, r.query.AsOf)}))
		}
	}
	if len(numbers) == 0 {
		return "Nothing of it may be shown.", nil
	}
	return show(numbers, r.table), nil
}

func status(c *rag.Chunk, asOf time.Time) string { return c.Validity.Status(asOf) }
