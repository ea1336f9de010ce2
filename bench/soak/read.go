package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// reader asks, and compares what it is shown with the model.
type reader struct {
	*course
	client  *client
	rnd     *rand.Rand
	session *session
	traceID string // of its last search
}

// step does one of the things that readers do.
func (r *reader) step(ctx context.Context) error {
	p := r.model.papers[r.rnd.IntN(len(r.model.papers))]
	switch r.rnd.IntN(12) {
	case 0, 1, 2:
		return r.count("search", r.search(ctx, p))
	case 3:
		return r.count("answer", r.ask(ctx, p))
	case 4:
		return r.count("answer as a stream", r.askStream(ctx, p))
	case 5:
		return r.count("document", r.document(ctx, p))
	case 6:
		return r.count("passages of a document", r.passages(ctx, p))
	case 7, 8:
		return r.count("tool over MCP", r.tool(ctx, p))
	case 9:
		if r.rnd.IntN(8) == 0 {
			return r.count("snapshot", r.snapshot(ctx, p))
		}
	}
	return r.count("page of the dashboard", r.page(ctx, p))
}

// question asks for something that a paper says, or once said.
func (r *reader) question(p *paper) string {
	return fmt.Sprintf("which paper %d version part %d is marked mark%dv%dn0 word%d word%d?", p.number, 1+r.rnd.IntN(maxParts), p.number, r.rnd.IntN(50), r.rnd.IntN(2000), r.rnd.IntN(2000))
}

func (r *reader) post(ctx context.Context, path string, body any) ([]byte, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return r.client.do(ctx, http.MethodPost, r.client.api+path, "application/json", bytes.NewReader(b))
}

// search checks that each passage found is one of the document whose it is said to be.
func (r *reader) search(ctx context.Context, p *paper) error {
	since := r.model.since()
	mode := []string{"hybrid", "dense", "sparse"}[r.rnd.IntN(3)]
	body, err := r.post(ctx, "/v1/search", map[string]any{"query": r.question(p), "mode": mode, "top_k": 1 + r.rnd.IntN(20)})
	if err != nil {
		return err
	}
	var res struct {
		TraceID string `json:"trace_id"`
		Hits    []struct{ URI, Text string }
	}
	if err := json.Unmarshal(body, &res); err != nil {
		return err
	}
	r.traceID = res.TraceID
	for _, h := range res.Hits {
		for _, s := range parts(h.Text) {
			if want := r.model.papers[s.paper].uri(); h.URI != want {
				return fmt.Errorf("a passage of %s is said to be of %s", want, h.URI)
			}
		}
	}
	return r.check(string(body), since)
}

func (r *reader) ask(ctx context.Context, p *paper) error {
	since := r.model.since()
	body, err := r.post(ctx, "/v1/ask", map[string]any{"query": r.question(p)})
	if err != nil {
		return err
	}
	return r.check(string(body), since)
}

// askStream reads the events of an answer; one in four readers goes away before the end.
func (r *reader) askStream(ctx context.Context, p *paper) error {
	since := r.model.since()
	b, err := json.Marshal(map[string]any{"query": r.question(p)})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.client.api+"/v1/ask", bytes.NewReader(b))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	res, err := r.client.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if r.rnd.IntN(4) == 0 {
		_, err := bufio.NewReader(res.Body).ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if text := string(body); res.StatusCode == http.StatusOK && !strings.Contains(text, "event: end") && !strings.Contains(text, "event: error") {
		return fmt.Errorf("a stream without an end: %.300s", text)
	}
	return r.check(string(body), since)
}

func (r *reader) document(ctx context.Context, p *paper) error {
	since := r.model.since()[p.number]
	body, err := r.client.get(ctx, r.client.api+"/v1/document?uri="+url.QueryEscape(p.uri()))
	if missing(err) {
		return p.absent(since)
	}
	if err != nil {
		return err
	}
	return p.whole(body, since)
}

func (r *reader) passages(ctx context.Context, p *paper) error {
	since := r.model.since()[p.number]
	body, err := r.client.get(ctx, r.client.api+"/v1/document/chunks?limit=500&uri="+url.QueryEscape(p.uri()))
	if missing(err) {
		return p.absent(since)
	}
	if err != nil {
		return err
	}
	return p.whole(body, since)
}

// tool calls one of the tools.
func (r *reader) tool(ctx context.Context, p *paper) error {
	q := r.question(p)
	call := []struct {
		name string
		args map[string]any
	}{
		{"query_knowledge_hub", map[string]any{"query": q}},
		{"search", map[string]any{"query": q, "top_k": 8}},
		{"ask", map[string]any{"query": q}},
		{"search_documents", map[string]any{"query": q}},
		{"ask_question", map[string]any{"query": q}},
		{"list_collections", nil},
		{"list_topics", nil},
		{"stats", nil},
		{"get_document_summary", map[string]any{"source_hash": p.uri()}},
		{"explain_passage", map[string]any{"query": q, "text": fmt.Sprintf("This is paper %d version", p.number)}},
	}[r.rnd.IntN(10)]
	since := r.model.since()
	res, err := r.session.call(ctx, call.name, call.args)
	if err != nil {
		return fmt.Errorf("%s: %w", call.name, err)
	}
	text := textOf(res)
	if res.IsError && !strings.Contains(text, "no ") && !strings.Contains(text, "not ") { // a paper that is not there
		return fmt.Errorf("%s: %s", call.name, text)
	}
	return r.check(text, since)
}

// page looks at a page of the dashboard, or at what it shows as JSON.
func (r *reader) page(ctx context.Context, p *paper) error {
	if r.rnd.IntN(6) == 0 {
		_, err := r.client.do(ctx, http.MethodPost, r.client.pages+"/traces/query/try", "application/x-www-form-urlencoded", strings.NewReader(url.Values{"question": {r.question(p)}}.Encode()))
		return err
	}
	document := "/browse/default/doc?uri=" + url.QueryEscape(p.uri())
	pages := []string{"/", "/browse", "/validity", "/ingest", "/traces/query", "/traces/query/" + r.traceID, "/traces/ingest", "/evaluation", document, document}
	at := pages[r.rnd.IntN(len(pages))]
	since := r.model.since()
	if r.rnd.IntN(2) == 0 {
		sep := "?"
		if strings.Contains(at, "?") {
			sep = "&"
		}
		at += sep + "format=json"
	}
	body, err := r.client.get(ctx, r.client.pages+at)
	switch {
	case strings.HasPrefix(at, "/traces/"): // they tell of versions that were, and old ones go
		if missing(err) {
			return nil
		}
		return err
	case strings.HasPrefix(at, document) && missing(err):
		return p.absent(since[p.number])
	case err != nil:
		return err
	}
	return r.check(body, since)
}

// snapshot reads the folder as another process would.
func (r *reader) snapshot(ctx context.Context, p *paper) error {
	since := r.model.since()[p.number]
	eng, err := openEngine(r.client.data(), r.log, rag.WithSnapshot())
	if err != nil {
		return err
	}
	doc, err := eng.Document(ctx, "", p.uri())
	switch {
	case errors.Is(err, rag.ErrNotFound):
		err = p.absent(since)
	case err == nil:
		err = p.whole(doc.Text, since)
	}
	return errors.Join(err, eng.Close())
}

// check looks at all that a text says of papers, and counts the parts that it saw.
func (r *reader) check(text string, since []int) error {
	n, err := r.model.check(text, since)
	r.checked.Add(int64(n))
	return err
}
