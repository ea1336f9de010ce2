package dashboard

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitterSizes(t *testing.T) {
	for fingerprint, want := range map[string][]size{
		"recursive/v2/200/30/50":              {{"size", "200", "tokens"}, {"overlap", "30", "tokens"}},
		"recursive/v2/800/150/200/characters": {{"size", "800", "characters"}, {"overlap", "150", "characters"}},
		"one/of/another/form/of/its/own":      nil,
		"short":                               nil,
	} {
		if diff := cmp.Diff(want, splitterSizes(fingerprint)); diff != "" {
			t.Errorf("%s: %s", fingerprint, diff)
		}
	}
}
