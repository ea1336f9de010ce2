package local

import (
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"sync"
)

// defaultCacheSize keeps the pairs of some two hundred searches with twenty candidates each.
const defaultCacheSize = 4096

// key names a pair of a query and a text. The model is that of the reranker that owns the cache.
type key [sha256.Size]byte

func keyOf(query, text string) key {
	b := make([]byte, 0, 8+len(query)+len(text))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(query))) // so that no other split of the bytes has this key
	b = append(append(b, query...), text...)
	return sha256.Sum256(b)
}

// cache keeps the scores of the pairs that were used last. It is safe for concurrent use.
type cache struct {
	size int // most pairs; 0: none

	mu    sync.Mutex
	byKey map[key]*list.Element
	order *list.List // of entry, the one used last at the front
}

type entry struct {
	key   key
	score float64
}

// newCache returns a cache for so many pairs: 0 means the default, less none.
func newCache(size int) *cache {
	if size == 0 {
		size = defaultCacheSize
	}
	return &cache{size: max(size, 0), byKey: map[key]*list.Element{}, order: list.New()}
}

func (c *cache) get(k key) (float64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[k]
	if !ok {
		return 0, false
	}
	c.order.MoveToFront(e)
	return e.Value.(entry).score, true
}

func (c *cache) put(k key, score float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[k]; ok {
		c.order.MoveToFront(e)
		return
	}
	c.byKey[k] = c.order.PushFront(entry{k, score})
	if last := c.order.Back(); c.order.Len() > c.size {
		c.order.Remove(last)
		delete(c.byKey, last.Value.(entry).key)
	}
}
