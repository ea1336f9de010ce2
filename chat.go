package rag

import (
	"context"
	"encoding/json"
	"iter"
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
)

// ChatRequest is what a chat model is asked. Only Messages must be given.
type ChatRequest struct {
	Messages    []ChatMessage   // in order, the last one from the user
	Schema      json.RawMessage // JSON schema of the reply, for models that can be held to one; nil: free text
	MaxTokens   int             // longest reply; 0: the model's own limit
	Temperature float64         // 0: as deterministic as the model can be
}

// ChatMessage is one message of a conversation.
type ChatMessage struct {
	Role   string // RoleSystem, RoleUser or RoleAssistant
	Text   string
	Images []ChatImage // shown with the text; a model that sees no pictures refuses them with ErrUnsupported
}

// ChatImage is a picture in a message.
type ChatImage struct {
	MediaType string // "image/png", "image/jpeg"
	Data      []byte // the encoded file
}

// ChatDelta is a piece of a reply.
type ChatDelta struct {
	Text string // to be appended to what came before
}
