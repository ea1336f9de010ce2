package agent

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/strict"
)

// Config sets an agent up. Its JSON form is the section "agent" of rag.yaml.
type Config struct {
	Labels       string  `json:"labels"`        // built-in set of labels: Hub or Course; "": Hub
	CustomLabels []Label `json:"custom_labels"` // labels in place of a built-in set; nil: none
	DefaultLabel string  `json:"default_label"` // of CustomLabels, for questions that nothing else fits; "": search
	Fields       []Field `json:"fields"`        // what a question can name, besides what the metadata of the collection has

	TopK      int    `json:"top_k,omitzero" range:"[1,10000]"`           // passages of a search of the agent's own; 0: 5
	MaxIters  int    `json:"max_iters,omitzero" range:"[1,100]"`         // replies of the model before it must answer, anew in each correction; 0: 4
	MaxVerify *int   `json:"max_verify" range:"[0,100]"`                 // corrections after a verification; 0: none; nil: 2
	MaxTokens int    `json:"max_tokens,omitzero" range:"[1,1000000000]"` // that the model reads and writes for one question; 0: 60,000
	TimeoutMS int    `json:"timeout_ms,omitzero" range:"[1,86400000]"`   // for one question of the agent; 0: 60,000
	Protocol  string `json:"protocol"`                                   // how tools are called: ProtocolAuto, ProtocolNative, ProtocolText; "": ProtocolAuto

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
// right are a *[rag.ConfigError].
func ParseConfig(raw json.RawMessage) (Config, error) {
	var c Config
	if err := rag.DecodeSettings(raw, &c); err != nil {
		return c, rag.InConfig("agent", err)
	}
	checked := c
	return c, checked.complete()
}

// wrong says what is wrong with a setting.
func wrong(key, format string, args ...any) error {
	return &rag.ConfigError{Key: "agent." + key, Err: fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), rag.ErrInvalid)}
}

// complete fills defaults in and finds what cannot be right.
func (c *Config) complete() error {
	if outside := strict.Check(c); outside != nil {
		return wrong(outside.Field, "%s", outside.Message)
	}
	protocols := []string{ProtocolAuto, ProtocolNative, ProtocolText}
	if c.Protocol == "" {
		c.Protocol = ProtocolAuto
	}
	if !slices.Contains(protocols, c.Protocol) {
		return rag.UnknownName("agent.protocol", c.Protocol, protocols)
	}
	if c.MaxVerify == nil {
		c.MaxVerify = new(2)
	}
	for _, n := range []struct {
		value    *int
		standard int
	}{
		{&c.TopK, 5}, {&c.MaxIters, 4}, {&c.MaxTokens, 60_000}, {&c.TimeoutMS, 60_000},
		{&c.Session.Turns, 10}, {&c.Session.SummaryAbove, 20}, {&c.Session.TTLSeconds, 3600}, {&c.Session.MaxSessions, 1000},
	} {
		*n.value = cmp.Or(*n.value, n.standard)
	}
	if c.Session.SummaryAbove < c.Session.Turns {
		return wrong("session.summary_above", "it is %d: it must not be below turns, %d", c.Session.SummaryAbove, c.Session.Turns)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.DefaultLabel != "" && c.CustomLabels == nil {
		return wrong("default_label", "it names one of custom_labels, and there are none")
	}
	set, err := c.labelSet()
	if err == nil {
		err = set.check()
	}
	if err != nil && c.CustomLabels != nil {
		if _, inside := errors.AsType[*rag.ConfigError](err); !inside {
			err = &rag.ConfigError{Err: err}
		}
		err = rag.InConfig("custom_labels", err)
	}
	return rag.InConfig("agent", err)
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
