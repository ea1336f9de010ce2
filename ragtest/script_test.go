package ragtest_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

func TestScriptPlaysTurns(t *testing.T) {
	broken := errors.New("broken")
	call := rag.ToolCall{ID: "1", Name: "search", Arguments: json.RawMessage(`{}`)}
	usage := rag.ChatUsage{InputTokens: 3, OutputTokens: 2}
	script := &ragtest.Script{Turns: []ragtest.Turn{
		{Text: "let me look", Calls: []rag.ToolCall{call}, Usage: usage},
		{Text: "cut off", Usage: usage, Err: broken},
		{Text: "found"},
	}}
	type want struct {
		pieces []rag.ChatDelta
		err    error
	}
	found := want{pieces: []rag.ChatDelta{{Text: "found"}, {Stop: rag.StopEnd}}}
	for i, w := range []want{
		{pieces: []rag.ChatDelta{{Text: "let me "}, {Text: "look"}, {Calls: []rag.ToolCall{call}}, {Usage: usage, Stop: rag.StopTools}}},
		{pieces: []rag.ChatDelta{{Text: "cut off"}}, err: broken},
		found,
		found,
	} {
		var got want
		for piece, err := range script.Chat(t.Context(), rag.ChatRequest{}) {
			if err != nil {
				got.err = err
				break
			}
			got.pieces = append(got.pieces, piece)
		}
		if diff := cmp.Diff(w, got, cmp.AllowUnexported(want{}), cmpopts.EquateErrors()); diff != "" {
			t.Errorf("call %d (-want +got):\n%s", i+1, diff)
		}
	}
}
