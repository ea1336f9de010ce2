package otel

import (
	"maps"
	"slices"

	"go.opentelemetry.io/otel/attribute"

	"github.com/seed-d8745b77/rag"
)

// words are the details that are words out of few, or names of models, and no text of anybody.
var words = []string{"language", "model", "similarity", "status", "stop"}

// details are the figures, switches and words that a stage tells, and the texts where they may be told, under
// rag.<stage>.<name>; and how it moved passages.
func (s *Sink) details(stage *rag.Span) (kv []attribute.KeyValue) {
	prefix := "rag." + stage.Stage + "."
	for _, name := range slices.Sorted(maps.Keys(stage.Detail)) {
		key := attribute.Key(prefix + name)
		switch v := stage.Detail[name].(type) {
		case int:
			kv = append(kv, key.Int(v))
		case int64:
			kv = append(kv, key.Int64(v))
		case float64:
			kv = append(kv, key.Float64(v))
		case bool:
			kv = append(kv, key.Bool(v))
		case string:
			if s.config.Content || slices.Contains(words, name) {
				kv = append(kv, key.String(v))
			}
		}
	}
	if m := stage.Moves; m != nil {
		for _, f := range []struct {
			name string
			n    int
		}{
			{"moved_up", m.MovedUp}, {"moved_down", m.MovedDown}, {"unchanged", m.Unchanged}, {"new", m.New},
			{"max_gain", m.MaxGain}, {"max_drop", m.MaxDrop}, {"dropped", m.Dropped},
		} {
			kv = append(kv, attribute.Int("rag.rank."+f.name, f.n))
		}
	}
	return kv
}

// said is a detail that is a text; "" if there is none.
func said(s *rag.Span, name string) string {
	text, _ := s.Detail[name].(string)
	return text
}

// figure is a detail that is a number; 0 if there is none. One that came through JSON is a float64.
func figure(s *rag.Span, name string) float64 {
	switch v := s.Detail[name].(type) {
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return 0
}

// whole is a detail that is a whole number.
func whole(s *rag.Span, name string) int { return int(figure(s, name)) }
