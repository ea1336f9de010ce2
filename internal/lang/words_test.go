package lang

import "testing"

// TestVocabularyCountsOnce checks that no word is listed twice for one language: it would count twice.
func TestVocabularyCountsOnce(t *testing.T) {
	for word, said := range vocabulary {
		seen := map[language]bool{}
		for _, e := range said {
			if seen[e.language] {
				t.Errorf("%q is listed twice for %s", word, tags[e.language])
			}
			seen[e.language] = true
		}
	}
}
