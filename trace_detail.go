package rag

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag/internal/mdtext"
	"github.com/seed-d8745b77/rag/internal/secret"
)

// TraceDetail is how much a trace tells: the setting "detail" of Config.Trace, whatever the sink. docs/formats.md names
// for each field the level from which on it is there. Secrets are in none.
type TraceDetail string

// The levels, each with all of the one before.
const (
	// DetailMinimal has stages, times, counts, ranks and kinds of errors: no text of a question, a document, an answer or
	// an error, no URIs and no candidates.
	DetailMinimal TraceDetail = "minimal"
	// DetailStandard, the default, has the question, URIs, what was left out and why, and up to 50 candidates of a stage.
	DetailStandard TraceDetail = "standard"
	// DetailVerbose has all candidates with the beginning of their texts, prompts, what chat models said, and answers.
	DetailVerbose TraceDetail = "verbose"
)

// verboseDetails are keys of Span.Detail that are told at DetailVerbose only.
var verboseDetails = []string{"prompt", "output"}

// tracing decides what of a trace is kept. All that is recorded goes through it.
type tracing struct {
	detail TraceDetail
	secret secret.Masker
}

// noteSecrets finds the values that no trace may tell, and listens to what providers take from the environment.
func (s *settings) noteSecrets() {
	s.secrets = slices.Clone(s.secrets)
	if all, err := json.Marshal(s.config); err == nil {
		s.secrets = append(s.secrets, secret.InJSON(all)...)
	}
	if getenv := s.getenv; getenv != nil {
		s.getenv = func(name string) string {
			value := getenv(name)
			s.secrets = append(s.secrets, value)
			return value
		}
	}
}

// buildTraces makes the sink. It comes after the providers, which have looked for their keys by then.
func (e *Engine) buildTraces(s *settings, env Env) error {
	c := s.config.Trace
	detail, err := takeDetail(&c)
	if err != nil {
		return err
	}
	e.tracing = tracing{detail, secret.NewMasker(s.secrets)}
	if s.sink == nil && c.Provider == None {
		return nil
	}
	if s.traceDir != "" {
		env.Dir = s.traceDir
	}
	e.sink, err = provide(e, "trace", "trace", s.sink, c, &s.providers.TraceSinks, env)
	return err
}

// takeDetail takes the level out of the settings: the rest is the sink's.
func takeDetail(c *ProviderConfig) (TraceDetail, error) {
	if len(c.Settings) == 0 {
		return DetailStandard, nil
	}
	settings := map[string]json.RawMessage{}
	if err := json.Unmarshal(c.Settings, &settings); err != nil {
		return "", fmt.Errorf("trace: settings must be an object: %v: %w", err, ErrInvalid)
	}
	raw, given := settings["detail"]
	if !given {
		return DetailStandard, nil
	}
	var detail TraceDetail
	levels := []string{string(DetailMinimal), string(DetailStandard), string(DetailVerbose)}
	if json.Unmarshal(raw, &detail) != nil {
		return "", &ConfigError{"trace.detail", fmt.Errorf("want a text (known: %s): %w", strings.Join(levels, ", "), ErrInvalid)}
	}
	if !slices.Contains(levels, string(detail)) {
		return "", UnknownName("trace.detail", string(detail), levels)
	}
	delete(settings, "detail")
	rest, err := json.Marshal(settings)
	c.Settings = rest
	return detail, err
}

// most is how many candidates of a stage a trace lists.
func (d tracing) most() int {
	if d.detail == DetailVerbose {
		return deepShaping
	}
	return maxCandidates
}

// tell returns what may be kept of a trace: a copy, at its level and without secrets.
func (d tracing) tell(t *Trace) *Trace {
	out := *t
	verbose, minimal := d.detail == DetailVerbose, d.detail == DetailMinimal
	text := func(s string) string { // what is told from DetailStandard on
		if minimal {
			return ""
		}
		return d.secret.Hide(s)
	}
	out.UserQuery = text(t.UserQuery)
	if minimal && t.UserQuery != "" {
		out.UserQuery = digestOf(t.UserQuery)
	}
	out.Error = text(t.Error)
	out.SourcePath = nil
	for _, path := range t.SourcePath {
		if !minimal {
			out.SourcePath = append(out.SourcePath, text(path))
		}
	}
	out.Stages = slices.Clone(t.Stages)
	for i := range out.Stages {
		d.tellSpan(&out.Stages[i], text)
	}
	out.TopK = slices.Clone(t.TopK)
	for i := range out.TopK {
		h := &out.TopK[i]
		if h.URI = text(h.URI); verbose {
			h.Snippet = text(h.Snippet)
		} else {
			h.Snippet = ""
		}
	}
	out.Files = slices.Clone(t.Files)
	for i := range out.Files {
		out.Files[i].URI, out.Files[i].Error = text(t.Files[i].URI), text(t.Files[i].Error)
	}
	out.Warnings = slices.Clone(t.Warnings)
	for i := range out.Warnings {
		out.Warnings[i].URI, out.Warnings[i].Message = text(t.Warnings[i].URI), text(t.Warnings[i].Message)
	}
	out.Notes = slices.Clone(t.Notes)
	for i := range out.Notes {
		out.Notes[i].Reason = text(out.Notes[i].Reason)
	}
	out.Answer = d.tellAnswer(t.Answer, text)
	return &out
}

// tellSpan is tell for a stage.
func (d tracing) tellSpan(s *Span, text func(string) string) {
	s.Error = text(s.Error)
	s.Candidates = slices.Clone(s.Candidates)
	if d.detail == DetailMinimal {
		s.Candidates = nil
	}
	for i := range s.Candidates {
		c := &s.Candidates[i]
		if c.URI, c.Snippet = text(c.URI), text(c.Snippet); d.detail != DetailVerbose {
			c.URI, c.Snippet = "", ""
		}
	}
	if s.Detail == nil {
		return
	}
	detail := make(map[string]any, len(s.Detail))
	for key, value := range s.Detail {
		if slices.Contains(verboseDetails, key) && d.detail != DetailVerbose {
			continue
		}
		if value, ok := d.tellValue(value); ok {
			detail[key] = value
		}
	}
	s.Detail = detail
}

// tellValue is tell for a detail; ok is false if none of it is told. Of those at DetailMinimal only numbers and truths are.
func (d tracing) tellValue(value any) (told any, ok bool) {
	switch v := value.(type) {
	case bool, int, int64, float64:
		return v, true
	}
	if d.detail == DetailMinimal {
		return nil, false
	}
	if s, ok := value.(string); ok {
		return d.secret.Hide(s), true
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return value, true // the sink says that it cannot be kept
	}
	var plain any
	if err := json.Unmarshal(raw, &plain); err != nil {
		return value, true
	}
	return d.hideIn(plain), true
}

// hideIn hides secrets in the texts of a value of JSON, which it changes.
func (d tracing) hideIn(value any) any {
	switch v := value.(type) {
	case string:
		return d.secret.Hide(v)
	case []any:
		for i := range v {
			v[i] = d.hideIn(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = d.hideIn(v[key])
		}
	}
	return value
}

// tellAnswer is tell for an answer.
func (d tracing) tellAnswer(a *AnswerTrace, text func(string) string) *AnswerTrace {
	if a == nil {
		return nil
	}
	out := *a
	out.Text, out.Reason = d.secret.Hide(a.Text), text(a.Reason) // a reason may name what was asked for
	out.Citations = slices.Clone(a.Citations)
	for i := range out.Citations {
		out.Citations[i].Claim = d.secret.Hide(out.Citations[i].Claim)
	}
	if d.detail == DetailVerbose {
		return &out
	}
	out.Text = ""
	for i := range out.Citations {
		out.Citations[i].Claim = ""
	}
	return &out
}

// mostSnippet is how many characters of a passage a trace has.
const mostSnippet = 200

// snippet is the beginning of a passage, on one line. Secrets are hidden before it is cut: half of one is one too.
func (d tracing) snippet(text string) string {
	return mdtext.Clip(oneSpaced(d.secret.Hide(text)), mostSnippet)
}

// atLeast is d at this level, if its own is lower.
func (d tracing) atLeast(level TraceDetail) tracing {
	if d.detail == DetailMinimal {
		d.detail = level
	}
	return d
}

// digestOf stands for a question that is not told: the same for the same words.
func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:8])
}
