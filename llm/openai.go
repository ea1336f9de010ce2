package llm

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/httpjson"
	"github.com/seed-d8745b77/rag/internal/modelapi"
	"github.com/seed-d8745b77/rag/internal/strict"
)

// OpenAIConfig sets up an [OpenAI]. With BaseURL it is for any service that speaks OpenAI's protocol.
type OpenAIConfig struct{ ServiceConfig }

// OpenAI is a model behind POST /chat/completions, at OpenAI or at one of the many services and programs that speak the
// same. What a model refuses (a temperature, a schema) is learnt from its first error, and left out from then on; a
// schema goes into the prompt instead.
type OpenAI struct{ *service }

// Azure is a deployment of Azure OpenAI.
type Azure struct{ *service }

var (
	_ rag.ChatModel     = (*OpenAI)(nil)
	_ rag.Fingerprinter = (*OpenAI)(nil)
	_ rag.ChatModel     = (*Azure)(nil)
	_ rag.Fingerprinter = (*Azure)(nil)
)

// NewOpenAI returns a model of OpenAI, or of the service at BaseURL.
func NewOpenAI(c OpenAIConfig) (*OpenAI, error) { return newOpenAI(modelapi.Places[0], c) }

// newOpenAI returns a model of a service that is known by name.
func newOpenAI(at modelapi.Place, c OpenAIConfig) (*OpenAI, error) {
	a := completions{model: c.Model}
	switch at.Provider {
	case "openai":
		a.newName = c.BaseURL == "" // its imitations know the old name
	case "deepseek": // it sees no pictures, and promises an object but no schema
		a.objectOnly, c.NoImages = true, true
	case "mistral": // it sends usage by itself, and refuses to be asked
		a.without = streamOptions
	}
	s, err := newService(at, c.ServiceConfig, a)
	if err != nil {
		return nil, err
	}
	return &OpenAI{s}, nil
}

// AzureConfig sets up an [Azure]. BaseURL is the resource's, https://name.openai.azure.com; Model is the deployment.
type AzureConfig struct {
	ServiceConfig
	APIVersion string `json:"api_version"` // "": AzureVersion
}

// AzureVersion is the version of the interface that is asked for: the last one of those with a date that is no preview.
const AzureVersion = modelapi.AzureVersion

// NewAzure returns a deployment of Azure OpenAI.
func NewAzure(c AzureConfig) (*Azure, error) {
	at := modelapi.AzurePath(c.Model, "chat/completions", c.APIVersion)
	s, err := newService(modelapi.Azure, c.ServiceConfig, completions{model: c.Model, at: at, newName: true})
	if err != nil {
		return nil, err
	}
	return &Azure{s}, nil
}

// completions is OpenAI's protocol.
type completions struct {
	model      string
	at         string // path; "": "/chat/completions"
	newName    bool   // the longest reply is called max_completion_tokens
	objectOnly bool   // it can be held to an object, not to a schema
	without    field  // known to be refused
}

func (a completions) path() string        { return cmp.Or(a.at, "/chat/completions") }
func (a completions) form() httpjson.Form { return httpjson.Events }

type completionsRequest struct {
	Model               string          `json:"model"`
	Messages            []openMessage   `json:"messages"`
	Tools               []openTool      `json:"tools,omitempty"`
	ResponseFormat      *responseFormat `json:"response_format,omitempty"`
	MaxTokens           int             `json:"max_tokens,omitempty"`
	MaxCompletionTokens int             `json:"max_completion_tokens,omitempty"`
	Temperature         *float64        `json:"temperature,omitempty"`
	Stream              bool            `json:"stream"`
	StreamOptions       *openOptions    `json:"stream_options,omitempty"`
}

type openOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type openMessage struct {
	Role      string     `json:"role"`
	Content   any        `json:"content,omitempty"` // string or []openPart
	ToolCalls []openCall `json:"tool_calls,omitempty"`
	CallID    string     `json:"tool_call_id,omitempty"`
}

type openPart struct {
	Type  string     `json:"type"` // "text", "image_url"
	Text  string     `json:"text,omitempty"`
	Image *openImage `json:"image_url,omitempty"`
}

type openImage struct {
	URL string `json:"url"`
}

type openTool struct {
	Type     string       `json:"type"` // "function"
	Function openFunction `json:"function"`
}

type openFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

type openCall struct {
	Index    int    `json:"index,omitempty"` // in replies
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"` // "function"
	Function struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type responseFormat struct {
	Type   string      `json:"type"` // "json_schema", "json_object"
	Schema *openSchema `json:"json_schema,omitempty"`
}

type openSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

func (a completions) body(req *rag.ChatRequest, without field) any {
	without |= a.without
	r := completionsRequest{Model: a.model, Stream: true, Tools: openTools(req.Tools)}
	messages := req.Messages
	if req.Schema != nil {
		switch {
		case a.objectOnly || without&schemaField != 0:
			messages = withSchema(messages, req.Schema)
			if without&schemaField == 0 {
				r.ResponseFormat = &responseFormat{Type: "json_object"}
			}
		default:
			r.ResponseFormat = &responseFormat{"json_schema", &openSchema{"reply", req.Schema, isStrict(req.Schema)}}
		}
	}
	for _, m := range messages {
		r.Messages = append(r.Messages, openMessageOf(m))
	}
	if without&temperature == 0 {
		r.Temperature = &req.Temperature
	}
	if without&streamOptions == 0 {
		r.StreamOptions = &openOptions{IncludeUsage: true}
	}
	if a.newName == (without&lengthName == 0) {
		r.MaxCompletionTokens = req.MaxTokens
	} else {
		r.MaxTokens = req.MaxTokens
	}
	return r
}

func openTools(tools []rag.ChatTool) (list []openTool) {
	for _, t := range tools {
		list = append(list, openTool{"function", openFunction{t.Name, t.Description, t.Parameters}})
	}
	return list
}

func openMessageOf(m rag.ChatMessage) openMessage {
	out := openMessage{Role: m.Role, CallID: m.CallID}
	for _, c := range m.Calls {
		call := openCall{ID: c.ID, Type: "function"}
		call.Function.Name, call.Function.Arguments = c.Name, string(c.Arguments)
		out.ToolCalls = append(out.ToolCalls, call)
	}
	switch {
	case len(m.Images) > 0:
		var parts []openPart
		if m.Text != "" {
			parts = append(parts, openPart{Type: "text", Text: m.Text})
		}
		for _, img := range m.Images {
			parts = append(parts, openPart{Type: "image_url", Image: &openImage{"data:" + img.MediaType + ";base64," + base64.StdEncoding.EncodeToString(img.Data)}})
		}
		out.Content = parts
	case m.Text != "" || len(m.Calls) == 0:
		out.Content = m.Text
	}
	return out
}

// completionsEvent is a piece of a reply.
type completionsEvent struct {
	Choices []struct {
		Delta struct {
			Content   string     `json:"content"`
			Refusal   string     `json:"refusal"`
			ToolCalls []openCall `json:"tool_calls"`
		} `json:"delta"`
		Finish string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// completionsReader puts a reply together. Calls come in fragments.
type completionsReader struct {
	calls   []rag.ToolCall
	places  []int // of each call: its index in the reply
	before  int   // calls in the messages: numbers the calls of services that give them no ID
	usage   rag.ChatUsage
	finish  string
	refused bool
}

func (a completions) reader(req *rag.ChatRequest) reader {
	return &completionsReader{before: callsIn(req.Messages)}
}

func (r *completionsReader) event(e httpjson.Event) (piece rag.ChatDelta, done bool, err error) {
	if string(bytes.TrimSpace(e.Data)) == "[DONE]" {
		return piece, true, nil
	}
	var in completionsEvent
	if err := strict.Unmarshal(e.Data, &in); err != nil {
		return piece, false, fmt.Errorf("a piece of the reply is no JSON: %v", err)
	}
	if len(in.Error) > 0 && string(in.Error) != "null" {
		return piece, false, fmt.Errorf("the service broke off: %s", in.Error)
	}
	if in.Usage != nil {
		r.usage = rag.ChatUsage{InputTokens: in.Usage.Prompt, OutputTokens: in.Usage.Completion}
	}
	if len(in.Choices) == 0 {
		return piece, false, nil
	}
	c := &in.Choices[0]
	piece.Text = c.Delta.Content + c.Delta.Refusal
	r.refused = r.refused || c.Delta.Refusal != ""
	for _, fragment := range c.Delta.ToolCalls {
		r.add(fragment)
	}
	r.finish = cmp.Or(c.Finish, r.finish)
	return piece, false, nil
}

// add appends a fragment to its call. A new ID begins a new call, also where a service gives each the index 0.
func (r *completionsReader) add(f openCall) {
	at := -1
	for i, place := range r.places {
		if place == f.Index {
			at = i
		}
	}
	if at < 0 || f.ID != "" && f.ID != r.calls[at].ID {
		at = len(r.calls)
		r.calls, r.places = append(r.calls, rag.ToolCall{ID: f.ID}), append(r.places, f.Index)
	}
	call := &r.calls[at]
	call.Name += f.Function.Name
	call.Arguments = append(call.Arguments, f.Function.Arguments...)
}

func (r *completionsReader) end() (rag.ChatDelta, bool) {
	if r.finish == "" {
		return rag.ChatDelta{}, false
	}
	for i := range r.calls {
		complete(&r.calls[i], r.before+i)
	}
	piece := rag.ChatDelta{Calls: r.calls, Usage: r.usage, Stop: openStops[r.finish]}
	switch {
	case r.refused:
		piece.Stop = rag.StopFilter
	case len(r.calls) > 0 && piece.Stop == rag.StopEnd: // some say "stop" there too
		piece.Stop = rag.StopTools
	}
	return piece, true
}

var openStops = map[string]string{
	"stop": rag.StopEnd, "length": rag.StopLength, "tool_calls": rag.StopTools, "function_call": rag.StopTools, "content_filter": rag.StopFilter,
}
