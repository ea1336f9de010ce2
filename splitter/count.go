package splitter

import (
	"strings"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag"
)

// counterOf returns what counts a unit; tokens may be nil.
func counterOf(unit string, tokens rag.TokenCounter) (rag.TokenCounter, error) {
	switch unit {
	case UnitTokens:
		if tokens == nil {
			return Estimate{}, nil
		}
		return tokens, nil
	case UnitCharacters:
		return counter(utf8.RuneCountInString), nil
	case UnitWords:
		return counter(func(text string) int { return len(strings.Fields(text)) }), nil
	}
	return nil, rag.UnknownName("unit", unit, []string{UnitTokens, UnitCharacters, UnitWords})
}

// counter is a function as a rag.TokenCounter.
type counter func(text string) int

func (c counter) CountTokens(text string) int { return c(text) }
