package rag

import (
	"crypto/sha256"
	"fmt"
	"sync"
)

// rememberedScores is how many scores of a reranker an engine remembers: at about 100 bytes each, a few megabytes.
const rememberedScores = 1 << 15

// scoreCache remembers scores of pairs. It holds two halves: when the younger is full it becomes the older, and what
// was in the older and not asked for since is forgotten.
type scoreCache struct {
	mu             sync.Mutex
	younger, older map[[sha256.Size]byte]float64
}

// scoreKey names a pair and the model that scores it.
func scoreKey(model, query, text string) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%d:%s%d:%s%s", len(model), model, len(query), query, text))
}

func (c *scoreCache) get(key [sha256.Size]byte) (float64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if x, ok := c.younger[key]; ok {
		return x, true
	}
	x, ok := c.older[key]
	if ok {
		c.add(key, x)
	}
	return x, ok
}

func (c *scoreCache) put(key [sha256.Size]byte, score float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(key, score)
}

// add needs mu.
func (c *scoreCache) add(key [sha256.Size]byte, score float64) {
	if len(c.younger) >= rememberedScores/2 {
		c.younger, c.older = nil, c.younger
	}
	if c.younger == nil {
		c.younger = map[[sha256.Size]byte]float64{}
	}
	c.younger[key] = score
}
