package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/catalog"
	"github.com/seed-d8745b77/rag/ragtest"
)

func TestSplitter(t *testing.T) {
	ragtest.TestSplitter(t, func(*testing.T) rag.Splitter { return Paragraphs{} })
}

func TestTransformer(t *testing.T) {
	ragtest.TestTransformer(t, func(*testing.T) rag.Transformer { return FileName{} })
}

func TestFuser(t *testing.T) { ragtest.TestFuser(t, BestRank) }

func TestReranker(t *testing.T) {
	ragtest.TestReranker(t, func(*testing.T) rag.Reranker { return SharedWords{} })
}

func TestQueryTransformer(t *testing.T) {
	ragtest.TestQueryTransformer(t, func(*testing.T) rag.QueryTransformer { return Abbreviations{"leave": "holidays"} })
}

func TestVerifier(t *testing.T) {
	ragtest.TestVerifier(t, func(*testing.T) rag.Verifier { return Verbatim{} })
}

func TestCatalog(t *testing.T) {
	ragtest.TestCatalog(t, func(*testing.T, string) rag.Catalog {
		return Announced{catalog.NewMemory(), func(string, []string) {}}
	}, ragtest.Volatile())
}

func TestTraceSink(t *testing.T) {
	ragtest.TestTraceSink(t, func(*testing.T) (rag.TraceSink, func() iter.Seq2[rag.Trace, error]) {
		var lines bytes.Buffer
		return NewLines(&lines), func() iter.Seq2[rag.Trace, error] { return read(&lines) }
	})
}

// read yields the traces that a sink has written.
func read(lines io.Reader) iter.Seq2[rag.Trace, error] {
	return func(yield func(rag.Trace, error) bool) {
		for d := json.NewDecoder(lines); ; {
			var t rag.Trace
			err := d.Decode(&t)
			if errors.Is(err, io.EOF) || !yield(t, err) {
				return
			}
		}
	}
}

func TestChatModel(t *testing.T) {
	ragtest.TestChatModel(t, house,
		ragtest.Except("calls come whole, each with an ID of its own", "the service has no tools"),
		ragtest.Except("results of calls are taken", "the service has no tools"))
}

// house returns a model over a service that plays a scene.
func house(t *testing.T, scene ragtest.ChatScene) rag.ChatModel {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not see that a client has gone
		scene.Asked()
		switch scene.Fault {
		case ragtest.ChatRefusesKey:
			http.Error(w, "no such key: "+r.Header.Get("Authorization"), http.StatusUnauthorized)
			return
		case ragtest.ChatNoModel:
			http.Error(w, "no such model", http.StatusNotFound)
			return
		case ragtest.ChatBusy:
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		case ragtest.ChatGarbage:
			fmt.Fprint(w, "<html>")
			return
		}
		send := func(piece any) {
			_ = json.NewEncoder(w).Encode(piece)
			_ = http.NewResponseController(w).Flush()
		}
		half := len(scene.Text) / 4
		send(map[string]string{"text": scene.Text[:half]})
		switch scene.Fault {
		case ragtest.ChatCut:
			return
		case ragtest.ChatHangs:
			<-r.Context().Done()
			scene.Gone()
			return
		}
		send(map[string]any{"text": scene.Text[half:], "stop": rag.StopEnd, "usage": scene.Usage})
	}))
	t.Cleanup(server.Close)
	return House{URL: server.URL, Key: ragtest.ChatKey, Client: server.Client()}
}

func TestRun(t *testing.T) {
	for name, c := range map[string]struct {
		chat rag.ChatModel
		want string
	}{
		"sentences": {nil, "28 days of paid leave"},
		"chat model": {house(t, ragtest.ChatScene{Turn: ragtest.Turn{Text: "Everybody has 28 days of paid leave a year [1]."}, Asked: func() {}, Gone: func() {}}),
			"(generated, verified: true)"},
	} {
		var out strings.Builder
		if err := run(t.Context(), &out, c.chat); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, want := range []string{"changed: mem:///leave.md\n", c.want, "2 traces\n"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: printed %q, want %q in it", name, out.String(), want)
			}
		}
	}
}
