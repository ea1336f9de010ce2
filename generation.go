package rag

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// generations are the names under which the indexes may know a collection: what it is, what reindexes that were cut short left,
// and what the last one replaced. The one after the current may have been begun.
func generations(name string, current int) []string {
	var all []string
	for g := range current + 2 {
		all = append(all, indexName(name, g))
	}
	return all
}

// dropOthers removes every generation but the current one from both indexes.
func (e *Engine) dropOthers(ctx context.Context, name string, current int) error {
	others := generations(name, current)
	return e.dropIndexes(ctx, slices.Delete(others, current, current+1))
}

// dropIndexes removes all records from both indexes under names that indexName gave.
func (e *Engine) dropIndexes(ctx context.Context, names []string) error {
	var errs []error
	for _, x := range e.indexes() {
		errs = append(errs, x.clear(ctx, names))
	}
	return errors.Join(errs...)
}

// clear removes all records under the names, if the index can do it.
func (x stagedIndex) clear(ctx context.Context, names []string) error {
	for _, name := range names {
		if d, ok := x.deleter.(Dropper); ok {
			if err := d.Drop(ctx, name); err != nil {
				return err
			}
			continue
		}
		lister, ok := x.deleter.(IDLister)
		if !ok {
			continue
		}
		var ids []string
		for id, err := range lister.IDs(ctx, name) {
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		if len(ids) == 0 {
			continue
		}
		if err := x.remove(ctx, name, ids); err != nil {
			return err
		}
	}
	return nil
}

// canClear reports ErrUnsupported for an index whose records can only be removed by those who know them.
func (e *Engine) canClear() error {
	for _, x := range e.indexes() {
		_, drops := x.deleter.(Dropper)
		_, lists := x.deleter.(IDLister)
		if !drops && !lists {
			return fmt.Errorf("the %s index in use cannot remove a whole collection: %w", x.stage, ErrUnsupported)
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
