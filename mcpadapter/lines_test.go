package mcpadapter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// read reads all messages and returns the methods of requests, and what was answered meanwhile.
func read(t *testing.T, in string) (methods []string, answered string) {
	t.Helper()
	var out bytes.Buffer
	l := newLines(strings.NewReader(in), &out, 0)
	for {
		m, err := l.Read(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := m.(*jsonrpc.Request); ok {
			methods = append(methods, r.Method)
		}
	}
	for line := range strings.Lines(out.String()) {
		if !json.Valid([]byte(line)) || !strings.Contains(line, `"jsonrpc":"2.0"`) {
			t.Errorf("%q is no message", line)
		}
	}
	return methods, out.String()
}

func TestLinesRefuseWhatIsNoMessage(t *testing.T) {
	good := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, tt := range []struct{ in, want string }{
		{good, ""},
		{"\r\n \n" + good + "\r\n", ""},
		{`{"jsonrpc":"2.0","id":"a","method":5}` + "\n" + good, `"id":"a"`},
		{"no JSON\n" + good, `"code":-32700`},
		{`[]` + "\n" + good, `"code":-32600`},
		{`[{"jsonrpc":"2.0","id":7,"method":"x"},{"jsonrpc":"2.0","id":7,"method":"y"}]` + "\n" + good, "another call has the ID 7"},
		{good + "\n" + good, "another call has the ID 1"},
		{strings.Repeat("x", maxLine+1) + "\n" + good, `"code":-32600`},
	} {
		methods, answered := read(t, tt.in)
		if diff := cmp.Diff([]string{"ping"}, methods); diff != "" || !strings.Contains(answered, tt.want) || (tt.want == "") != (answered == "") {
			t.Errorf("%.80q: %s\n%s", tt.in, diff, answered)
		}
	}
}

func TestABatchIsAnsweredOnOneLine(t *testing.T) {
	var out bytes.Buffer
	in := `[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"note"},{"jsonrpc":"2.0","id":2,"method":"b"},{"jsonrpc":"2.0","id":3,"method":"c"}]`
	l := newLines(strings.NewReader(in), &out, 0)
	for range 4 {
		m, err := l.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r := m.(*jsonrpc.Request)
		if !r.IsCall() {
			continue
		}
		answer := &jsonrpc.Response{ID: r.ID, Result: json.RawMessage(`"` + r.Method + `"`)}
		if r.Method == "b" { // it was cancelled
			answer = &jsonrpc.Response{ID: r.ID, Error: &jsonrpc.Error{Code: codeCancelled, Message: "x"}}
		}
		if out.Len() > 0 {
			t.Errorf("before all are answered stands %s", &out)
		}
		if err := l.Write(context.Background(), answer); err != nil {
			t.Fatal(err)
		}
	}
	if want := `[{"jsonrpc":"2.0","id":1,"result":"a"},{"jsonrpc":"2.0","id":3,"result":"c"}]` + "\n"; out.String() != want {
		t.Errorf("%s, want %s", &out, want)
	}
}

func FuzzLines(f *testing.F) {
	for _, s := range []string{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `[{"jsonrpc":"2.0","id":1,"method":"a"},5]`, `{"jsonrpc":"2.0","id":1.5,"result":null}`, "\x00\n[[]]\n{", `{"jsonrpc":"2.0","id":{},"method":""}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		ping := `{"jsonrpc":"2.0","id":"the last","method":"the last"}`
		methods, _ := read(t, in+"\n"+ping)
		if (len(methods) == 0 || methods[len(methods)-1] != "the last") && !strings.Contains(in, "the last") {
			t.Errorf("after %q nothing is read: %q", in, methods)
		}
	})
}
