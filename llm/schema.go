package llm

import (
	"encoding/json"

	"github.com/seed-d8745b77/rag"
)

// withSchema asks for a schema in words, of models that cannot be held to one. Services that can be held to JSON want
// the word to be in the prompt.
func withSchema(messages []rag.ChatMessage, schema json.RawMessage) []rag.ChatMessage {
	words := "Reply with one JSON object that matches this JSON schema, and with nothing else:\n" + string(schema)
	out := append([]rag.ChatMessage{}, messages...)
	if out[0].Role == rag.RoleSystem {
		out[0].Text += "\n\n" + words
		return out
	}
	return append([]rag.ChatMessage{{Role: rag.RoleSystem, Text: words}}, out...)
}

// isStrict reports whether OpenAI's strict mode takes a schema: every object lists all its properties as required and
// allows no others. Where it does not, the model is asked to try.
func isStrict(schema json.RawMessage) bool {
	var v any
	return json.Unmarshal(schema, &v) == nil && strictValue(v)
}

func strictValue(v any) bool {
	switch x := v.(type) {
	case []any:
		for _, e := range x {
			if !strictValue(e) {
				return false
			}
		}
	case map[string]any:
		properties, isObject := x["properties"].(map[string]any)
		if isObject || x["type"] == "object" {
			required, _ := x["required"].([]any)
			if x["additionalProperties"] != false || len(required) != len(properties) {
				return false
			}
		}
		for _, e := range x {
			if !strictValue(e) {
				return false
			}
		}
	}
	return true
}
