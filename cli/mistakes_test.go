package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// goWords are what messages for people must not have: names and layouts of Go, and what its packages say of themselves.
var goWords = regexp.MustCompile(`(^|: )(json|strconv|yaml|template|time|reflect|encoding|toml): |cannot unmarshal|Go (struct|value)|\bWith[A-Z]\w+|\brag\.[A-Z]\w+|2006-01-02|parsing time|unmarshal|%!|\binterface ?\{|map\[string\]|\*?\b(int64|float64|uint8)\b|executing "`)

// Whatever is wrong in a configuration is said with file, line and key, and without Go.
func TestMistakesOfTheConfiguration(t *testing.T) {
	s := newShell(t)
	for i, tt := range []struct{ text, says string }{
		{"agent:\n  top_k: 0", `:2: agent.top_k: want a whole number from 1 to 10000, got 0: leave the key out for the default`},
		{"agent:\n  session:\n    turns: -1", `:3: agent.session.turns: want a whole number from 1 to 1000, got -1`},
		{"agent:\n  default_label: course", `:2: agent.default_label: it names one of custom_labels`},
		{"agent:\n  custom_labels:\n  - {name: a}\n  - name: b\n    action: serch", `:5: agent.custom_labels.1.action: "serch" is none, did you mean "search"?`},
		{"evaluation:\n  repeat: 0", ":2: evaluation.repeat: want a whole number from 1 to 1000, got 0"},
		{"evaluation:\n  metrics:\n  - ndcg@10\n  - faithfullness", `:4: evaluation.metrics.1: "faithfullness" is none, did you mean "faithfulness"? (known: `},
		{"evaluation:\n  metrics: [recall@many]", `:2: evaluation.metrics.0: "recall@many" is none`},
		{"fusion:\n  provider: rrf\n  k: 0", ":3: fusion.k: want a number above 0, at most 1000000, got 0"},
		{"fusion:\n  provider: rrf\n  k: .inf", ":3: fusion.k: want a number"},
		{"splitter:\n  overlap_tokens: 0", ":2: splitter.overlap_tokens: want a whole number from -1 to 5000000 but not 0"},
		{"trace:\n  provider: jsonl\n  keep_days: -1", ":3: trace.keep_days: want a whole number from 0 to 36500, got -1"},
		{"loaders:\n  text:\n    max_bytes: -5", ":3: loaders.text.max_bytes: want a whole number from 1 to "},
		{"loaders:\n  csv: {separator: ab}", ":2: loaders.csv.separator: "},
		{"retrieval:\n  enable_dense: false\n  enable_sparse: false", ":3: retrieval.enable_sparse: it is false, as is enable_dense"},
		{"llm:\n  provider: ollama\n  model: m\n  keep_alive: a while", ":4: llm.keep_alive: want seconds such as 300s"},
		{"llm:\n  provider: openai", ":1: llm: openai: model: which one"},
		{"llm:\n  provider: openai\n  model: m", ":1: llm: openai has no key"},
		{"embedder:\n  provider: local\n  model: ./none", ":1: embedder: ./none: model not found"},
		{"embedder: hash\nrerank: local", ":2: rerank: model not found"},
		{"embedder: hash\nrerank: llm", ":2: rerank: llm reranker: it needs a chat model: configure llm"},
		{"embedder: hash\ntransforms:\n- context\n- {provider: enrich, mode: llm}", ":4: transforms.1: enrich: mode llm needs a chat model: configure llm"},
		{"query_transforms:\n- hyde", ":2: query_transforms.0: hyde: it needs a chat model: configure llm"},
		{"a: b: c", ":1: mapping values are not allowed"},
		{"collection: [x", ":1: did not find expected ',' or ']'"},
		{"\tcollection: x", ":1: found character that cannot start any token"},
		{"collection: x\nanswer: *y", ":2: aliases are not supported"},
		{"answer:\n  system: |\n    Hello\n    {{.Qestion}}", `:2: answer.system: line 2 of the template: there is no field .Qestion, did you mean "Question"? (known: `},
		{"answer:\n  system: '{{range .Sources}}{{.Nummer}}{{end}}'", `:2: answer.system: line 1 of the template: there is no field .Nummer, did you mean "Number"?`},
		{"answer:\n  system: '{{.Question.Text}}'", ":2: answer.system: line 1 of the template: what stands before"},
		{"answer:\n  system: '{{'", ":2: answer.system: line 1 of the template: "},
		{"answer:\n  prompt: '{{len 3}}'", ":2: answer.prompt: line 1 of the template: "},
		{"answer:\n  prompt: '{{index .Sources 7}}'", ":2: answer.prompt: line 1 of the template: "},
		{"answer:\n  prompt: '{{range .Sources}}'", ":2: answer.prompt: line 1 of the template: it ends within"},
		{"answer:\n  system_file: none.txt", ":2: answer.system_file: open none.txt"},
	} {
		name := fmt.Sprintf("mistake%d.yaml", i)
		s.write(name, tt.text+"\n")
		cmd := s.command("config", "check", "--config", name)
		cmd.Env = append(cmd.Env, "OPENAI_API_KEY=", "RAG_MODEL_DIR=", "XDG_CACHE_HOME="+s.dir, "HOME="+s.dir)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), name+tt.says) {
			t.Errorf("%s\n%swant %s%s", tt.text, out, name, tt.says)
		}
		if found := goWords.FindString(string(out)); found != "" {
			t.Errorf("%s\n%sspeaks of Go: %s", tt.text, out, found)
		}
	}
}

// What is wrong with flags and files is said without Go.
func TestMistakesOfFilesAndFlags(t *testing.T) {
	s := newShell(t)
	s.write("docs/broken.md", "---\ntitle: a: b\n---\n# Broken\n\nThe front matter of this file is no YAML.\n")
	s.write("docs/nb.ipynb", `{"cells": 3, "nbformat": "four"}`)
	for i, line := range []string{`{"question": 5}`, `["a"]`, `{"question": "x", "answerable": "yes"}`, `hello`, `{"question": "x"`, `{"question": "x", "answerable": true, "as_of": "soon"}`} {
		s.write(fmt.Sprintf("questions%d.jsonl", i), line+"\n")
	}
	const head, end = `{"export":{"version":2,"collection":"default"}}` + "\n", `{"end":{"documents":1}}` + "\n"
	s.write("date.jsonl", head+`{"document":{"uri":"file:///a.md","state":"ok","text":"a","validity":{"stated":true,"from":"yesterday"},"source":{}}}`+"\n"+end)
	s.write("picture.jsonl", head+`{"document":{"uri":"file:///a.md","state":"ok","text":"a","images":[{"data":"%%"}],"source":{}}}`+"\n"+end)
	s.write("kind.jsonl", head+`{"document":{"uri":7}}`+"\n"+end)
	s.write("run.json", `{"format": "one"}`)
	s.write("tokens.json", "[\n  {\"token\": 5}\n]")
	s.write("grid.yaml", "grid:\n  retrieval.top_k: [few]\n")
	s.write("beir/corpus.jsonl", `{"_id": "a", "text": 5}`+"\n")
	s.write("beir/queries.jsonl", `{"_id": "q", "text": "x"}`+"\n")
	s.write("beir/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq\ta\t1\n")
	s.write("domain.yaml", "name: [\n")
	s.rag("ingest", "docs/broken.md").want(exitDone).prints("front matter could not be read and stays in the text: line 1: mapping values")
	for _, tt := range []struct {
		line, says string
	}{
		{"ingest docs/nb.ipynb", "no notebook (Cells: want a list, got a number)"},
		{"calibrate --questions questions0.jsonl", "questions0.jsonl:1: question: want a text, got a number"},
		{"calibrate --questions questions1.jsonl", "questions1.jsonl:1: want keys and values, got a list"},
		{"calibrate --questions questions2.jsonl", "questions2.jsonl:1: answerable: want true or false, got a text"},
		{"calibrate --questions questions3.jsonl", "questions3.jsonl:1: no JSON"},
		{"calibrate --questions questions4.jsonl", "questions4.jsonl:1: no whole JSON value: it ends too early"},
		{"calibrate --questions questions5.jsonl", "questions5.jsonl:1: as_of is no day like 2026-12-31"},
		{"import date.jsonl", "date.jsonl: line 2: document.validity.from: want a day with a time such as 2026-12-31T12:00:00Z, got another text"},
		{"import picture.jsonl", "picture.jsonl: line 2: document.images.0.data: want bytes in base64, got another text"},
		{"import kind.jsonl", "kind.jsonl: line 2: document.uri: want a text, got a number"},
		{"eval validate questions4.jsonl", "it ends too early"},
		{"eval validate beir", "text: want a text, got a number"},
		{"eval validate questions0.jsonl --domain domain.yaml", "domain.yaml"},
		{"eval compare run.json run.json", "format: want a whole number, got a text"},
		{"experiment --test-set questions0.jsonl --grid grid.yaml", ""},
		{"serve http --tokens tokens.json --addr 127.0.0.1:0", "tokens.json:2: token: want a text, got a number"},
		{"serve http --concurrent -3", "--concurrent: want a whole number that is not negative, got -3"},
		{"search x --wait soon", "--wait: want a time such as 30s or 5m"},
		{"search x --as-of soon", "neither a day like 2026-12-31"},
		{"trace list --since soon", "neither a day like 2026-12-31"},
		{"search x --filter year>", "--filter: column"},
	} {
		o := s.rag(strings.Fields(tt.line)...)
		if said := o.stdout + o.stderr; o.code == exitDone || !strings.Contains(said, tt.says) || goWords.MatchString(said) {
			t.Errorf("rag %s: exit code %d, want %q and nothing of Go (%q):\n%s", tt.line, o.code, tt.says, goWords.FindString(said), said)
		}
	}
}

// A verb that fails before anything is stored leaves no data folder that it had to make.
func TestFailureLeavesNoDataFolder(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.write("garbage.pdf", "%PDF-1.7\n\x00\x01\x02\xff")
	s.write("wrong.yaml", "embedder: hash\nloaders: {csv: {separator: ab}}\n")
	s.write("short.jsonl", `{"export":{"version":2,"collection":"default"}}`+"\n")
	const dir = "new/inner/kb"
	gone := func(line string) {
		t.Helper()
		if _, err := os.Lstat(filepath.Join(s.dir, "new")); err == nil {
			t.Errorf("%s left a data folder", line)
		}
	}
	for _, line := range []string{
		"ingest none", "ingest garbage.pdf", "ingest docs --domain none.yaml", "ingest docs --config wrong.yaml", "ingest --watch none", "ingest docs --no-such-flag",
		"import none", "import short.jsonl", "search --path none x", "search --path garbage.pdf x", "ask --path none x", "search --path docs x --mode none",
	} {
		if o := s.rag(append(strings.Fields(line), "--dir", dir)...); o.code == exitDone {
			t.Errorf("%s did not fail", line)
		}
		gone(line)
	}
	s.rag("ingest", "docs", "none", "--dir", dir).want(exitPartial)
	s.rag("ingest", "none", "--dir", dir).want(exitFailed)
	s.rag("list", "documents", "--dir", dir).want(exitDone).prints("leave.md")
	if err := os.MkdirAll(filepath.Join(s.dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.rag("ingest", "none", "--dir", "empty").want(exitFailed)
	if _, err := os.Lstat(filepath.Join(s.dir, "empty")); err != nil {
		t.Errorf("a folder that was there is gone: %v", err)
	}
}
