package llm_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag/ragtest"
)

// protocol is how a fake service speaks.
type protocol struct {
	contentType string
	text        func(piece string) string // a piece of the text, as it is sent
	rest        func(turn ragtest.Turn) string
	garbage     string
}

// play starts a service that plays a scene.
func play(t *testing.T, p protocol, scene ragtest.ChatScene) (url string) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the end of the request is not seen
		scene.Asked()
		switch scene.Fault {
		case ragtest.ChatRefusesKey:
			http.Error(w, fmt.Sprintf(`{"error":{"message":"Incorrect API key provided: %s"}}`, ragtest.ChatKey), http.StatusUnauthorized)
			return
		case ragtest.ChatNoModel:
			http.Error(w, fmt.Sprintf(`{"error":"model not found (key %s)"}`, ragtest.ChatKey), http.StatusNotFound)
			return
		case ragtest.ChatBusy:
			http.Error(w, `{"error":"overloaded"}`, http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", p.contentType)
		if scene.Fault == ragtest.ChatGarbage {
			_, _ = io.WriteString(w, p.garbage)
			return
		}
		half := strings.Index(scene.Text, " ") + 1
		_, _ = io.WriteString(w, p.text(scene.Text[:half]))
		w.(http.Flusher).Flush()
		switch scene.Fault {
		case ragtest.ChatCut:
			panic(http.ErrAbortHandler)
		case ragtest.ChatHangs:
			<-r.Context().Done()
			scene.Gone()
			return
		}
		_, _ = io.WriteString(w, p.text(scene.Text[half:])+p.rest(scene.Turn))
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// Protocols as the services' documentation shows them.

var openAI = protocol{
	contentType: "text/event-stream; charset=utf-8",
	text: func(piece string) string {
		return fmt.Sprintf("data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":%s},\"finish_reason\":null}],\"usage\":null}\n\n", quoted(piece))
	},
	rest: func(turn ragtest.Turn) string {
		var b strings.Builder
		finish := "stop"
		for i, c := range turn.Calls { // in three fragments
			finish = "tool_calls"
			half := len(c.Arguments) / 2
			fmt.Fprintf(&b, "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":%d,\"id\":%q,\"type\":\"function\",\"function\":{\"name\":%q,\"arguments\":\"\"}}]},\"finish_reason\":null}]}\n\n", i, c.ID, c.Name)
			for _, part := range []string{string(c.Arguments[:half]), string(c.Arguments[half:])} {
				fmt.Fprintf(&b, "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":%d,\"function\":{\"arguments\":%s}}]},\"finish_reason\":null}]}\n\n", i, quoted(part))
			}
		}
		fmt.Fprintf(&b, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\n", finish)
		fmt.Fprintf(&b, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d,\"total_tokens\":0}}\n\ndata: [DONE]\n\n", turn.Usage.InputTokens, turn.Usage.OutputTokens)
		return b.String()
	},
	garbage: "data: {\"choices\":[{\"delta\":{\"cont\n\n",
}

var anthropic = protocol{
	contentType: "text/event-stream",
	text: func(piece string) string {
		return "event: ping\ndata: {\"type\": \"ping\"}\n\n" +
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
			fmt.Sprintf("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":%s}}\n\n", quoted(piece)) +
			"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
	},
	rest: func(turn ragtest.Turn) string {
		var b strings.Builder
		stop := "end_turn"
		fmt.Fprintf(&b, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"usage\":{\"input_tokens\":%d,\"cache_read_input_tokens\":1,\"output_tokens\":1}}}\n\n", turn.Usage.InputTokens-1)
		for i, c := range turn.Calls {
			stop = "tool_use"
			fmt.Fprintf(&b, "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":%d,\"content_block\":{\"type\":\"tool_use\",\"id\":%q,\"name\":%q,\"input\":{}}}\n\n", i+1, c.ID, c.Name)
			for _, part := range []string{"", string(c.Arguments[:1]), string(c.Arguments[1:])} {
				fmt.Fprintf(&b, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":%d,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":%s}}\n\n", i+1, quoted(part))
			}
			fmt.Fprintf(&b, "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":%d}\n\n", i+1)
		}
		fmt.Fprintf(&b, "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":%q},\"usage\":{\"output_tokens\":%d}}\n\n", stop, turn.Usage.OutputTokens)
		return b.String() + "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	},
	garbage: "event: message_start\ndata: <html>\n\n",
}

var ollama = protocol{
	contentType: "application/x-ndjson",
	text: func(piece string) string {
		return fmt.Sprintf("{\"model\":\"m\",\"created_at\":\"2026-01-01T00:00:00Z\",\"message\":{\"role\":\"assistant\",\"content\":%s},\"done\":false}\n", quoted(piece))
	},
	rest: func(turn ragtest.Turn) string {
		var b strings.Builder
		for _, c := range turn.Calls {
			fmt.Fprintf(&b, "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":%q,\"arguments\":%s}}]},\"done\":false}\n", c.Name, c.Arguments)
		}
		fmt.Fprintf(&b, "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done_reason\":\"stop\",\"done\":true,\"prompt_eval_count\":%d,\"eval_count\":%d}\n", turn.Usage.InputTokens, turn.Usage.OutputTokens)
		return b.String()
	},
	garbage: "<html>bad gateway</html>\n",
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can be encoded
	}
	return string(b)
}
