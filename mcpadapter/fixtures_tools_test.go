//nolint:staticcheck // the suite asks for what the protocol has given up since: sampling, roots and logging
package mcpadapter

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// reconnectAfter is how long a client waits before it comes again.
const reconnectAfter = 10 * time.Millisecond

const (
	// anyObject is the schema of arguments that nobody looks at.
	anyObject = `{"type":"object"}`
	aFixture  = "Fixture of the conformance suite."
)

// addToolFixtures adds tools that use what the adapter does not: sounds, embedded resources, sampling, elicitation, streams
// that break, tools and prompts that come later.
func addToolFixtures(s *mcp.Server) {
	add := func(name, schema string, run mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, Description: aFixture, InputSchema: json.RawMessage(schema)}, run)
	}
	says := func(content ...mcp.Content) mcp.ToolHandler {
		return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: content}, nil
		}
	}
	add("test_audio_content", anyObject, says(&mcp.AudioContent{Data: []byte(silence), MIMEType: "audio/wav"}))
	add("test_embedded_resource", anyObject, says(embedded("test://embedded-resource")))
	add("test_multiple_content_types", anyObject, says(&mcp.TextContent{Text: "Multiple content types test:"}, &mcp.ImageContent{Data: dot(), MIMEType: "image/png"}, embedded("test://embedded-in-multiple")))
	add("test_streaming_elicitation", anyObject, says(&mcp.TextContent{Text: "Only answers stand on this stream."}))
	add("test_x_mcp_header", `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`, says(&mcp.TextContent{Text: "ok"}))
	add("json_schema_2020_12_tool", fullSchema, says(&mcp.TextContent{Text: "ok"}))
	add("test_logging_tool", anyObject, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text("Logged if that was wanted."), req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: "test"})
	})
	add("test_reconnection", anyObject, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if req.Extra != nil && req.Extra.CloseSSEStream != nil {
			req.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: reconnectAfter})
		}
		return text("Reconnected."), nil
	})
	add("test_sampling", `{"type":"object","properties":{"prompt":{"type":"string"}}}`, sample)
	for name, schema := range elicitations {
		add(name, anyObject, elicit(schema))
	}
	add("test_missing_capability", anyObject, needsSampling)
	add("test_trigger_tool_change", anyObject, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		add("transient_tool", anyObject, says())
		return text("The list of tools has changed."), nil
	})
	add("test_trigger_prompt_change", anyObject, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.AddPrompt(&mcp.Prompt{Name: "transient_prompt", Description: aFixture}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{}, nil
		})
		return text("The list of prompts has changed."), nil
	})
}

// fullSchema has words of JSON Schema 2020-12 that must come through as they are.
const fullSchema = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "additionalProperties": false,
	"$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
	"properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
		"contactMethod": {"type": "string", "enum": ["phone", "email"]}, "phone": {"type": "string"}, "email": {"type": "string"}},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]}, "then": {"required": ["phone"]}, "else": {"required": ["email"]}
}`

// elicitations are the forms that tools ask a user to fill in.
var elicitations = map[string]string{
	"test_elicitation": `{"type":"object","properties":{"username":{"type":"string"}},"required":["username"]}`,
	"test_elicitation_sep1034_defaults": `{"type":"object","properties":{
		"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},
		"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}}`,
	"test_elicitation_sep1330_enums": `{"type":"object","properties":{
		"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
		"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
		"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
		"untitledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","enum":["option1","option2","option3"]}},
		"titledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}}`,
}

func elicit(schema string) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Please fill this in.", RequestedSchema: json.RawMessage(schema)})
		if err != nil {
			return nil, err
		}
		return text(fmt.Sprintf("action=%s, content=%v", res.Action, res.Content)), nil
	}
}

func sample(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	res, err := req.Session.CreateMessage(ctx, &mcp.CreateMessageParams{
		Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "Test prompt"}}}, MaxTokens: 100,
	})
	if err != nil {
		return nil, err
	}
	said, _ := res.Content.(*mcp.TextContent)
	return text("LLM response: " + said.Text), nil
}

// needsSampling is refused to clients that cannot do it.
func needsSampling(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if c := req.ClientCapabilities(); c != nil && c.Sampling != nil {
		return text("The client can sample."), nil
	}
	data, err := json.Marshal(mcp.MissingRequiredClientCapabilityData{RequiredCapabilities: &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}}})
	if err != nil {
		return nil, err
	}
	return nil, &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "the client must be able to sample", Data: data}
}

// Questions that a tool asks within its answer.
var (
	askName     = form("What is your name?", "name", "string")
	askContext  = form("Which context?", "context", "string")
	askConfirm  = form("Please confirm", "ok", "boolean")
	askColor    = form("Step 2: What is your favorite color?", "color", "string")
	askCapital  = sampling("What is the capital of France?")
	askGreeting = sampling("Generate a greeting")
	askRoots    = &mcp.ListRootsParams{}
)

func form(message, field, kind string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: message, RequestedSchema: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{%q:{"type":%q}},"required":[%q]}`, field, kind, field))}
}

func sampling(prompt string) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: prompt}}}, MaxTokens: 100}
}

// accepted is a field that a user filled in; nil if none.
func accepted(answers mcp.InputResponseMap, key, field string) any {
	if e, ok := answers[key].(*mcp.ElicitResult); ok && e != nil && e.Action == "accept" {
		return e.Content[field]
	}
	return nil
}

// sampled reports whether a client's model has answered.
func sampled(answers mcp.InputResponseMap, key string) bool {
	r, ok := answers[key].(*mcp.CreateMessageWithToolsResult)
	return ok && r != nil
}

// asked returns a round of questions.
func asked(state string, questions mcp.InputRequestMap) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{InputRequests: questions, RequestState: state}, nil
}

// tampered is what the suite puts behind a state.
const tampered = "-TAMPERED"

// addInputFixtures adds tools that ask back within their answers.
func addInputFixtures(s *mcp.Server) {
	add := func(name string, run func(p *mcp.CallToolParamsRaw, can *mcp.ClientCapabilities) (*mcp.CallToolResult, error)) {
		s.AddTool(&mcp.Tool{Name: "test_input_required_result_" + name, Description: aFixture, InputSchema: json.RawMessage(anyObject)}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if strings.HasSuffix(req.Params.RequestState, tampered) {
				return nil, invalidParams("the state is not ours")
			}
			return run(req.Params, req.ClientCapabilities())
		})
	}
	add("elicitation", func(p *mcp.CallToolParamsRaw, _ *mcp.ClientCapabilities) (*mcp.CallToolResult, error) {
		if name, ok := accepted(p.InputResponses, "user_name", "name").(string); ok && name != "" {
			return text("Hello, " + name + "!"), nil
		}
		return asked("", mcp.InputRequestMap{"user_name": askName})
	})
	add("sampling", func(p *mcp.CallToolParamsRaw, _ *mcp.ClientCapabilities) (*mcp.CallToolResult, error) {
		if sampled(p.InputResponses, "capital_question") {
			return text("Sampled."), nil
		}
		return asked("", mcp.InputRequestMap{"capital_question": askCapital})
	})
	add("list_roots", func(p *mcp.CallToolParamsRaw, _ *mcp.ClientCapabilities) (*mcp.CallToolResult, error) {
		if r, ok := p.InputResponses["client_roots"].(*mcp.ListRootsResult); ok && r != nil {
			return text(fmt.Sprintf("%d roots", len(r.Roots))), nil
		}
		return asked("", mcp.InputRequestMap{"client_roots": askRoots})
	})
	for _, name := range []string{"request_state", "tampered_state"} {
		add(name, func(p *mcp.CallToolParamsRaw, _ *mcp.ClientCapabilities) (*mcp.CallToolResult, error) {
			if p.RequestState == name && accepted(p.InputResponses, "confirm", "ok") != nil {
				return text("state-ok"), nil
			}
			return asked(name, mcp.InputRequestMap{"confirm": askConfirm})
		})
	}
	add("multiple_inputs", func(p *mcp.CallToolParamsRaw, _ *mcp.ClientCapabilities) (*mcp.CallToolResult, error) {
		_, roots := p.InputResponses["client_roots"].(*mcp.ListRootsResult)
		if roots && sampled(p.InputResponses, "greeting") && accepted(p.InputResponses, "user_name", "name") != nil {
			return text("All are answered."), nil
		}
		return asked("multiple_inputs", mcp.InputRequestMap{"user_name": askName, "greeting": askGreeting, "client_roots": askRoots})
	})
	add("multi_round", func(p *mcp.CallToolParamsRaw, _ *mcp.ClientCapabilities) (*mcp.CallToolResult, error) {
		switch p.RequestState {
		case "":
			return asked("one", mcp.InputRequestMap{"step1": askName})
		case "one":
			return asked("two", mcp.InputRequestMap{"step2": askColor})
		}
		return text("Both rounds are answered."), nil
	})
	add("capabilities", func(p *mcp.CallToolParamsRaw, can *mcp.ClientCapabilities) (*mcp.CallToolResult, error) {
		questions := mcp.InputRequestMap{}
		if can != nil && can.Elicitation != nil {
			questions["user_name"] = askName
		}
		if can != nil && can.Sampling != nil {
			questions["greeting"] = askGreeting
		}
		if can != nil && can.RootsV2 != nil {
			questions["client_roots"] = askRoots
		}
		if len(p.InputResponses) > 0 || len(questions) == 0 {
			return text("Nothing is asked."), nil
		}
		return asked("", questions)
	})
	s.AddPrompt(&mcp.Prompt{Name: "test_input_required_result_prompt", Description: aFixture}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		if c := accepted(req.Params.InputResponses, "user_context", "context"); c != nil {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: fmt.Sprint("Context: ", c)}}}}, nil
		}
		return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{"user_context": askContext}}, nil
	})
}
