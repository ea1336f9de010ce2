package mcpadapter

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine is the longest message on a stream, in bytes.
const maxLine = 4 << 20

// lines speaks the protocol over a pair of streams, a message a line. What is no message is answered here: the connection of
// the SDK ends with one, and with it the calls that are under way. When the input ends, those are waited for.
type lines struct {
	grace time.Duration // how long they are waited for

	in     chan line
	queue  []jsonrpc.Message // of the line that was read last
	err    error             // behind the queue
	end    func()            // closes ended
	ended  chan struct{}     // nothing more is read
	answer chan struct{}     // a call was answered since somebody looked

	mu   sync.Mutex // of what follows, and of writing
	out  io.Writer
	open map[jsonrpc.ID]*batch // calls that are not answered; nil for one that did not come in a batch
}

// line is a line of the input without the blanks around it.
type line struct {
	text []byte
	long bool // longer than maxLine, and without text
	err  error
}

// batch are calls that came on one line, as the version 2025-03-26 of the protocol has it: they are answered on one line.
type batch struct {
	left    int
	answers []json.RawMessage
}

// newLines begins to read.
func newLines(in io.Reader, out io.Writer, grace time.Duration) *lines {
	l := &lines{grace: grace, in: make(chan line), ended: make(chan struct{}), answer: make(chan struct{}, 1), out: out, open: map[jsonrpc.ID]*batch{}}
	l.end = sync.OnceFunc(func() { close(l.ended) })
	go l.scan(in)
	return l
}

// Connect makes it a transport of the SDK.
func (l *lines) Connect(context.Context) (mcp.Connection, error) { return l, nil }

// SessionID is that of the only session.
func (l *lines) SessionID() string { return "" }

// Close ends reading. The streams stay open: they are the caller's.
func (l *lines) Close() error { l.end(); return nil }

// scan reads lines until the input ends or nobody wants them.
func (l *lines) scan(from io.Reader) {
	in := bufio.NewReaderSize(from, 64<<10)
	for {
		next := readLine(in)
		select {
		case l.in <- next:
		case <-l.ended:
			return
		}
		if next.err != nil {
			return
		}
	}
}

func readLine(in *bufio.Reader) line {
	var l line
	for {
		part, err := in.ReadSlice('\n')
		if l.long = l.long || len(l.text)+len(part) > maxLine; l.long {
			l.text = nil
		} else {
			l.text = append(l.text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			l.text, l.err = bytes.Trim(l.text, " \t\r\n"), err
			return l
		}
	}
}

// Read returns the next message. When there are none left it waits for the calls under way: what a script pipes in is
// answered although the pipe ends behind it.
func (l *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	for len(l.queue) == 0 {
		if l.err != nil {
			l.drain()
			l.end()
			return nil, l.err
		}
		select {
		case <-ctx.Done():
			return nil, io.EOF
		case <-l.ended:
			return nil, io.EOF
		case next := <-l.in:
			l.err = next.err
			if refusal := l.take(next); refusal != nil {
				if err := l.put(refusal); err != nil {
					return nil, err
				}
			}
		}
	}
	m := l.queue[0]
	l.queue = l.queue[1:]
	return m, nil
}

// drain waits until all calls are answered, and no longer than the time of grace.
func (l *lines) drain() {
	late := time.NewTimer(l.grace)
	defer late.Stop()
	for {
		l.mu.Lock()
		n := len(l.open)
		l.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-l.answer:
		case <-late.C:
			return
		case <-l.ended:
			return
		}
	}
}

// take puts the messages of a line into the queue, or returns what is to be answered to it.
func (l *lines) take(next line) (refusal []byte) {
	text := next.text
	switch {
	case next.long:
		return refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is longer than %d bytes", maxLine))
	case len(text) == 0:
		return nil
	case !json.Valid(text):
		return refuse(nil, jsonrpc.CodeParseError, "the message is no JSON")
	}
	all, together := []json.RawMessage{text}, (*batch)(nil)
	if text[0] == '[' {
		together = &batch{}
		if err := json.Unmarshal(text, &all); err != nil || len(all) == 0 {
			return refuse(nil, jsonrpc.CodeInvalidRequest, "the batch is empty")
		}
	}
	var messages []jsonrpc.Message
	calls := map[jsonrpc.ID]*batch{}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, raw := range all {
		m, err := jsonrpc.DecodeMessage(raw)
		if a, ok := m.(*jsonrpc.Response); err != nil || ok && a.Result == nil && a.Error == nil {
			return refuse(idOf(raw), jsonrpc.CodeInvalidRequest, "the message is no request, notification or answer of JSON-RPC 2.0")
		}
		messages = append(messages, m)
		r, ok := m.(*jsonrpc.Request)
		if !ok || !r.IsCall() {
			continue
		}
		_, now := calls[r.ID]
		if _, before := l.open[r.ID]; now || before {
			return refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("another call has the ID %v", r.ID.Raw()))
		}
		calls[r.ID] = together
	}
	for id, of := range calls {
		l.open[id] = of
		if of != nil {
			of.left++
		}
	}
	l.queue = messages
	return nil
}

// idOf is the ID of what is no message, as far as it has one.
func idOf(raw json.RawMessage) any {
	var m struct {
		ID any `json:"id"`
	}
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	switch m.ID.(type) {
	case string, float64:
		return m.ID
	}
	return nil
}

// refuse is the answer to what is no message.
func refuse(id any, code int, message string) []byte {
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": message}})
	if err != nil {
		panic("mcpadapter: " + err.Error()) // plain data
	}
	return b
}

// Write writes a message; of a call that was cancelled, none.
func (l *lines) Write(_ context.Context, m jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	r, ok := m.(*jsonrpc.Response)
	if !ok {
		return l.put(b)
	}
	if isCancelled(b) {
		b = nil
	}
	l.mu.Lock()
	together := l.open[r.ID]
	l.mu.Unlock()
	if together != nil {
		b, err = l.join(together, b)
	}
	if err == nil && b != nil {
		err = l.put(b)
	}
	l.mu.Lock()
	delete(l.open, r.ID)
	l.mu.Unlock()
	select {
	case l.answer <- struct{}{}:
	default:
	}
	return err
}

// join keeps an answer until all others of its batch are there, and then returns them on one line; nil if there are none.
func (l *lines) join(together *batch, answer []byte) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if answer != nil {
		together.answers = append(together.answers, answer)
	}
	if together.left--; together.left > 0 || len(together.answers) == 0 {
		return nil, nil
	}
	return json.Marshal(together.answers)
}

func (l *lines) put(message []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.out.Write(append(message, '\n'))
	return err
}
