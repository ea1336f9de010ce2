package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/config"
)

// Variant is one way of searching.
type Variant struct {
	Name   string
	Mode   rag.Mode // "": what the configuration enables
	Config rag.Config

	locate func(error) error // says where in a file of variants an error in Config is; nil: it comes from none
}

// explain says of an error that comes of a variant which it is, and where it stands.
func (v *Variant) explain(err error) error {
	if v.locate != nil {
		err = v.locate(err)
	}
	return fmt.Errorf("variant %s: %w", v.Name, err)
}

// VariantNames are the variants that have a name of their own.
var VariantNames = []string{"dense", "sparse", "hybrid", "hybrid_rerank"}

// DefaultReranker is that of the variant hybrid_rerank where the configuration names none: it needs no model besides the
// embedder.
const DefaultReranker = "maxsim"

// patience is how long a reranker may take in a measurement, in milliseconds: a list that it did not finish in time would
// be measured as its order.
const patience = 60_000

// Named returns the variants of a configuration by name. An unknown name is ErrInvalid.
func Named(base rag.Config, names []string) ([]Variant, error) {
	list := make([]Variant, 0, len(names))
	for _, name := range names {
		v := Variant{Name: strings.TrimSpace(name), Config: base}
		v.Config.Rerank = rag.ProviderConfig{Provider: rag.None}
		switch v.Name {
		case "dense", "sparse", "hybrid":
			v.Mode = rag.Mode(v.Name)
		case "hybrid_rerank":
			v.Mode = rag.Hybrid
			if v.Config.Rerank = base.Rerank; base.Rerank.Provider == rag.None || base.Rerank.Provider == "" {
				v.Config.Rerank = rag.ProviderConfig{Provider: DefaultReranker}
			}
			v.Config.Retrieval.RerankMS = patience
		default:
			return nil, fmt.Errorf("variant %q%s (known: %s): %w", v.Name, rag.DidYouMean(v.Name, VariantNames), strings.Join(VariantNames, ", "), rag.ErrInvalid)
		}
		list = append(list, v)
	}
	return list, unique(list)
}

func unique(list []Variant) error {
	if len(list) == 0 {
		return fmt.Errorf("no variant is given: %w", rag.ErrInvalid)
	}
	seen := map[string]bool{}
	for _, v := range list {
		if seen[v.Name] {
			return fmt.Errorf("variant %q is there twice: %w", v.Name, rag.ErrInvalid)
		}
		seen[v.Name] = true
	}
	return nil
}

// Grid is a file of variants, in YAML.
type Grid struct {
	Baseline string           `json:"baseline"` // name of the variant that the others are compared with; "": the first
	Metrics  []string         `json:"metrics"`  // nil: the default ones
	Variants []GridVariant    `json:"variants"`
	Grid     map[string][]any `json:"grid"` // values by key of rag.yaml ("fusion.provider"): every combination is a variant
}

// GridVariant is a variant in a file: one that is known by its name, or changes to the configuration.
type GridVariant struct {
	Name   string         `json:"name"`
	Mode   rag.Mode       `json:"mode"`
	Config map[string]any `json:"config"` // as in rag.yaml, over the configuration in force
}

// mostVariants bounds a grid: each is a run of its own.
const mostVariants = 1000

// ReadGrid reads the content of a file of variants over a configuration; name is used in messages. What cannot be right is
// ErrInvalid, and the error names the line.
func ReadGrid(name string, data []byte, base rag.Config) (Grid, []Variant, error) {
	var g Grid
	lines, err := config.Decode(name, data, &g)
	if err != nil {
		return g, nil, err
	}
	list, err := g.variants(base)
	if _, known := errors.AsType[*rag.ConfigError](err); known {
		return g, nil, lines.Locate(err)
	} else if err != nil {
		return g, nil, fmt.Errorf("%s: %w", name, err)
	}
	for i := range list {
		key := "grid"
		if i < len(g.Variants) {
			key = fmt.Sprintf("variants.%d.config", i)
		}
		list[i].locate = func(err error) error {
			if _, known := errors.AsType[*rag.ConfigError](err); !known {
				return err
			}
			return lines.Locate(rag.InConfig(key, err))
		}
	}
	return g, list, nil
}

// variants are those of the list, then those of the grid. Errors in one are a *rag.ConfigError.
func (g *Grid) variants(base rag.Config) ([]Variant, error) {
	var list []Variant
	for i, gv := range g.Variants {
		v, err := gv.variant(base)
		if err != nil {
			return nil, rag.InConfig(fmt.Sprintf("variants.%d", i), err)
		}
		list = append(list, v)
	}
	combined, err := combine(base, g.Grid)
	if err != nil {
		return nil, err
	}
	if list = append(list, combined...); len(list) > mostVariants {
		return nil, fmt.Errorf("%d variants: the most is %d: %w", len(list), mostVariants, rag.ErrInvalid)
	}
	if err := unique(list); err != nil {
		return nil, err
	}
	if g.Baseline != "" && !slices.ContainsFunc(list, func(v Variant) bool { return v.Name == g.Baseline }) {
		return nil, &rag.ConfigError{Key: "baseline", Err: fmt.Errorf("%q is none of the variants: %w", g.Baseline, rag.ErrInvalid)}
	}
	return list, nil
}

func (gv *GridVariant) variant(base rag.Config) (Variant, error) {
	if gv.Name == "" {
		return Variant{}, &rag.ConfigError{Err: fmt.Errorf("the variant has no name: %w", rag.ErrInvalid)}
	}
	switch gv.Mode {
	case "", rag.Hybrid, rag.Dense, rag.Sparse:
	default:
		modes := []string{string(rag.Hybrid), string(rag.Dense), string(rag.Sparse)}
		return Variant{}, &rag.ConfigError{Key: "mode", Err: fmt.Errorf("%q is none%s (known: %s): %w", gv.Mode, rag.DidYouMean(string(gv.Mode), modes), strings.Join(modes, ", "), rag.ErrInvalid)}
	}
	v := Variant{Name: gv.Name, Mode: gv.Mode, Config: base}
	if slices.Contains(VariantNames, gv.Name) && gv.Mode == "" {
		named, err := Named(base, []string{gv.Name})
		if err != nil {
			return v, err
		}
		v = named[0]
	}
	var err error
	v.Config, err = overlay(v.Config, gv.Config)
	return v, rag.InConfig("config", err)
}

// combine makes a variant of each combination of values, in the order of the keys.
func combine(base rag.Config, grid map[string][]any) ([]Variant, error) {
	if len(grid) == 0 {
		return nil, nil
	}
	list := []Variant{{Config: base}}
	for _, key := range sortedKeys(grid) {
		if len(grid[key])*len(list) > mostVariants {
			return nil, fmt.Errorf("grid: more than %d combinations: %w", mostVariants, rag.ErrInvalid)
		}
		var next []Variant
		for _, v := range list {
			for _, value := range grid[key] {
				made := v
				var err error
				if made.Config, err = overlay(v.Config, nested(strings.Split(key, "."), value)); err != nil {
					return nil, atGrid(key, err)
				}
				made.Name = strings.TrimSpace(fmt.Sprintf("%s %s=%v", v.Name, key, value))
				next = append(next, made)
			}
		}
		list = next
	}
	return list, nil
}

// atGrid says of an error in the values of a key of a grid where that stands.
func atGrid(key string, err error) error {
	var inside *rag.ConfigError
	if errors.As(err, &inside) {
		err = inside.Err // its key is the grid's, or a part of that
	}
	return &rag.ConfigError{Key: "grid." + key, Err: err}
}

// nested makes {"a": {"b": value}} of the path a, b.
func nested(path []string, value any) map[string]any {
	if len(path) == 1 {
		return map[string]any{path[0]: value}
	}
	return map[string]any{path[0]: nested(path[1:], value)}
}

// overlay puts changes over a configuration. Objects are merged, everything else is replaced; what cannot be read is a
// *rag.ConfigError.
func overlay(base rag.Config, changes map[string]any) (rag.Config, error) {
	if len(changes) == 0 {
		return base, nil
	}
	var c rag.Config
	data, err := json.Marshal(changes)
	if err != nil {
		return c, fmt.Errorf("%v: %w", err, rag.ErrInvalid)
	}
	if err := rag.DecodeSettings(data, &c); err != nil { // alone: base may hold zeros, which stand for defaults
		return c, err
	}
	if data, err = json.Marshal(base); err != nil {
		return c, err
	}
	var all map[string]any
	if err := json.Unmarshal(data, &all); err != nil {
		return c, err
	}
	merge(all, changes)
	if data, err = json.Marshal(all); err != nil {
		return c, err
	}
	c = rag.Config{}
	return c, json.Unmarshal(data, &c)
}

// merge writes changes over values. The settings of another provider are not those of the one before.
func merge(values, changes map[string]any) {
	const provider = "provider"
	for key, change := range changes {
		have, isObject := values[key].(map[string]any)
		object, both := change.(map[string]any)
		if !isObject || !both {
			values[key] = change
			continue
		}
		if name, given := object[provider]; given && have[provider] != nil && name != have[provider] {
			have = map[string]any{}
			values[key] = have
		}
		merge(have, object)
	}
}
