package llm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/httpjson"
	"github.com/seed-d8745b77/rag/internal/modelapi"
	"github.com/seed-d8745b77/rag/internal/strict"
)

// AnthropicConfig sets up an [Anthropic].
type AnthropicConfig struct {
	ServiceConfig
	Version   string `json:"version"`                                  // of the interface; "": AnthropicVersion
	MaxTokens int    `json:"max_tokens,omitzero" range:"[1,10000000]"` // longest reply where a question does not say, since the service must be told; 0: 4,096; at least 0
}

// AnthropicVersion is the version of the interface that is asked for. It takes no temperature; TemperatureVersion does.
const (
	AnthropicVersion   = "2026-10-21"
	TemperatureVersion = "2023-06-01"
)

const anthropicTokens = 4096

// Anthropic is a model behind POST /v1/messages.
type Anthropic struct{ *service }

var (
	_ rag.ChatModel     = (*Anthropic)(nil)
	_ rag.Fingerprinter = (*Anthropic)(nil)
)

// NewAnthropic returns a model of Anthropic, or of the service at BaseURL.
func NewAnthropic(c AnthropicConfig) (*Anthropic, error) {
	if c.MaxTokens < 0 {
		return nil, fmt.Errorf("anthropic: max_tokens cannot be below 0: %w", rag.ErrInvalid)
	}
	version := cmp.Or(c.Version, AnthropicVersion)
	s, err := newService(modelapi.Anthropic, c.ServiceConfig,
		messagesAPI{model: c.Model, maxTokens: cmp.Or(c.MaxTokens, anthropicTokens), temperature: version == TemperatureVersion})
	if err != nil {
		return nil, err
	}
	s.at.Client.Header.Set("Anthropic-Version", version)
	return &Anthropic{s}, nil
}

// messagesAPI is Anthropic's protocol.
type messagesAPI struct {
	model       string
	maxTokens   int
	temperature bool
}

func (a messagesAPI) path() string        { return "/v1/messages" }
func (a messagesAPI) form() httpjson.Form { return httpjson.Events }

type messagesRequest struct {
	Model        string         `json:"model"`
	MaxTokens    int            `json:"max_tokens"`
	System       string         `json:"system,omitempty"`
	Messages     []blockMessage `json:"messages"`
	Tools        []blockTool    `json:"tools,omitempty"`
	OutputConfig *blockOutput   `json:"output_config,omitempty"`
	Temperature  *float64       `json:"temperature,omitempty"`
	Stream       bool           `json:"stream"`
}

type blockMessage struct {
	Role    string  `json:"role"` // "user", "assistant"
	Content []block `json:"content"`
}

// block is a part of a message.
type block struct {
	Type    string          `json:"type"` // "text", "image", "tool_use", "tool_result"
	Text    string          `json:"text,omitempty"`
	Source  *blockSource    `json:"source,omitempty"`
	ID      string          `json:"id,omitempty"`
	Name    string          `json:"name,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	CallID  string          `json:"tool_use_id,omitempty"`
	Content string          `json:"content,omitempty"`
}

type blockSource struct {
	Type      string `json:"type"` // "base64"
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"` // encoding/json writes base64
}

type blockTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type blockOutput struct {
	Format blockFormat `json:"format"`
}

type blockFormat struct {
	Type   string          `json:"type"` // "json_schema"
	Schema json.RawMessage `json:"schema"`
}

func (a messagesAPI) body(req *rag.ChatRequest, without field) any {
	r := messagesRequest{Model: a.model, MaxTokens: cmp.Or(req.MaxTokens, a.maxTokens), Stream: true}
	messages := req.Messages
	switch {
	case req.Schema == nil:
	case without&schemaField != 0:
		messages = withSchema(messages, req.Schema)
	default:
		r.OutputConfig = &blockOutput{blockFormat{"json_schema", req.Schema}}
	}
	if a.temperature && without&temperature == 0 {
		r.Temperature = &req.Temperature
	}
	for _, t := range req.Tools {
		schema := t.Parameters
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		r.Tools = append(r.Tools, blockTool{t.Name, t.Description, schema})
	}
	var system []string
	for _, m := range messages {
		if m.Role == rag.RoleSystem {
			system = append(system, m.Text)
			continue
		}
		role, content := blocksOf(m)
		if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == role { // turns alternate; results of calls are the user's
			r.Messages[n-1].Content = append(r.Messages[n-1].Content, content...)
		} else if len(content) > 0 {
			r.Messages = append(r.Messages, blockMessage{role, content})
		}
	}
	r.System = strings.Join(system, "\n\n")
	return r
}

// blocksOf returns the parts of a message. An empty text is refused, so there is no part for it.
func blocksOf(m rag.ChatMessage) (role string, list []block) {
	if m.Role == rag.RoleTool {
		return rag.RoleUser, []block{{Type: "tool_result", CallID: m.CallID, Content: m.Text}}
	}
	if strings.TrimSpace(m.Text) != "" {
		list = append(list, block{Type: "text", Text: m.Text})
	}
	for _, img := range m.Images {
		list = append(list, block{Type: "image", Source: &blockSource{"base64", img.MediaType, img.Data}})
	}
	for _, c := range m.Calls {
		list = append(list, block{Type: "tool_use", ID: c.ID, Name: c.Name, Input: object(c.Arguments)})
	}
	return m.Role, list
}

// messagesEvent is a piece of a reply. Its kinds share fields.
type messagesEvent struct {
	Type    string `json:"type"`
	Message struct {
		Usage blockUsage `json:"usage"`
	} `json:"message"`
	Block struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Text        string `json:"text"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage blockUsage      `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type blockUsage struct {
	Input         int `json:"input_tokens"`
	CacheCreation int `json:"cache_creation_input_tokens"`
	CacheRead     int `json:"cache_read_input_tokens"`
	Output        int `json:"output_tokens"`
}

// messagesReader puts a reply together.
type messagesReader struct {
	call  *rag.ToolCall   // under way
	given json.RawMessage // its arguments, where they came with its beginning
	usage rag.ChatUsage
	stop  string
	whole bool
	calls int // in the conversation so far
}

func (a messagesAPI) reader(req *rag.ChatRequest) reader {
	return &messagesReader{calls: callsIn(req.Messages)}
}

func (r *messagesReader) event(e httpjson.Event) (piece rag.ChatDelta, done bool, err error) {
	var in messagesEvent
	if err := strict.Unmarshal(e.Data, &in); err != nil {
		return piece, false, fmt.Errorf("a piece of the reply is no JSON: %v", err)
	}
	switch in.Type {
	case "message_start":
		r.count(in.Message.Usage)
	case "content_block_start":
		piece.Text = in.Block.Text
		if in.Block.Type == "tool_use" {
			r.call, r.given = &rag.ToolCall{ID: in.Block.ID, Name: in.Block.Name}, in.Block.Input
		}
	case "content_block_delta":
		piece.Text = in.Delta.Text
		if r.call != nil {
			r.call.Arguments = append(r.call.Arguments, in.Delta.PartialJSON...)
		}
	case "content_block_stop":
		if r.call != nil {
			if len(r.call.Arguments) == 0 {
				r.call.Arguments = r.given
			}
			complete(r.call, r.calls)
			piece.Calls = []rag.ToolCall{*r.call}
			r.call = nil
			r.calls++
		}
	case "message_delta":
		r.stop = cmp.Or(in.Delta.StopReason, r.stop)
		r.count(in.Usage)
	case "message_stop":
		r.whole = true
		return piece, true, nil
	case "error":
		return piece, false, fmt.Errorf("the service broke off: %s", in.Error)
	}
	return piece, false, nil // others, such as ping, add nothing
}

// count keeps the newest figures: each is a sum so far, and may be left out.
func (r *messagesReader) count(u blockUsage) {
	r.usage.InputTokens = cmp.Or(u.Input+u.CacheCreation+u.CacheRead, r.usage.InputTokens)
	r.usage.OutputTokens = cmp.Or(u.Output, r.usage.OutputTokens)
}

func (r *messagesReader) end() (rag.ChatDelta, bool) {
	return rag.ChatDelta{Usage: r.usage, Stop: blockStops[r.stop]}, r.whole
}

var blockStops = map[string]string{
	"end_turn": rag.StopEnd, "stop_sequence": rag.StopEnd, "pause_turn": rag.StopEnd, "max_tokens": rag.StopLength,
	"model_context_window_exceeded": rag.StopLength, "tool_use": rag.StopTools, "refusal": rag.StopFilter,
}
