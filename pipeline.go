package rag

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// pipeline is everything between a source's bytes and its chunks, by fingerprint. It stands in the ledger in words, so
// that an ingest can say what changed.
type pipeline struct {
	Loader     string   `json:"loader"`
	Splitter   string   `json:"splitter"`
	Transforms []string `json:"transforms"`
	// Fallback marks a document of which a transformer made less than was asked, since its chat model did not answer. It
	// is never what an ingest wants, so the next one does the document again.
	Fallback bool `json:"fallback,omitempty"`
	// Limits are those that left a part of the source out, with what they were, by the names of their settings under ingest:
	// where one is another now, the source is done again.
	Limits map[string]int `json:"limits,omitempty"`
}

// pipeline is that of this engine for sources that the loader reads.
func (e *Engine) pipeline(l namedLoader) pipeline {
	loader := fingerprint(l.Loader)
	if !strings.HasPrefix(loader, l.name+"/") {
		loader = l.name + " " + loader
	}
	return e.pipelineAfter(loader)
}

// pipelineAfter is that of this engine for documents that a loader of this fingerprint made.
func (e *Engine) pipelineAfter(loader string) pipeline {
	p := pipeline{Loader: loader, Splitter: fingerprint(e.splitter), Transforms: []string{}}
	for _, t := range e.transformers {
		p.Transforms = append(p.Transforms, fingerprint(t))
	}
	return p
}

// String is the form in which it stands in the ledger.
func (p pipeline) String() string { return string(mustJSON(p)) }

// outcome is a pipeline's ledger line with what became of a source in it.
func (c *IngestConfig) outcome(ledger string, fallback bool, hit []string) string {
	var p pipeline
	if err := json.Unmarshal([]byte(ledger), &p); err != nil {
		return ledger
	}
	p.Fallback = fallback
	for _, name := range hit {
		if p.Limits == nil {
			p.Limits = map[string]int{}
		}
		p.Limits[name] = c.limit(name)
	}
	return p.String()
}

// atLimits is a pipeline's ledger line with the present values of the limits that left something out before.
func (c *IngestConfig) atLimits(ledger, before string) string {
	var was pipeline
	if err := json.Unmarshal([]byte(before), &was); err != nil || len(was.Limits) == 0 {
		return ledger
	}
	return c.outcome(ledger, false, slices.Collect(maps.Keys(was.Limits)))
}

// stalePipeline says what differs between the pipeline that made a document and this engine's; "" if nothing does. The loader is the
// one of that name, if the engine still has it: which one reads a source is only known with its bytes.
func (e *Engine) stalePipeline(entry Entry) string {
	var was pipeline
	if json.Unmarshal([]byte(entry.Pipeline), &was) != nil {
		return pipelineChange(entry.Pipeline, entry.Pipeline)
	}
	now := e.pipelineAfter(was.Loader)
	if name := was.Loader[:max(strings.IndexAny(was.Loader, " /"), 0)]; e.config.leavesOut(name) {
		now.Loader = "" // another reads it, if one does
	}
	for _, l := range e.loaders.list {
		if strings.HasPrefix(was.Loader, l.name+"/") || strings.HasPrefix(was.Loader, l.name+" ") {
			now = e.pipeline(l)
			break
		}
	}
	line := e.config.Ingest.atLimits(now.String(), entry.Pipeline)
	if line == entry.Pipeline {
		return ""
	}
	return pipelineChange(entry.Pipeline, line)
}

// pipelineChange says what differs between the pipeline of a ledger line and the one in force.
func pipelineChange(was, is string) string {
	const changed = "pipeline changed"
	var old, now pipeline
	if json.Unmarshal([]byte(was), &old) != nil || json.Unmarshal([]byte(is), &now) != nil {
		return changed
	}
	var parts []string
	for _, part := range []struct{ name, was, is string }{
		{"loader", old.Loader, now.Loader}, {"splitter", old.Splitter, now.Splitter},
		{"transforms", strings.Join(old.Transforms, " + "), strings.Join(now.Transforms, " + ")},
	} {
		if part.was != part.is {
			parts = append(parts, fmt.Sprintf("%s %s → %s", part.name, orNone(part.was), orNone(part.is)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(old.Limits)) {
		if old.Limits[name] != now.Limits[name] {
			parts = append(parts, fmt.Sprintf("ingest.%s %d → %d", name, old.Limits[name], now.Limits[name]))
		}
	}
	if old.Fallback {
		parts = append(parts, "a chat model did not answer last time")
	}
	return strings.Join(append([]string{changed}, strings.Join(parts, "; ")), ": ")
}

// shownFields is how many names of changed metadata a reason lists.
const shownFields = 5

// metaChange says which of the values that are given with a source are not what the ledger has. A value that is no longer
// given is not seen: the file may give it.
func metaChange(old Entry, title string, given Meta) string {
	var names []string
	if title != "" && title != old.Title {
		names = append(names, FieldTitle)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		was, hadOne := old.Meta[name]
		if is, err := cleanValue(given[name]); err == nil && (hadOne != (is != nil) || string(mustJSON(was)) != string(mustJSON(is))) {
			names = append(names, name)
		}
	}
	if len(names) > shownFields {
		names = append(names[:shownFields], "…")
	}
	if len(names) == 0 {
		return "metadata changed"
	}
	return "metadata changed: " + strings.Join(names, ", ")
}
