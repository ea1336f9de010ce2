package llm

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/seed-d8745b77/rag"
)

// callsIn counts the calls of a conversation.
func callsIn(messages []rag.ChatMessage) (n int) {
	for _, m := range messages {
		n += len(m.Calls)
	}
	return n
}

// complete gives a call what its service left out. number is that of the call in the conversation.
func complete(c *rag.ToolCall, number int) {
	if c.ID == "" {
		c.ID = fmt.Sprintf("call_%d", number)
	}
	if len(bytes.TrimSpace(c.Arguments)) == 0 {
		c.Arguments = json.RawMessage("{}")
	}
}

// object returns arguments for a protocol in which they are an object. What a model wrote wrongly it is shown as it
// was, so that it can see its mistake.
func object(arguments json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(arguments, &fields) == nil && fields != nil {
		return arguments
	}
	if len(bytes.TrimSpace(arguments)) == 0 {
		return json.RawMessage("{}")
	}
	wrong, err := json.Marshal(map[string]string{"not_an_object": string(arguments)})
	if err != nil { // a map of strings can be encoded
		return json.RawMessage("{}")
	}
	return wrong
}

// toolOf returns the name of the tool that a result is of; "" if the conversation has no such call.
func toolOf(messages []rag.ChatMessage, callID string) string {
	for _, m := range messages {
		for _, c := range m.Calls {
			if c.ID == callID {
				return c.Name
			}
		}
	}
	return ""
}
