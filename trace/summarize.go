package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// What a summary keeps of texts.
const (
	mostQuestion = 200 // characters of a question, an error or a source
	mostSources  = 3
	mostWords    = 500 // bytes that Query.Text is looked for in
)

// line is the part of a trace that a summary needs.
type line struct {
	ID         string    `json:"trace_id"`
	Type       string    `json:"trace_type"`
	Timestamp  time.Time `json:"timestamp"`
	Collection string    `json:"collection"`
	UserQuery  string    `json:"user_query"`
	Mode       string    `json:"mode"`
	SourcePath []string  `json:"source_path"`
	Stages     []struct {
		Stage     string  `json:"stage"`
		Status    string  `json:"status"`
		StartMS   float64 `json:"start_ms"`
		EndMS     float64 `json:"end_ms"`
		ElapsedMS float64 `json:"elapsed_ms"`
	} `json:"stages"`
	TotalMS float64     `json:"total_latency"`
	TopK    []struct{}  `json:"top_k_results"`
	Counts  *rag.Counts `json:"counts"`
	Answer  *struct {
		AnswerResult
		Refused bool `json:"refused"`
	} `json:"answer"`
	Notes []struct{} `json:"notes"`
	Error string     `json:"error"`
}

// bulk are the keys of a trace whose values are long and that a summary does not need. The objects of a flat list hold no
// objects.
var bulk = []struct {
	key  string
	flat bool
}{{"candidates", true}, {"trail", true}, {"details", false}, {"files", false}, {"rank_changes", false}, {"citations", false}}

// summarize reads the line of a trace, which it changes; ok is false if it is none.
func summarize(text []byte, names *interner) (e entry, ok bool) {
	e.length = len(text)
	for _, b := range bulk {
		text = without(text, b.key, b.flat)
	}
	var l line
	if json.Unmarshal(text, &l) != nil || l.ID == "" {
		return e, false
	}
	e.Summary = Summary{
		ID: l.ID, Type: names.of(l.Type), Timestamp: l.Timestamp, Collection: names.of(l.Collection), Question: clip(l.UserQuery), Mode: names.of(l.Mode),
		Status: l.status(), TotalMS: l.TotalMS, Stages: []StageTime{}, Hits: len(l.TopK), Counts: l.Counts, Notes: len(l.Notes), Error: clip(l.Error),
	}
	for _, source := range l.SourcePath[:min(len(l.SourcePath), mostSources)] {
		e.Sources = append(e.Sources, clip(source))
	}
	if l.Answer != nil {
		e.Answer = &l.Answer.AnswerResult
	}
	for _, s := range l.Stages {
		if s.Status == "" || s.Status == rag.SpanFailed || s.EndMS > 0 {
			e.Stages = append(e.Stages, StageTime{names.of(s.Stage), s.StartMS, s.EndMS, s.ElapsedMS, s.Status == rag.SpanFailed})
		}
	}
	words := strings.ToLower(l.ID + "\n" + l.UserQuery + "\n" + strings.Join(l.SourcePath, "\n"))
	e.words = strings.Clone(words[:min(len(words), mostWords)])
	return e, true
}

// status says what became of the call.
func (l *line) status() string {
	switch {
	case l.Error != "":
		return StatusError
	case l.Answer != nil && l.Answer.Refused:
		return StatusRefused
	case l.Counts != nil && l.Counts.Failed > 0:
		return StatusPartial
	}
	for _, s := range l.Stages {
		if s.Status == rag.SpanFailed {
			return StatusPartial
		}
	}
	return StatusOK
}

// clip returns the beginning of a text. It holds on to nothing else.
func clip(s string) string { return mdtext.Clip(s, mostQuestion) }

// interner keeps one copy of the names that every trace repeats.
type interner struct{ names map[string]string }

func (i *interner) of(name string) string {
	known, ok := i.names[name]
	if !ok {
		if i.names == nil {
			i.names = map[string]string{}
		}
		i.names[name] = name
	}
	return cmp.Or(known, name)
}

// without puts 0 in place of the objects and lists that are the values of a key, wherever it stands in a text of JSON
// without blanks. Reading them would take most of the time. The text is changed.
func without(text []byte, key string, flat bool) []byte {
	mark := []byte(`"` + key + `":`)
	out, rest := text[:0], text
	for {
		at := bytes.Index(rest, mark)
		if at < 0 {
			return append(out, rest...)
		}
		value := at + len(mark)
		// Inside a text a quotation mark stands behind a backslash, so behind these two begins a key.
		isKey := at > 0 && (rest[at-1] == '{' || rest[at-1] == ',')
		out = append(out, rest[:value]...)
		rest = rest[value:]
		if !isKey {
			continue
		}
		n := 0
		if flat {
			n = flatList(rest)
		}
		if n == 0 {
			n = nested(rest)
		}
		if n > 0 {
			out = append(out, '0')
			rest = rest[n:]
		}
	}
}

// flatList returns the length of the list of flat objects that text begins with; 0 if that cannot be told at a glance. It
// looks at many bytes at once, and most of a trace are such lists.
func flatList(text []byte) int {
	if !bytes.HasPrefix(text, []byte("[{")) {
		return 0
	}
	end := bytes.Index(text, []byte("}]")) + len("}]")
	list := text[:max(end, 0)]
	// No text ends in the middle of the list's end where all of its quotation marks are pairs.
	if end < len("}]") || bytes.IndexByte(list, '\\') >= 0 || bytes.Count(list, []byte{'"'})%2 != 0 {
		return 0
	}
	return end
}

// nested returns the length of the object or list that text begins with; 0 if it begins with something else, all of it
// if it does not end.
func nested(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		}
		if depth == 0 {
			if i == 0 && text[0] != '[' && text[0] != '{' || text[0] == '"' {
				return 0
			}
			return i + 1
		}
	}
	return len(text)
}
