package llm

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/httpjson"
	"github.com/seed-d8745b77/rag/internal/modelapi"
	"github.com/seed-d8745b77/rag/internal/strict"
)

// OllamaConfig sets up an [Ollama].
type OllamaConfig struct {
	ServiceConfig
	ContextTokens int    `json:"context_tokens,omitzero" range:"[1,10000000]"` // that question and reply may have together; what is beyond is cut off at the beginning without a word; 0: 8,192; at least 0
	KeepAlive     string `json:"keep_alive"`                                   // how long the model stays in memory, such as 30m; "": the server's own
}

// ollamaTokens holds a question with its passages; the server's own default (4,096) cuts many.
const ollamaTokens = 8192

// Ollama is a model behind POST /api/chat of an Ollama server, by default the one of this machine.
type Ollama struct{ *service }

var (
	_ rag.ChatModel     = (*Ollama)(nil)
	_ rag.Fingerprinter = (*Ollama)(nil)
)

// NewOllama returns a model of an Ollama server.
func NewOllama(c OllamaConfig) (*Ollama, error) {
	if c.ContextTokens < 0 {
		return nil, fmt.Errorf("ollama: context_tokens cannot be below 0: %w", rag.ErrInvalid)
	}
	if !isKeepAlive(c.KeepAlive) {
		return nil, &rag.ConfigError{Key: "keep_alive", Err: fmt.Errorf("want seconds such as 300s, minutes or hours such as 30m or 24h, or -1s for always: %w", rag.ErrInvalid)}
	}
	s, err := newService(modelapi.Ollama, c.ServiceConfig,
		ollamaAPI{c.Model, cmp.Or(c.ContextTokens, ollamaTokens), c.KeepAlive})
	if err != nil {
		return nil, err
	}
	return &Ollama{s}, nil
}

// isKeepAlive reports whether Ollama can read a time to keep a model, which it asks for with a unit.
func isKeepAlive(text string) bool {
	_, err := time.ParseDuration(text)
	return text == "" || err == nil
}

// ollamaAPI is Ollama's own protocol.
type ollamaAPI struct {
	model     string
	tokens    int
	keepAlive string
}

func (a ollamaAPI) path() string        { return "/api/chat" }
func (a ollamaAPI) form() httpjson.Form { return httpjson.Lines }

type ollamaRequest struct {
	Model     string          `json:"model"`
	Messages  []ollamaMessage `json:"messages"`
	Tools     []openTool      `json:"tools,omitempty"`
	Format    json.RawMessage `json:"format,omitempty"`
	Stream    bool            `json:"stream"`
	KeepAlive string          `json:"keep_alive,omitempty"`
	Options   ollamaOptions   `json:"options"`
}

type ollamaOptions struct {
	Temperature float64 `json:"temperature"`
	NumPredict  int     `json:"num_predict,omitempty"`
	NumCtx      int     `json:"num_ctx"`
}

type ollamaMessage struct {
	Role      string       `json:"role"`
	Content   string       `json:"content"`
	Images    [][]byte     `json:"images,omitempty"` // encoding/json writes base64
	ToolCalls []ollamaCall `json:"tool_calls,omitempty"`
	ToolName  string       `json:"tool_name,omitempty"`
}

type ollamaCall struct {
	ID       string `json:"id,omitempty"` // in replies of newer servers
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

func (a ollamaAPI) body(req *rag.ChatRequest, _ field) any {
	r := ollamaRequest{
		Model: a.model, Tools: openTools(req.Tools), Format: req.Schema, Stream: true, KeepAlive: a.keepAlive,
		Options: ollamaOptions{req.Temperature, req.MaxTokens, a.tokens},
	}
	for _, m := range req.Messages {
		out := ollamaMessage{Role: m.Role, Content: m.Text}
		for _, img := range m.Images {
			out.Images = append(out.Images, img.Data)
		}
		for _, c := range m.Calls {
			var call ollamaCall
			call.Function.Name, call.Function.Arguments = c.Name, object(c.Arguments)
			out.ToolCalls = append(out.ToolCalls, call)
		}
		if m.Role == rag.RoleTool {
			out.ToolName = toolOf(req.Messages, m.CallID)
		}
		r.Messages = append(r.Messages, out)
	}
	return r
}

// ollamaEvent is a line of a reply. What a model thinks before it speaks comes apart, and is left out.
type ollamaEvent struct {
	Message struct {
		Content   string       `json:"content"`
		ToolCalls []ollamaCall `json:"tool_calls"`
	} `json:"message"`
	Done       bool   `json:"done"`
	Reason     string `json:"done_reason"`
	PromptEval int    `json:"prompt_eval_count"`
	Eval       int    `json:"eval_count"`
	Error      string `json:"error"`
}

// ollamaReader puts a reply together.
type ollamaReader struct {
	before, calls int
	last          rag.ChatDelta
	whole         bool
}

func (a ollamaAPI) reader(req *rag.ChatRequest) reader {
	return &ollamaReader{before: callsIn(req.Messages)}
}

func (r *ollamaReader) event(e httpjson.Event) (piece rag.ChatDelta, done bool, err error) {
	var in ollamaEvent
	if err := strict.Unmarshal(e.Data, &in); err != nil {
		return piece, false, fmt.Errorf("a piece of the reply is no JSON: %v", err)
	}
	if in.Error != "" {
		return piece, false, errors.New("the service broke off: " + in.Error)
	}
	piece.Text = in.Message.Content
	for _, c := range in.Message.ToolCalls {
		call := rag.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments}
		complete(&call, r.before+r.calls)
		piece.Calls = append(piece.Calls, call)
		r.calls++
	}
	if in.Done {
		r.whole = true
		r.last = rag.ChatDelta{Usage: rag.ChatUsage{InputTokens: in.PromptEval, OutputTokens: in.Eval}, Stop: ollamaStops[in.Reason]}
	}
	return piece, in.Done, nil
}

func (r *ollamaReader) end() (rag.ChatDelta, bool) {
	if r.calls > 0 && r.last.Stop == rag.StopEnd { // it says "stop" there too
		r.last.Stop = rag.StopTools
	}
	return r.last, r.whole
}

var ollamaStops = map[string]string{"stop": rag.StopEnd, "length": rag.StopLength}
