package ragtest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// ChatKey is the key that a model in [TestChatModel] is made with, where its service wants one. A service that refuses
// it repeats it, as some do: it must be in no error.
const ChatKey = "sk-canary-1b2c3d4e5f60718293a4"

// ChatScene is what the service behind a chat model does in a case of [TestChatModel].
type ChatScene struct {
	// Turn is the reply: its text in two pieces or more, its calls, its usage. Err is not set.
	Turn
	Fault ChatFault // what goes wrong; "": nothing

	Asked func() // to be called for each request; never nil
	Gone  func() // to be called where a request was given up before its reply ended; never nil
}

// ChatFault is what a service does wrong.
type ChatFault string

// Faults of services.
const (
	ChatRefusesKey ChatFault = "refuses the key" // and repeats ChatKey
	ChatNoModel    ChatFault = "has no such model"
	ChatBusy       ChatFault = "is busy"       // at each try
	ChatCut        ChatFault = "breaks off"    // after the first piece of the text
	ChatGarbage    ChatFault = "sends garbage" // in place of the reply
	ChatHangs      ChatFault = "hangs"         // after the first piece of the text, until the request is given up
)

// chatTurn is a reply with everything but calls.
var chatTurn = Turn{Text: "The ferry leaves at seven. Le bac part à sept heures. 渡轮七点出发。", Usage: rag.ChatUsage{InputTokens: 21, OutputTokens: 13}}

var (
	chatCalls = []rag.ToolCall{
		{ID: "call_a", Name: "search", Arguments: json.RawMessage(`{"query":"ferry \"Aurora\"","top_k":3}`)},
		{ID: "call_b", Name: "list_topics", Arguments: json.RawMessage(`{}`)},
	}
	chatTools = []rag.ChatTool{
		{Name: "search", Description: "Finds passages.", Parameters: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},"top_k":{"type":"integer"}},"required":["query"]}`)},
		{Name: "list_topics", Description: "Lists what there is.", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)},
	}
	chatSchema = json.RawMessage(`{"type":"object","properties":{"hour":{"type":"integer"}},"required":["hour"],"additionalProperties":false}`)
)

// onePixel is a PNG file.
var onePixel = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\xab\xce\x36\x89\x00\x00\x00\x00IEND\xaeB`\x82")

// TestChatModel checks the contract of [rag.ChatModel]. open returns a model over a service that plays the scene, for as
// many requests as come, several at once too; it closes what it holds by t.Cleanup. Where the model retries, it should
// try once only, so that the suite does not wait.
func TestChatModel(t *testing.T, open func(t *testing.T, scene ChatScene) rag.ChatModel, list ...Trait) {
	tr := traitsOf(list)
	run := func(sentence string, test func(t *testing.T, open func(*testing.T, ChatScene) rag.ChatModel)) {
		t.Run(sentence, func(t *testing.T) {
			tr.skipExcepted(t, sentence)
			test(t, func(t *testing.T, s ChatScene) rag.ChatModel {
				if s.Asked == nil {
					s.Asked = func() {}
				}
				if s.Gone == nil {
					s.Gone = func() {}
				}
				return open(t, s)
			})
		})
	}
	run("text comes in order and in pieces, usage and the reason to stop with the last one", chatText)
	run("calls come whole, each with an ID of its own", chatToolCalls)
	run("results of calls are taken", chatResults)
	run("a schema is taken", chatSchemas)
	run("a picture is taken, or is ErrUnsupported", chatPicture)
	run("a question that cannot be right is ErrInvalid, and is not sent", chatInvalid)
	run("nothing is sent before the sequence is ranged over, and anew each time", chatLazy)
	run("a key that is refused is ErrInvalid, and stands in no error", chatKeyRefused)
	run("a model that is not there is ErrNotFound or ErrInvalid", chatNoModel)
	run("a service that is busy is ErrUnavailable", chatBusy)
	run("a reply that breaks off is ErrUnavailable, not an end", chatCut)
	run("garbage is ErrUnavailable or ErrInvalid", chatGarbage)
	run("a context that is done gives its error", chatDone)
	run("cancelling ends the request", chatCancel)
	run("breaking out ends the request", chatBreak)
	run("concurrent questions do not disturb each other", chatConcurrent)
}

// question is a request of one message.
func question(text string) rag.ChatRequest {
	return rag.ChatRequest{Messages: []rag.ChatMessage{{Role: rag.RoleSystem, Text: "Be short."}, {Role: rag.RoleUser, Text: text}}, MaxTokens: 64}
}

// heard is a reply put together.
type heard struct {
	text   string
	pieces int // of the text
	calls  []rag.ToolCall
	last   rag.ChatDelta
	err    error
}

// hear reads a reply and checks what holds for each.
func hear(t *testing.T, m rag.ChatModel, req rag.ChatRequest) (h heard) {
	t.Helper()
	for piece, err := range m.Chat(t.Context(), req) {
		if h.err != nil {
			t.Fatalf("after the error %v comes a piece", h.err)
		}
		if err != nil {
			if diff := cmp.Diff(rag.ChatDelta{}, piece); diff != "" {
				t.Errorf("an error comes with a piece (-want +got):\n%s", diff)
			}
			h.err = err
			continue
		}
		if h.last.Stop != "" {
			t.Errorf("a piece comes after the one that says why the reply ends: %+v", piece)
		}
		if piece.Text != "" {
			h.pieces++
		}
		h.text += piece.Text
		h.calls = append(h.calls, piece.Calls...)
		h.last = piece
	}
	return h
}

func chatText(t *testing.T, open func(*testing.T, ChatScene) rag.ChatModel) {
	h := hear(t, open(t, ChatScene{Turn: chatTurn}), question("When does the ferry leave?"))
	if h.err != nil {
		t.Fatal(h.err)
	}
	if h.text != chatTurn.Text || h.pieces < 2 {
		t.Errorf("got %q in %d pieces, want %q in some", h.text, h.pieces, chatTurn.Text)
	}
	if h.last.Usage != chatTurn.Usage || h.last.Stop != rag.StopEnd {
		t.Errorf("the last piece has usage %+v and stop %q, want %+v and %q", h.last.Usage, h.last.Stop, chatTurn.Usage, rag.StopEnd)
	}
}

func chatToolCalls(t *testing.T, open func(*testing.T, ChatScene) rag.ChatModel) {
	req := question("When does the ferry leave?")
	req.Tools = chatTools
	h := hear(t, open(t, ChatScene{Turn: Turn{Text: "Let me look.", Calls: chatCalls, Usage: chatTurn.Usage}}), req)
	if h.err != nil {
		t.Fatal(h.err)
	}
	ids := map[string]bool{}
	for i, c := range h.calls {
		ids[c.ID] = true
		if i < len(chatCalls) && (c.Name != chatCalls[i].Name || !sameJSON(c.Arguments, chatCalls[i].Arguments)) {
			t.Errorf("call %d is %s %s, want %s %s", i, c.Name, c.Arguments, chatCalls[i].Name, chatCalls[i].Arguments)
		}
	}
	if len(h.calls) != len(chatCalls) || len(ids) != len(chatCalls) || ids[""] {
		t.Errorf("got %d calls with the IDs %v, want %d with IDs of their own", len(h.calls), ids, len(chatCalls))
	}
	if h.text != "Let me look." || h.last.Stop != rag.StopTools || h.last.Usage != chatTurn.Usage {
		t.Errorf("got text %q, stop %q, usage %+v", h.text, h.last.Stop, h.last.Usage)
	}
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && cmp.Equal(x, y)
}

func chatResults(t *testing.T, open func(*testing.T, ChatScene) rag.ChatModel) {
	req := question("When does the ferry leave?")
	req.Tools = chatTools
	req.Messages = append(req.Messages,
		rag.ChatMessage{Role: rag.RoleAssistant, Calls: chatCalls},
		rag.ChatMessage{Role: rag.RoleTool, CallID: chatCalls[0].ID, Text: "[1] The ferry leaves at seven."},
		rag.ChatMessage{Role: rag.RoleTool, CallID: chatCalls[1].ID, Text: "ferries"})
	if h := hear(t, open(t, ChatScene{Turn: chatTurn}), req); h.err != nil || h.text != chatTurn.Text {
		t.Errorf("got %q, error %v", h.text, h.err)
	}
}

func chatSchemas(t *testing.T, open func(*testing.T, ChatScene) rag.ChatModel) {
	req := question("When does the ferry leave?")
	req.Schema = chatSchema
	if h := hear(t, open(t, ChatScene{Turn: Turn{Text: `{"hour": 7}`, Usage: chatTurn.Usage}}), req); h.err != nil || h.text != `{"hour": 7}` {
		t.Errorf("got %q, error %v", h.text, h.err)
	}
}

func chatPicture(t *testing.T, open func(*testing.T, ChatScene) rag.ChatModel) {
	req := question("What is this?")
	req.Messages[1].Images = []rag.ChatImage{{MediaType: "image/png", Data: onePixel}}
	h := hear(t, open(t, ChatScene{Turn: chatTurn}), req)
	if h.err != nil && !errors.Is(h.err, rag.ErrUnsupported) || h.err == nil && h.text != chatTurn.Text {
		t.Errorf("got %q, error %v", h.text, h.err)
	}
}

func chatInvalid(t *testing.T, open func(*testing.T, ChatScene) rag.ChatModel) {
	var asked atomic.Int32
	m := open(t, ChatScene{Turn: chatTurn, Asked: func() { asked.Add(1) }})
	for name, messages := range map[string][]rag.ChatMessage{
		"no message":             nil,
		"an unknown role":        {{Role: "oracle", Text: "x"}},
		"a result of no call":    {{Role: rag.RoleUser, Text: "x"}, {Role: rag.RoleTool, Text: "y"}},
		"a picture without data": {{Role: rag.RoleUser, Text: "x", Images: []rag.ChatImage{{MediaType: "image/png"}}}},
	} {
		if h := hear(t, m, rag.ChatRequest{Messages: messages}); !errors.Is(h.err, rag.ErrInvalid) && !errors.Is(h.err, rag.ErrUnsupported) {
			t.Errorf("%s: got error %v, want ErrInvalid", name, h.err)
		}
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func chatLazy(t *testing.T, open func(*testing.T, ChatScene) rag.ChatModel) {
	var asked atomic.Int32
	m := open(t, ChatScene{Turn: chatTurn, Asked: func() { asked.Add(1) }})
	reply := m.Chat(t.Context(), question("x"))
	if n := asked.Load(); n > 0 {
		t.Fatalf("%d requests were sent before the sequence was ranged over", n)
	}
	for range 2 {
		for _, err := range reply {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("%d requests were sent for two rounds", n)
	}
}

func chatKeyRefused(t *testing.T, open func(*testing.T, ChatScene) rag.ChatModel) {
	fails(t, open, ChatRefusesKey, rag.ErrInvalid)
}

func chatNoModel(t *testing.T, open func(*testing.T, ChatScene) rag.ChatModel) {
	fails(t, open, ChatNoModel, rag.ErrNotFound, rag.ErrInvalid)
}

func chatBusy(t *testing.T, open func(*testing.T, ChatScene) rag.ChatModel) {
	fails(t, open, ChatBusy, rag.ErrUnavailable)
}

func chatGarbage(t *testing.T, open func(*testing.T, ChatScene) rag.ChatModel) {
	fails(t, open, ChatGarbage, rag.ErrUnavailable, rag.ErrInvalid)
}

func chatCut(t *testing.T, open func(*testing.T, ChatScene) rag.ChatModel) {
	h := fails(t, open, ChatCut, rag.ErrUnavailable)
	if h.text == "" || h.text == chatTurn.Text || !strings.HasPrefix(chatTurn.Text, h.text) {
		t.Errorf("got %q before the error, want the beginning of %q", h.text, chatTurn.Text)
	}
}

// fails asks a service with a fault, and checks that the error is of one of the kinds and holds no key.
func fails(t *testing.T, open func(*testing.T, ChatScene) rag.ChatModel, fault ChatFault, kinds ...error) heard {
	t.Helper()
	h := hear(t, open(t, ChatScene{Turn: chatTurn, Fault: fault}), question("When does the ferry leave?"))
	for _, kind := range kinds {
		if errors.Is(h.err, kind) {
			if strings.Contains(h.err.Error(), ChatKey) {
				t.Errorf("the key is in the error: %v", h.err)
			}
			return h
		}
	}
	t.Fatalf("got error %v, want one of %v", h.err, kinds)
	return h
}

func chatDone(t *testing.T, open func(*testing.T, ChatScene) rag.ChatModel) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n := 0
	for _, err := range open(t, ChatScene{Turn: chatTurn}).Chat(ctx, question("x")) {
		if n++; !errors.Is(err, context.Canceled) || n > 1 {
			t.Errorf("got error %v, want context.Canceled once", err)
		}
	}
	if n == 0 {
		t.Error("got no error, want context.Canceled")
	}
}

// giveUpTime is how long a service may take to see that nobody listens any more. It is not waited for where it does.
const giveUpTime = 20 * time.Second

// untilGone runs a test over a service that hangs, and waits until the service sees its request given up.
func untilGone(t *testing.T, open func(*testing.T, ChatScene) rag.ChatModel, test func(m rag.ChatModel)) {
	t.Helper()
	gone := make(chan struct{}, 1)
	test(open(t, ChatScene{Turn: chatTurn, Fault: ChatHangs, Gone: func() { gone <- struct{}{} }}))
	select {
	case <-gone:
	case <-time.After(giveUpTime):
		t.Error("the request goes on")
	}
}

func chatCancel(t *testing.T, open func(*testing.T, ChatScene) rag.ChatModel) {
	untilGone(t, open, func(m rag.ChatModel) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var last error
		for _, err := range m.Chat(ctx, question("x")) {
			cancel()
			last = err
		}
		if !errors.Is(last, context.Canceled) {
			t.Errorf("got error %v, want context.Canceled", last)
		}
	})
}

func chatBreak(t *testing.T, open func(*testing.T, ChatScene) rag.ChatModel) {
	untilGone(t, open, func(m rag.ChatModel) {
		for _, err := range m.Chat(t.Context(), question("x")) {
			if err != nil {
				t.Error(err)
			}
			break
		}
	})
}

func chatConcurrent(t *testing.T, open func(*testing.T, ChatScene) rag.ChatModel) {
	m := open(t, ChatScene{Turn: chatTurn})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			text := ""
			for piece, err := range m.Chat(t.Context(), question("x")) {
				if err != nil {
					t.Error(err)
				}
				text += piece.Text
			}
			if text != chatTurn.Text {
				t.Errorf("got %q", text)
			}
		})
	}
	wg.Wait()
}
