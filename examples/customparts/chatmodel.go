package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"

	"github.com/seed-d8745b77/rag"
)

// House is a chat model behind a service of one's own: it takes {"messages": [{"role", "text"}]} and sends lines of
// {"text"}, the last one with "stop". A service that speaks OpenAI's protocol needs no code, see docs/llm.md.
type House struct {
	URL, Key string
	Client   *http.Client
}

// Chat streams a reply. It sends nothing before the sequence is ranged over.
func (h House) Chat(ctx context.Context, req rag.ChatRequest) iter.Seq2[rag.ChatDelta, error] {
	return func(yield func(rag.ChatDelta, error) bool) {
		ctx, cancel := context.WithCancel(ctx) // breaking out ends the request
		defer cancel()
		body, err := h.ask(ctx, req)
		if err != nil {
			yield(rag.ChatDelta{}, cmp.Or(context.Cause(ctx), err))
			return
		}
		defer body.Close()
		for pieces := json.NewDecoder(body); ; {
			var piece struct {
				Text  string
				Stop  string
				Usage rag.ChatUsage
			}
			if err := pieces.Decode(&piece); err != nil { // also where it ends without "stop"
				yield(rag.ChatDelta{}, cmp.Or(context.Cause(ctx), fmt.Errorf("the reply broke off: %w", rag.ErrUnavailable)))
				return
			}
			if !yield(rag.ChatDelta{Text: piece.Text, Stop: piece.Stop, Usage: piece.Usage}, nil) || piece.Stop != "" {
				return
			}
		}
	}
}

// ask sends the request and returns the reply's body.
func (h House) ask(ctx context.Context, req rag.ChatRequest) (io.ReadCloser, error) {
	type message struct {
		Role string `json:"role"`
		Text string `json:"text"`
	}
	var out struct {
		Messages []message `json:"messages"`
	}
	for _, m := range req.Messages {
		switch {
		case len(m.Images) > 0 || len(req.Tools) > 0 || m.Role == rag.RoleTool:
			return nil, fmt.Errorf("house: pictures and tools: %w", rag.ErrUnsupported)
		case m.Role != rag.RoleSystem && m.Role != rag.RoleUser && m.Role != rag.RoleAssistant:
			return nil, fmt.Errorf("house: a message of %q: %w", m.Role, rag.ErrInvalid)
		}
		out.Messages = append(out.Messages, message{m.Role, m.Text})
	}
	if len(out.Messages) == 0 {
		return nil, fmt.Errorf("house: no message: %w", rag.ErrInvalid)
	}
	body, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return nil, errors.Join(err, rag.ErrInvalid)
	}
	request.Header.Set("Authorization", "Bearer "+h.Key)
	reply, err := h.Client.Do(request)
	if err != nil {
		return nil, errors.Join(err, rag.ErrUnavailable)
	}
	if reply.StatusCode == http.StatusOK {
		return reply.Body, nil
	}
	reply.Body.Close()
	kind := rag.ErrUnavailable
	if reply.StatusCode >= 400 && reply.StatusCode < 500 && reply.StatusCode != http.StatusTooManyRequests {
		kind = rag.ErrInvalid
	}
	return nil, fmt.Errorf("house: %s: %w", reply.Status, kind) // the body may repeat the key
}
