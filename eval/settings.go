package eval

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/datafile"
)

// Settings say who judges answers: the section "evaluation" of rag.yaml.
type Settings struct {
	Enabled  *bool    `json:"enabled"`                          // default true; false: answers are not judged
	Provider string   `json:"provider"`                         // "composite", the default, joins the backends; or the name of one
	Backends []string `json:"backends"`                         // of BackendNames; default: all for which the engine has what they need
	Metrics  []string `json:"metrics"`                          // each backend takes those that it has, default all; names of retrieval metrics are allowed, which are always measured
	Repeat   int      `json:"repeat,omitzero" range:"[1,1000]"` // times that the chat model judges each answer; default 1; at least 0
}

// Backends of answers' metrics.
const (
	BackendOverlap = "overlap" // words, see Overlap
	BackendVerify  = "verify"  // the engine's verifier, see Verified
	BackendJudge   = "judge"   // the engine's chat model, see Judge
)

// BackendNames lists the backends, in the order in which they are asked.
var BackendNames = []string{BackendOverlap, BackendVerify, BackendJudge}

// backendMetrics are what each backend measures.
var backendMetrics = map[string][]string{
	BackendOverlap: sortedKeys(overlapKinds), BackendVerify: {FaithfulnessVerified}, BackendJudge: JudgedMetrics,
}

// backendAliases are names that other systems have for them.
var backendAliases = map[string]string{"custom": BackendOverlap, "ragas": BackendJudge}

// composite is the provider that joins backends.
const composite = "composite"

// ParseSettings reads the section "evaluation" of a configuration; nil is the zero Settings. Unknown keys and values that
// cannot be right are a *[rag.ConfigError].
func ParseSettings(raw json.RawMessage) (Settings, error) {
	var s Settings
	if err := rag.DecodeSettings(raw, &s); err != nil {
		return s, rag.InConfig("evaluation", err)
	}
	names, err := s.backends()
	if err != nil {
		return s, err
	}
	if names == nil {
		names = BackendNames
	}
	return s, s.checkMetrics(names)
}

// checkMetrics finds a metric that nothing measures, neither a backend of answers nor what is measured of what was found.
func (s *Settings) checkMetrics(backends []string) error {
	var known []string
	for _, name := range backends {
		known = append(known, backendMetrics[name]...)
	}
	for i, metric := range s.Metrics {
		if !slices.Contains(known, metric) && !isRetrieval(metric) {
			return rag.UnknownName(fmt.Sprintf("evaluation.metrics.%d", i), metric, append(known, sortedKeys(metricKinds)...))
		}
	}
	return nil
}

// backends returns the names of the backends that are asked for; nil: all that can be had.
func (s *Settings) backends() ([]string, error) {
	names := slices.Clone(s.Backends)
	if s.Provider != "" && s.Provider != composite {
		names = []string{s.Provider}
	}
	for i, name := range names {
		if other, ok := backendAliases[name]; ok {
			names[i] = other
		}
		if !slices.Contains(BackendNames, names[i]) {
			key := "evaluation.provider"
			if named := s.Provider == "" || s.Provider == composite; named {
				key = fmt.Sprintf("evaluation.backends.%d", i)
			}
			return nil, rag.UnknownName(key, name, BackendNames)
		}
	}
	return names, nil
}

// Models are what backends ask.
type Models struct {
	Chat     rag.ChatModel // nil: none
	Embedder rag.Embedder  // nil: none
	Verifier rag.Verifier  // nil: none
	CacheDir string        // folder of a judge's verdicts; "": they are not kept
}

// Evaluator makes the evaluator of the settings; nil if it is switched off, or nothing is left of the metrics. ErrInvalid: a
// backend without what it needs, or a metric that nobody has.
func (s *Settings) Evaluator(m Models) (rag.Evaluator, error) {
	if s.Enabled != nil && !*s.Enabled {
		return nil, nil
	}
	names, err := s.backends()
	if err != nil {
		return nil, err
	}
	if names == nil {
		names = m.possible()
	}
	var backends []Backend
	taken := map[string]bool{}
	for _, name := range names {
		metrics := backendMetrics[name]
		if s.Metrics != nil {
			metrics = slices.DeleteFunc(slices.Clone(metrics), func(metric string) bool { return !slices.Contains(s.Metrics, metric) })
		}
		if len(metrics) == 0 {
			continue
		}
		e, err := m.backend(name, metrics, s.Repeat)
		if err != nil {
			return nil, err
		}
		for _, metric := range metrics {
			taken[metric] = true
		}
		backends = append(backends, Backend{Name: name, Evaluator: e})
	}
	for _, metric := range s.Metrics {
		if !taken[metric] && !isRetrieval(metric) {
			return nil, fmt.Errorf("evaluation: no backend of %s has the metric %q: %w", strings.Join(names, ", "), metric, rag.ErrInvalid)
		}
	}
	if len(backends) == 0 {
		return nil, nil
	}
	return NewComposite(backends...)
}

// verdictDir is the folder of a judge's verdicts below a data folder.
const verdictDir = "verdicts"

// EngineEvaluator makes what judges the answers of an engine, as the section "evaluation" of its configuration says, with
// the engine's models; verdicts are kept in its data folder ("": nowhere). backends and repeat go before the configuration
// unless they are empty or 0. It is nil if nothing judges. Errors are those of [ParseSettings] and [Settings.Evaluator].
func EngineEvaluator(eng *rag.Engine, dataDir string, backends []string, repeat int) (rag.Evaluator, error) {
	s, err := ParseSettings(eng.Config().Evaluation)
	if err != nil {
		return nil, err
	}
	if len(backends) > 0 {
		s.Enabled, s.Provider, s.Backends = nil, "", backends
	}
	s.Repeat = cmp.Or(repeat, s.Repeat)
	m := Models{Chat: eng.ChatModel(), Embedder: eng.Embedder(), Verifier: eng.Verifier()}
	if dataDir != "" {
		m.CacheDir = filepath.Join(dataDir, verdictDir)
		if err := datafile.NoLink(m.CacheDir); err != nil {
			return nil, fmt.Errorf("evaluation: %w: %w", err, rag.ErrInvalid)
		}
	}
	return s.Evaluator(m)
}

// isRetrieval reports whether a name is that of a metric of what was found, with or without its places.
func isRetrieval(name string) bool {
	kind, _, cut := strings.Cut(name, "@")
	if kind == "hit_rate" {
		name, kind = strings.Replace(name, kind, Hit, 1), Hit
	}
	if cut {
		_, err := ParseMetric(name)
		return err == nil
	}
	_, ok := metricKinds[kind]
	return ok
}

// possible are the backends that have what they need.
func (m *Models) possible() []string {
	names := []string{BackendOverlap}
	if m.Verifier != nil {
		names = append(names, BackendVerify)
	}
	if m.Chat != nil {
		names = append(names, BackendJudge)
	}
	return names
}

// backend makes a backend that measures no more than is asked: each metric of a judge costs a request.
func (m *Models) backend(name string, metrics []string, repeat int) (rag.Evaluator, error) {
	switch {
	case name == BackendOverlap:
		return NewOverlap(metrics)
	case name == BackendJudge:
		return NewJudge(m.Chat, JudgeConfig{Metrics: metrics, Repeat: repeat, CacheDir: m.CacheDir, Embedder: m.Embedder})
	case m.Verifier == nil:
		return nil, fmt.Errorf("evaluation: the backend verify needs a verifier, and none is configured: %w", rag.ErrInvalid)
	}
	return NewVerified(m.Verifier), nil
}
