package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestAsk(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.write("docs/machine.md", "# Machine\n\nThe coffee machine is cleaned on Fridays.\n")
	s.rag("ask", "--path", "docs", "when is the coffee machine cleaned?").want(exitDone).
		prints("The coffee machine is cleaned on Fridays. [1]", "extractive", "[1] docs")
	s.rag("ask", "--stream", "when is the coffee machine cleaned?").want(exitDone).prints("The coffee machine is cleaned on Fridays. [1]")
	s.rag("ask", "who won the football championship of Brazil?").want(exitDone).prints("I don't know.", "NO ANSWER")
	if o := s.rag("ask", "hello").want(exitDone); strings.Contains(o.stdout, "confidence") {
		t.Errorf("small talk has a confidence:\n%s", o.stdout)
	}
	s.rag("ask", "--stream", "--json", "coffee").want(exitUsage)
	s.rag("ask").want(exitUsage)
}

// The keys of the JSON are a promise.
func TestAskJSON(t *testing.T) {
	s := newShell(t)
	s.write("docs/machine.md", "# Machine\n\nThe coffee machine is cleaned on Fridays.\n")
	s.rag("ingest", "docs").want(exitDone)
	o := s.rag("ask", "--json", "when is the coffee machine cleaned?").want(exitDone)
	var got map[string]any
	if err := json.Unmarshal([]byte(o.stdout), &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Fields("question intent answer mode refused reason reliability needs_review confidence verified citations citations_rejected sources usage timings trace_id notes") {
		if v, ok := got[key]; !ok || v == nil {
			t.Errorf("%s is %v", key, v)
		}
	}
	citation := got["citations"].([]any)[0].(map[string]any)
	for _, key := range strings.Fields("marker chunk_id uri title page quote verdict reason") {
		if _, ok := citation[key]; !ok {
			t.Errorf("a citation has no %s", key)
		}
	}
}

func TestCalibrate(t *testing.T) {
	s := newShell(t)
	s.write("docs/machine.md", "# Machine\n\nThe coffee machine is cleaned on Fridays.\n")
	s.rag("ingest", "docs").want(exitDone)
	var lines strings.Builder
	for i := range 10 {
		fmt.Fprintf(&lines, "{\"set\": \"a\", \"question\": \"coffee machine cleaned %d\", \"answerable\": true}\n", i)
		fmt.Fprintf(&lines, "{\"set\": \"a\", \"question\": \"football championship %d\", \"answerable\": false}\n\n", i)
	}
	s.write("questions.jsonl", lines.String())
	s.rag("calibrate", "--questions", "questions.jsonl", "--set", "a").want(exitDone).prints("20 questions, 10 of them answerable", "kept with the collection")
	s.write("bad.jsonl", "{\"question\": \"x\", \"answerable\": true}\n{\"question\": \"x\"}\n")
	s.rag("calibrate", "--questions", "bad.jsonl").says("bad.jsonl:2")
	s.rag("calibrate", "--questions", "questions.jsonl", "--set", "b").says("give at least 10 of each")
	s.rag("calibrate").want(exitUsage)
}
