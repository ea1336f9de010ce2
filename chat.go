package rag

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
)

// ChatModel answers a conversation. One that implements [Fingerprinter] says by which model and settings it answers;
// what is kept of replies, or made of them in an ingest, is then known to be of that model.
type ChatModel interface {
	// Chat streams one reply; every error comes through the sequence and ends it; breaking out cancels the request.
	Chat(ctx context.Context, req ChatRequest) iter.Seq2[ChatDelta, error]
}

// Roles of chat messages.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool" // the result of a call that the model asked for
)

// ChatRequest is what a chat model is asked. Only Messages must be given.
type ChatRequest struct {
	Messages    []ChatMessage   // in order, the last one from the user or a tool
	Tools       []ChatTool      // what the model may ask to have called; a model without tools refuses them with ErrUnsupported
	Schema      json.RawMessage // JSON schema of the reply, for models that can be held to one; nil: free text
	MaxTokens   int             // longest reply; 0: the model's own limit
	Temperature float64         // 0: as deterministic as the model can be
}

// ChatMessage is one message of a conversation.
type ChatMessage struct {
	Role   string // RoleSystem, RoleUser, RoleAssistant or RoleTool
	Text   string
	Images []ChatImage // shown with the text; a model that sees no pictures refuses them with ErrUnsupported
	Calls  []ToolCall  // RoleAssistant: the calls that the model asked for
	CallID string      // RoleTool: the call that Text is the result of
}

// ChatImage is a picture in a message.
type ChatImage struct {
	MediaType string // "image/png", "image/jpeg"
	Data      []byte // the encoded file
}

// ChatTool is a function that a chat model may ask to have called.
type ChatTool struct {
	Name        string          // letters, digits, _ and -
	Description string          // what it does and when to use it, for the model
	Parameters  json.RawMessage // JSON schema of the arguments, an object
}

// ToolCall is a call that a chat model asks for.
type ToolCall struct {
	ID        string          // names the call in its result, ChatMessage.CallID
	Name      string          // of the tool
	Arguments json.RawMessage // as the model wrote them: to be checked
}

// ChatDelta is a piece of a reply.
type ChatDelta struct {
	Text  string     // to be appended to what came before
	Calls []ToolCall // whole calls, each in one piece
	Usage ChatUsage  // tokens; models give it once, with the last piece. Zero: not known
	Stop  string     // with the last piece, why the reply ends: one of the Stop constants; "" if the model does not say
}

// Reply asks a chat model and returns its whole reply as one piece, with all calls and tokens. What came before an error is
// returned beside it. A reply of more than most bytes is ErrUnavailable: it does not seem to end. Where ctx is done its cause
// is the error, whatever the model says.
func Reply(ctx context.Context, m ChatModel, req ChatRequest, most int) (ChatDelta, error) {
	var whole ChatDelta
	var text strings.Builder
	for piece, err := range m.Chat(ctx, req) {
		if err == nil {
			text.WriteString(piece.Text)
			whole.Calls = append(whole.Calls, piece.Calls...)
			whole.Usage.Add(piece.Usage)
			whole.Stop = cmp.Or(piece.Stop, whole.Stop)
			if text.Len() > most {
				err = fmt.Errorf("the reply does not end: %w", ErrUnavailable)
			}
		}
		if err != nil {
			whole.Text = text.String()
			return whole, cmp.Or(context.Cause(ctx), err)
		}
	}
	whole.Text = text.String()
	return whole, context.Cause(ctx)
}

// Reasons why a reply ends.
const (
	StopEnd    = "end"        // the model had said what it wanted
	StopLength = "length"     // ChatRequest.MaxTokens, or the model's own limit: the reply is cut off
	StopTools  = "tool_calls" // it waits for the results of calls
	StopFilter = "filter"     // the service held the rest back
)

// ChatUsage counts tokens.
type ChatUsage struct {
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
}

// Add counts the tokens of another reply too.
func (u *ChatUsage) Add(other ChatUsage) {
	u.InputTokens += other.InputTokens
	u.OutputTokens += other.OutputTokens
}
