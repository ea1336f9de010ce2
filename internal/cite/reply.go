package cite

import (
	"encoding/json"
	"strings"
	"unicode"
)

// looksLikeObject reports whether a reply is a JSON object, bare or in a block of code, as far as its beginning tells;
// known is false if that is too short.
func looksLikeObject(reply string) (known, object bool) {
	reply = strings.TrimLeftFunc(reply, unicode.IsSpace)
	const block = "```json"
	switch {
	case reply == "" || len(reply) < len(block) && strings.HasPrefix(block, reply):
		return false, false
	case strings.HasPrefix(reply, "{") || strings.HasPrefix(reply, block):
		return true, true
	}
	return true, false
}

// unpack puts a reply in JSON into words: the text, and behind it the citations that it does not have itself. Models
// write them as a list of numbers, of strings or of objects, as a number, or as a string. Any other reply stays.
func unpack(reply string) string {
	for {
		body := strings.TrimSpace(reply)
		if inner, ok := strings.CutPrefix(body, "```json"); ok {
			body = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(inner), "```"))
		}
		var object map[string]json.RawMessage
		if !strings.HasPrefix(body, "{") || json.Unmarshal([]byte(body), &object) != nil {
			return reply
		}
		text, ok := textOf(object)
		if !ok {
			return reply
		}
		for _, key := range []string{"citations", "sources", "references"} {
			if numbers := numbersOf(object[key]); numbers != "" && len(Markers(text)) == 0 {
				text += " [" + numbers + "]"
			}
		}
		reply = text
	}
}

// textOf returns the text of a reply in JSON.
func textOf(object map[string]json.RawMessage) (text string, ok bool) {
	for _, key := range []string{"answer", "text", "response", "content"} {
		if json.Unmarshal(object[key], &text) == nil && strings.TrimSpace(text) != "" {
			return strings.TrimSpace(text), true
		}
	}
	return "", false
}

// numbersOf returns the numbers that a value of a reply holds, with commas between them.
func numbersOf(raw json.RawMessage) string {
	var value any
	if len(raw) == 0 || json.Unmarshal(raw, &value) != nil {
		return ""
	}
	var parts []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case float64:
			b, _ := json.Marshal(v) // of a number that was read: always possible
			parts = append(parts, string(b))
		case string:
			if inner := strings.Trim(v, "[]()【】 "); oneItem.MatchString(inner) && len(inner) < maxMarker/2 {
				parts = append(parts, inner)
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, key := range []string{"marker", "number", "id", "n", "source"} {
				if e, ok := v[key]; ok {
					walk(e)
					return
				}
			}
		}
	}
	walk(value)
	return strings.Join(parts, ", ")
}
