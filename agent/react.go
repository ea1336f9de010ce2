package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// A model that cannot be given tools is asked to write its calls as lines, after Yao et al., "ReAct: Synergizing Reasoning
// and Acting in Language Models" (2022):
//
//	Thought: …
//	Action: search
//	Action Input: {"query": "notice period"}
//
// It answers with "Final Answer:". What it writes is read tolerantly, since models vary in all of it.
var (
	actionLine = regexp.MustCompile(`(?im)^[\s*#>` + "`" + `-]*action\s*\d*[\s*]*[:：][\s*]*(.*)$`)
	inputLine  = regexp.MustCompile(`(?im)^[\s*#>` + "`" + `-]*(?:action[\s_-]*)?(?:input|args|arguments|parameters)\s*\d*[\s*]*[:：][\s*]*`)
	finalLine  = regexp.MustCompile(`(?im)^[\s*#>-]*(?:final[\s_-]*)?answer[\s*]*[:：][\s*]*`)
	// A model that goes on writes what the tool would answer: everything from there on is invented.
	inventedLine = regexp.MustCompile(`(?im)^[\s*#>-]*observations?\s*\d*[\s*]*[:：]`)
	thoughtLine  = regexp.MustCompile(`(?im)^[\s*#>-]*(?:thought|thinking)[\s*]*[:：]`)
	inlineCall   = regexp.MustCompile(`(?s)^([\w-]+)\s*[(\[](.*)[)\]]\s*$`)
	thinking     = regexp.MustCompile(`(?s)<think>.*?</think>`)
)

// readReply reads a reply that may hold a call in words. Without a call, answer is what it says.
func readReply(reply string) (calls []rag.ToolCall, answer string) {
	reply = thinking.ReplaceAllString(reply, "")
	if at := inventedLine.FindStringIndex(reply); at != nil {
		reply = reply[:at[0]]
	}
	action := actionLine.FindStringSubmatchIndex(reply)
	final := finalLine.FindStringIndex(reply)
	if final != nil && (action == nil || final[0] < action[0]) {
		return nil, strings.TrimSpace(reply[final[1]:])
	}
	if action == nil {
		return nil, strings.TrimSpace(withoutThoughts(reply))
	}
	name := strings.Trim(strings.TrimSpace(reply[action[2]:action[3]]), "`*\"'")
	rest := reply[action[1]:]
	input := ""
	if at := inputLine.FindStringIndex(rest); at != nil {
		input = rest[at[1]:]
	} else if m := inlineCall.FindStringSubmatch(name); m != nil { // Action: search[notice period]
		name, input = m[1], m[2]
	}
	if verb, inline, ok := strings.Cut(name, " "); ok && input == "" {
		name, input = verb, inline
	}
	return []rag.ToolCall{{ID: "1", Name: strings.ToLower(strings.TrimRight(name, ":()")), Arguments: readInput(input)}}, ""
}

// withoutThoughts leaves out a thought that comes before an answer without a line of its own.
func withoutThoughts(reply string) string {
	if at := thoughtLine.FindStringIndex(reply); at != nil && strings.TrimSpace(reply[:at[0]]) == "" {
		if _, rest, ok := strings.Cut(reply[at[1]:], "\n"); ok {
			return rest
		}
		return reply[at[1]:]
	}
	return reply
}

// readInput makes arguments of what stands behind "Action Input:": an object, whatever stands around it, or a text, which
// is put into an object under "".
func readInput(input string) json.RawMessage {
	input = strings.TrimSpace(input)
	input = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(input, "```json"), "```"), "```"))
	if strings.HasPrefix(input, "{") {
		var raw json.RawMessage
		if err := json.NewDecoder(strings.NewReader(input)).Decode(&raw); err == nil {
			return raw
		}
	}
	line, _, _ := strings.Cut(input, "\n")
	line = strings.Trim(strings.TrimSpace(line), "`\"'")
	if line == "" || strings.EqualFold(line, "none") || strings.EqualFold(line, "null") {
		return json.RawMessage(`{}`)
	}
	return mustJSON(map[string]string{"": line})
}

// mustJSON encodes plain data that cannot fail to encode.
func mustJSON(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("agent: " + err.Error())
	}
	return bytes.TrimSpace(b.Bytes())
}

// describeTools is what a model that cannot be given tools is told of them.
func describeTools(tools []tool) string {
	var b strings.Builder
	b.WriteString("You have these tools:\n")
	for _, t := range tools {
		fmt.Fprintf(&b, "- %s: %s Arguments: %s\n", t.Name, t.Description, t.Parameters)
	}
	b.WriteString("To call one, reply with exactly two lines and stop:\nAction: name of the tool\nAction Input: {arguments as JSON}\n" +
		"You are then given the observation. When you can answer, reply with:\nFinal Answer: the answer\n")
	return b.String()
}
