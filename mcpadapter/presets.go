package mcpadapter

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// DefaultTools are offered where nothing is chosen: enough to find, list and answer, and few enough for a small model.
var DefaultTools = []string{"hub", "ask", "explain"}

// presets are the tools by preset. Each preset has the names, parameters and fields of a system that it stands for.
func (a *Adapter) presets() map[string][]*tool {
	return map[string][]*tool{
		"hub":     {a.queryHub(), a.listCollections(), a.documentSummary()},
		"docs":    {a.search(), a.ask(), a.listTopics(), a.stats()},
		"course":  {a.searchDocuments(), a.askQuestion()},
		"explain": {a.explainPassage()},
		"ingest":  {a.ingest(), a.jobStatus(), a.cancelJob()},
		"delete":  {a.deleteDocument()},
	}
}

// Presets lists the presets that Options.Tools can name. "ingest" and "delete" change data.
func Presets() []string {
	return []string{"hub", "docs", "course", "explain", "ingest", "delete"}
}

// Writes reports whether one of these presets or tools changes data, which must then be open for writing. Names that are
// not known are for [New] to refuse.
func Writes(names []string) bool {
	tools, err := new(Adapter).named(names)
	return err == nil && slices.ContainsFunc(tools, func(t *tool) bool { return t.effect != reads })
}

// named returns the tools that presets and names of tools stand for, in order.
func (a *Adapter) named(names []string) ([]*tool, error) {
	presets := a.presets()
	single := map[string]*tool{}
	for _, tools := range presets {
		for _, t := range tools {
			single[t.name] = t
		}
	}
	var chosen []*tool
	for _, name := range names {
		switch {
		case presets[name] != nil:
			chosen = append(chosen, presets[name]...)
		case single[name] != nil:
			chosen = append(chosen, single[name])
		default:
			all := append(Presets(), slices.Sorted(maps.Keys(single))...)
			return nil, fmt.Errorf("there is no tool and no preset %q%s (there are: %s): %w", name, rag.DidYouMean(name, all), strings.Join(all, ", "), rag.ErrInvalid)
		}
	}
	return chosen, nil
}

// choose returns the tools of these names, each once, in order, and those of the domains.
func (a *Adapter) choose(names []string) ([]*tool, error) {
	chosen, err := a.named(names)
	if err != nil {
		return nil, err
	}
	for _, d := range a.options.Domains {
		if d.Tool != nil {
			chosen = append(chosen, a.domainTool(d))
		}
	}
	seen := map[string]bool{}
	var once []*tool
	for _, t := range chosen {
		if t.name == "ingest" && len(a.options.Roots) == 0 {
			return nil, fmt.Errorf("the tool ingest needs a folder that it may read from: %w", rag.ErrInvalid)
		}
		if !seen[t.name] {
			seen[t.name] = true
			once = append(once, t)
		}
	}
	return once, nil
}
