package weaviate_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/vectorstore/weaviate"
)

// follower is a node that can lose the leader. A real one keeps who asks for a write waiting then, and carries it out long
// after.
type follower struct {
	next   http.Handler
	lost   atomic.Bool
	asked  func()       // for the leader, in vain
	writes atomic.Int64 // that were sent to it in vain
}

func (n *follower) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	schema := strings.HasPrefix(r.URL.Path, "/v1/schema")
	if !n.lost.Load() || !schema && r.URL.Path != "/v1/batch/objects" {
		n.next.ServeHTTP(w, r)
		return
	}
	if r.Method != http.MethodGet {
		n.writes.Add(1)
	} else if n.asked != nil {
		n.asked()
	}
	w.WriteHeader(http.StatusInternalServerError)
}

// serveFollower returns the node, and settings of a store that asks it first, then one that has the leader.
func serveFollower(t *testing.T, f *fake, other string) (*follower, weaviate.Config) {
	t.Helper()
	n := &follower{next: f}
	server := httptest.NewServer(n)
	t.Cleanup(server.Close)
	return n, weaviate.Config{URL: server.URL, Others: []string{other}, Replicas: 3}
}

// Nothing that writes is sent to a node that does not hear from the leader.
func TestLeaderLost(t *testing.T) {
	record := []rag.VectorRecord{{ID: "a", Vector: []float32{1, 0}}}
	for name, write := range map[string]func(ctx context.Context, v *weaviate.Vectors) error{
		"the first write of a collection": func(ctx context.Context, v *weaviate.Vectors) error { return v.Upsert(ctx, "new", record) },
		"a write":                         func(ctx context.Context, v *weaviate.Vectors) error { return v.Upsert(ctx, "c", record) },
		"a delete":                        func(ctx context.Context, v *weaviate.Vectors) error { return v.Delete(ctx, "c", []string{"a"}) },
		"a drop":                          func(ctx context.Context, v *weaviate.Vectors) error { return v.Drop(ctx, "c") },
	} {
		f, url := newFake(t)
		n, c := serveFollower(t, f, url)
		v := vectors(t, c)
		if err := v.Upsert(t.Context(), "c", record); err != nil {
			t.Fatal(err)
		}
		n.lost.Store(true)
		if err := write(t.Context(), v); err != nil || n.writes.Load() > 0 {
			t.Errorf("%s: error %v; %d were sent to the node that had lost the leader", name, err, n.writes.Load())
		}
	}
}

// A write waits for a leader as long as its context lasts.
func TestLeaderLostByAll(t *testing.T) {
	f, _ := newFake(t)
	n, c := serveFollower(t, f, "")
	c.Others = []string{c.URL}
	n.lost.Store(true)
	ctx, cancel := context.WithCancel(t.Context())
	n.asked = cancel
	err := vectors(t, c).Upsert(ctx, "c", []rag.VectorRecord{{ID: "a", Vector: []float32{1, 0}}})
	if !errors.Is(err, context.Canceled) || n.writes.Load() > 0 {
		t.Errorf("error %v, %d writes were sent; want the context's and none", err, n.writes.Load())
	}
}

// A batch that is refused for the moment is sent again, also where several nodes are known.
func TestRefusedForTheMoment(t *testing.T) {
	f, url := newFake(t)
	f.late = true
	v := vectors(t, weaviate.Config{URL: url, Others: []string{url}, Replicas: 3})
	if err := v.Upsert(t.Context(), "c", []rag.VectorRecord{{ID: "a", Vector: []float32{1, 0}}}); err != nil {
		t.Error(err)
	}
}
