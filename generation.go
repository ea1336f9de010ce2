package rag

import (
	"context"
	"fmt"
	"strings"
	"sync"
)

// generationMark stands between a collection's name and its generation in the names that the indexes know. A
// collection whose own name holds it is refused.
const generationMark = "␞"

// indexName is the name under which the indexes know a generation of a collection.
func indexName(collection string, generation int) string {
	if generation == 0 {
		return collection
	}
	return fmt.Sprintf("%s%s%d", collection, generationMark, generation)
}

// checkCollection reports a name that could be taken for a generation of another collection.
func checkCollection(name string) error {
	if strings.Contains(name, generationMark) {
		return fmt.Errorf("collection name %q: %q is kept for the engine's own use: %w", name, generationMark, ErrInvalid)
	}
	return nil
}

// dropOthers removes every generation but the current one from both indexes: what reindexes that were cut short left,
// and what the last one replaced. The one after the current may have been begun.
func (e *Engine) dropOthers(ctx context.Context, name string, current int) error {
	for g := range current + 2 {
		if g == current {
			continue
		}
		if err := e.dropIndexes(ctx, indexName(name, g)); err != nil {
			return err
		}
	}
	return nil
}

// readers counts the searches that may be reading a generation of a collection.
type readers struct {
	mu      sync.Mutex
	current map[string]*sync.WaitGroup // by collection: searches since the last flip
}

// enter counts a search in; call the returned function when it has left the indexes. It must come before the search
// reads the header.
func (r *readers) enter(collection string) (leave func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == nil {
		r.current = map[string]*sync.WaitGroup{}
	}
	wg := r.current[collection]
	if wg == nil {
		wg = &sync.WaitGroup{}
		r.current[collection] = wg
	}
	wg.Add(1)
	return wg.Done
}

// drain waits for the searches that entered before it was called. Those that enter meanwhile do not wait.
func (r *readers) drain(collection string) {
	r.mu.Lock()
	wg := r.current[collection]
	delete(r.current, collection)
	r.mu.Unlock()
	if wg != nil {
		wg.Wait()
	}
}
