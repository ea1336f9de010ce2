package mcpadapter

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-d8745b77/rag"
)

// stageEvent is a stage of a call, as it stands in the metadata of a progress notification.
type stageEvent struct {
	Stage     string  `json:"stage"`
	Intent    string  `json:"intent,omitempty"` // of routing
	Hits      *int    `json:"hits,omitempty"`
	ElapsedMS float64 `json:"elapsed_ms"` // of the stage; of the call where the stage has not ended
}

// eventKey is where the event stands in the metadata.
const eventKey = "rag/stage"

// progress tells a client that wants to know what a call is doing. A nil *progress tells nobody.
type progress struct {
	notify func(*mcp.ProgressNotificationParams)
	token  any
	start  time.Time
	now    func() time.Time

	mu    sync.Mutex
	steps float64
	stage string // the last one
}

// newProgress returns nil where the client does not ask for progress.
func newProgress(ctx context.Context, req *mcp.CallToolRequest, now func() time.Time) *progress {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	return &progress{token: token, start: now(), now: now, stage: "starting", notify: func(p *mcp.ProgressNotificationParams) {
		_ = req.Session.NotifyProgress(ctx, p) // a client that is gone needs none
	}}
}

// tell sends an event. Progress counts the events: how many there will be is not known.
func (p *progress) tell(e stageEvent, message string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps++
	p.stage = e.Stage
	p.notify(&mcp.ProgressNotificationParams{Meta: mcp.Meta{eventKey: e}, ProgressToken: p.token, Progress: p.steps, Message: message})
}

// done tells that a stage of a search has ended; it is what rag.Query.Progress is given.
func (p *progress) done(s rag.StageDone) {
	e := stageEvent{Stage: s.Stage, Hits: &s.Hits, ElapsedMS: milliseconds(s.Elapsed)}
	p.tell(e, fmt.Sprintf("%s: %s, %.1f ms", s.Stage, count(s.Hits, "hit"), e.ElapsedMS))
}

// routed tells what a router made of the question.
func (p *progress) routed(intent string, took time.Duration) {
	e := stageEvent{Stage: "routing", Intent: intent, ElapsedMS: milliseconds(took)}
	p.tell(e, fmt.Sprintf("routing: %s, %.1f ms", intent, e.ElapsedMS))
}

// begun tells that a stage has begun.
func (p *progress) begun(stage string) {
	if p != nil {
		p.tell(stageEvent{Stage: stage, ElapsedMS: milliseconds(p.now().Sub(p.start))}, stage)
	}
}

// keepAlive says every so often that the call goes on, until the returned function is called.
func (p *progress) keepAlive(every time.Duration) (stop func()) {
	if p == nil {
		return func() {}
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				p.mu.Lock()
				stage := p.stage
				p.mu.Unlock()
				took := p.now().Sub(p.start)
				p.tell(stageEvent{Stage: stage, ElapsedMS: milliseconds(took)}, fmt.Sprintf("%s: at work for %.0f s", stage, took.Seconds()))
			}
		}
	}()
	return func() { close(end); <-ended }
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
