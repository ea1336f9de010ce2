package main

import "github.com/seed-d8745b77/rag"

// SharedWordsConfig is what rag.yaml can say of the reranker, as rerank: {provider: shared_words, min_letters: 4}.
type SharedWordsConfig struct {
	MinLetters int `json:"min_letters" range:"[0,100]"` // shorter words do not count; 0: all do
}

func init() {
	rag.Default.Rerankers.Register("shared_words", rag.Typed(func(_ rag.Env, c SharedWordsConfig) (rag.Reranker, error) {
		return SharedWords(c), nil
	}))
}
