package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/url"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-d8745b77/rag"
)

// writer changes papers that no other writer changes, so that it knows what becomes of them.
type writer struct {
	*course
	client  *client
	rnd     *rand.Rand
	papers  []*paper
	session *session
}

// maxUpload is how many papers an upload has at most.
const maxUpload = 6

// step does one change.
func (w *writer) step(ctx context.Context) error {
	switch n := w.rnd.IntN(20); {
	case n < 3:
		return w.count("delete over HTTP", w.deleteOne(ctx))
	case n < 5:
		return w.count("delete over MCP", w.deleteByTool(ctx))
	case n < 6:
		return w.count("delete in one call", w.deleteSome(ctx))
	case n < 8:
		return w.count("upload, cancelled, and again", w.cancelled(ctx))
	}
	return w.count("upload", w.upload(ctx, w.some()))
}

// some chooses papers.
func (w *writer) some() []*paper {
	var all []*paper
	for _, i := range w.rnd.Perm(len(w.papers))[:1+w.rnd.IntN(min(maxUpload, len(w.papers)))] {
		all = append(all, w.papers[i])
	}
	return all
}

// job is what the server says of one.
type job struct {
	ID     string            `json:"job_id"`
	State  string            `json:"state"`
	Error  string            `json:"error"`
	Report *rag.IngestReport `json:"report"`
}

// upload sends new versions of papers and waits until they are ingested.
func (w *writer) upload(ctx context.Context, papers []*paper) error {
	versions := make([]int, len(papers))
	for i, p := range papers {
		versions[i] = p.begin(false)
	}
	j, err := w.send(ctx, papers, versions)
	if err != nil {
		return err
	}
	if j, err = w.wait(ctx, j.ID); err != nil {
		return err
	}
	if j.State != "done" || j.Report == nil || j.Report.Added+j.Report.Updated != len(papers) {
		return fmt.Errorf("the upload of %d papers ends %s: %s %+v", len(papers), j.State, j.Error, j.Report)
	}
	for i, p := range papers {
		p.settle(versions[i])
	}
	return nil
}

// cancelled sends new versions and cancels the job: each paper is then as it was or as it was sent. Sent again, they are there.
func (w *writer) cancelled(ctx context.Context) error {
	papers := w.some()
	versions := make([]int, len(papers))
	for i, p := range papers {
		versions[i] = p.begin(false)
	}
	j, err := w.send(ctx, papers, versions)
	if err != nil {
		return err
	}
	pause(ctx, time.Duration(w.rnd.IntN(20))*time.Millisecond)
	if _, err := w.client.do(ctx, http.MethodPost, w.client.api+"/v1/jobs/"+j.ID+"/cancel", "", nil); err != nil {
		return err
	}
	if _, err := w.wait(ctx, j.ID); err != nil {
		return err
	}
	return w.upload(ctx, papers)
}

func (w *writer) send(ctx context.Context, papers []*paper, versions []int) (j job, err error) {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for i, p := range papers {
		f, err := form.CreateFormFile("file", p.name())
		if err != nil {
			return j, err
		}
		if _, err := f.Write([]byte(p.text(versions[i]))); err != nil {
			return j, err
		}
	}
	if err := form.Close(); err != nil {
		return j, err
	}
	body, err := w.client.do(ctx, http.MethodPost, w.client.api+"/v1/ingest", form.FormDataContentType(), &b)
	if err != nil {
		return j, err
	}
	return j, json.Unmarshal(body, &j)
}

// wait follows the events of a job to its end.
func (w *writer) wait(ctx context.Context, id string) (j job, err error) {
	if _, err := w.client.get(ctx, w.client.api+"/v1/jobs/"+id+"/events"); err != nil {
		return j, err
	}
	body, err := w.client.get(ctx, w.client.api+"/v1/jobs/"+id)
	if err != nil {
		return j, err
	}
	return j, json.Unmarshal([]byte(body), &j)
}

// deleteOne deletes a paper, which may not be there.
func (w *writer) deleteOne(ctx context.Context) error {
	p := w.papers[w.rnd.IntN(len(w.papers))]
	v := p.begin(true)
	_, err := w.client.do(ctx, http.MethodDelete, w.client.api+"/v1/document?uri="+url.QueryEscape(p.uri()), "", nil)
	if err != nil && !missing(err) {
		return err
	}
	p.settle(v)
	return nil
}

// deleteByTool does the same over MCP.
func (w *writer) deleteByTool(ctx context.Context) error {
	p := w.papers[w.rnd.IntN(len(w.papers))]
	since := w.model.since()[p.number]
	v := p.begin(true)
	res, err := w.session.call(ctx, "delete_document", map[string]any{"document": p.uri()})
	if err != nil {
		return err
	}
	if res.IsError { // there is none: was that so?
		p.mu.Lock()
		there := !p.gone[since]
		p.mu.Unlock()
		if there {
			return fmt.Errorf("delete_document %s: %s", p.uri(), textOf(res))
		}
	}
	p.settle(v)
	return nil
}

// deleteSome deletes several papers in one call of the engine.
func (w *writer) deleteSome(ctx context.Context) error {
	papers := w.some()
	var uris []string
	versions := make([]int, len(papers))
	for i, p := range papers {
		uris = append(uris, p.uri())
		versions[i] = p.begin(true)
	}
	if _, err := w.client.engine.Delete(ctx, rag.DeleteRequest{URIs: uris}); err != nil && !errors.Is(err, rag.ErrNotFound) {
		return err
	}
	for i, p := range papers {
		p.settle(versions[i])
	}
	return nil
}

// pause waits, or until the context is done.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// session is a client's connection over MCP, which is made anew after sessionCalls calls.
type session struct {
	client *client
	calls  int
	live   *mcp.ClientSession
}

const sessionCalls = 50

func (s *session) call(ctx context.Context, tool string, args map[string]any) (*mcp.CallToolResult, error) {
	if s.calls++; s.live == nil || s.calls%sessionCalls == 0 {
		if err := s.close(); err != nil {
			return nil, err
		}
		var err error
		c := mcp.NewClient(&mcp.Implementation{Name: "soak", Version: "1"}, nil)
		if s.live, err = c.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: s.client.mcp + "/mcp", HTTPClient: s.client.http, MaxRetries: -1}, nil); err != nil {
			return nil, err
		}
	}
	return s.live.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
}

func (s *session) close() error {
	if s.live == nil {
		return nil
	}
	defer func() { s.live = nil }()
	return s.live.Close()
}

// textOf is the text of a tool's result.
func textOf(res *mcp.CallToolResult) string {
	var all string
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			all += t.Text + "\n"
		}
	}
	return all
}
