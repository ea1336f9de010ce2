package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
)

// Config sets an agent up. Its JSON form is the section "agent" of rag.yaml.
type Config struct {
	Labels       string  `json:"labels"`        // built-in set of labels: Hub or Course; "": Hub
	CustomLabels []Label `json:"custom_labels"` // labels in place of a built-in set; nil: none
	DefaultLabel string  `json:"default_label"` // of CustomLabels, for questions that nothing else fits; "": search
	Fields       []Field `json:"fields"`        // what a question can name, besides what the metadata of the collection has

	TopK      int    `json:"top_k"`      // passages of a search of the agent's own; 0: 5
	MaxIters  int    `json:"max_iters"`  // replies of the model before it must answer, anew in each correction; 0: 4
	MaxVerify *int   `json:"max_verify"` // corrections after a verification; 0: none; nil: 2
	MaxTokens int    `json:"max_tokens"` // that the model reads and writes for one question; 0: 60,000
	TimeoutMS int    `json:"timeout_ms"` // for one question of the agent; 0: 60,000
	Protocol  string `json:"protocol"`   // how tools are called: ProtocolAuto, ProtocolNative, ProtocolText; "": ProtocolAuto

	Session SessionConfig `json:"session"`

	Model    rag.ChatModel    `json:"-"` // nil: that of the engine
	Verifier rag.Verifier     `json:"-"` // nil: that of the engine
	Now      func() time.Time `json:"-"` // nil: time.Now
}

// Protocols of calling tools.
const (
	ProtocolAuto   = "auto"   // native, and text for a model that takes no tools
	ProtocolNative = "native" // the tools of the model's service
	ProtocolText   = "text"   // lines of text
)

// ParseConfig reads the section "agent" of a configuration; nil is the zero Config. Unknown keys and values that cannot be
// right are ErrInvalid.
func ParseConfig(raw json.RawMessage) (Config, error) {
	var c Config
	if len(bytes.TrimSpace(raw)) == 0 {
		return c, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return c, fmt.Errorf("agent: %s: %w", strings.TrimPrefix(err.Error(), "json: "), rag.ErrInvalid)
	}
	checked := c
	return c, checked.complete()
}

// complete fills defaults in and finds what cannot be right.
func (c *Config) complete() error {
	protocols := []string{ProtocolAuto, ProtocolNative, ProtocolText}
	if c.Protocol == "" {
		c.Protocol = ProtocolAuto
	}
	if !slices.Contains(protocols, c.Protocol) {
		return fmt.Errorf("agent.protocol is %q%s (known: %s): %w", c.Protocol, rag.DidYouMean(c.Protocol, protocols), strings.Join(protocols, ", "), rag.ErrInvalid)
	}
	if c.MaxVerify == nil {
		c.MaxVerify = new(2)
	}
	for _, n := range []struct {
		key      string
		value    *int
		standard int
	}{
		{"top_k", &c.TopK, 5}, {"max_iters", &c.MaxIters, 4}, {"max_tokens", &c.MaxTokens, 60_000}, {"timeout_ms", &c.TimeoutMS, 60_000}, {"max_verify", c.MaxVerify, 0},
		{"session.turns", &c.Session.Turns, 10}, {"session.summary_above", &c.Session.SummaryAbove, 20}, {"session.ttl_s", &c.Session.TTLSeconds, 3600}, {"session.max_sessions", &c.Session.MaxSessions, 1000},
	} {
		if *n.value < 0 {
			return fmt.Errorf("agent.%s is %d: it must not be below 0: %w", n.key, *n.value, rag.ErrInvalid)
		}
		if *n.value == 0 {
			*n.value = n.standard
		}
	}
	if c.Session.SummaryAbove < c.Session.Turns {
		return fmt.Errorf("agent.session.summary_above is %d: it must not be below turns, %d: %w", c.Session.SummaryAbove, c.Session.Turns, rag.ErrInvalid)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	set, err := c.labelSet()
	if err != nil {
		return err
	}
	return set.check()
}

func (c *Config) labelSet() (LabelSet, error) {
	switch {
	case c.CustomLabels != nil:
		return LabelSet{Labels: c.CustomLabels, Default: c.DefaultLabel}, nil
	case c.Labels == "":
		return BuiltinLabels(Hub)
	}
	return BuiltinLabels(c.Labels)
}

func (c *Config) timeout() time.Duration { return time.Duration(c.TimeoutMS) * time.Millisecond }
