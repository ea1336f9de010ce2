package mcpadapter

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/seed-d8745b77/rag"
)

// remembered is what was collected of collections by reading all of them, each as long as the collection stays as it is.
type remembered[T any] struct {
	mu sync.Mutex
	of map[string]kept[T]
}

type kept[T any] struct {
	state string
	value T
}

// get returns what is known of a collection, and collects it where that is not, or no longer, known. Others wait meanwhile:
// they would all read the same.
func (r *remembered[T]) get(ctx context.Context, e *rag.Engine, name string, collect func() (T, error)) (T, error) {
	var zero T
	info, err := collectionInfo(ctx, e, name)
	if err != nil {
		return zero, err
	}
	state := fmt.Sprint(info.Updated, info.Header.Created, info.Documents, info.Chunks)
	r.mu.Lock()
	defer r.mu.Unlock()
	if k, ok := r.of[name]; ok && k.state == state {
		return k.value, nil
	}
	value, err := collect()
	if err != nil {
		return zero, err
	}
	if r.of == nil {
		r.of = map[string]kept[T]{}
	}
	r.of[name] = kept[T]{state, value}
	return value, nil
}

// collectionInfo describes a collection. One of which nothing is seen is as one that is not there.
func collectionInfo(ctx context.Context, e *rag.Engine, name string) (rag.CollectionInfo, error) {
	infos, err := e.Collections(ctx)
	if err != nil {
		return rag.CollectionInfo{}, err
	}
	at := slices.IndexFunc(infos, func(i rag.CollectionInfo) bool { return i.Name == name })
	if at < 0 {
		return rag.CollectionInfo{}, fmt.Errorf("there is no collection %q: list_collections names them: %w", name, rag.ErrNotFound)
	}
	return infos[at], nil
}
