package postgres_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/postgres"
	"github.com/seed-d8745b77/rag/ragtest"
)

// hostOf is host and port of a database.
func hostOf(t *testing.T, at postgres.Config) string {
	t.Helper()
	u, err := url.Parse(at.DSN)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// via is a database that is reached at another host and port.
func via(t *testing.T, at postgres.Config, host string) postgres.Config {
	t.Helper()
	at.DSN = strings.Replace(at.DSN, hostOf(t, at), host, 1)
	return at
}

func TestCatalogFaults(t *testing.T) {
	at := database(t, "")
	ragtest.TestCatalogFaults(t, hostOf(t, at), func(t *testing.T, host string) rag.Catalog {
		return openedAt(t, via(t, at, host), postgres.OpenCatalog)
	})
}

func TestVectorFaults(t *testing.T) {
	at := database(t, "")
	ragtest.TestVectorStoreFaults(t, hostOf(t, at), func(t *testing.T, host string) rag.VectorStore {
		return openedAt(t, postgres.VectorConfig{Config: via(t, at, host)}, postgres.OpenVectors)
	})
}

func TestSparseFaults(t *testing.T) {
	at := database(t, "")
	ragtest.TestSparseIndexFaults(t, hostOf(t, at), func(t *testing.T, host string) rag.SparseIndex {
		return openedAt(t, postgres.SparseConfig{Config: via(t, at, host)}, postgres.OpenSparse)
	})
}

func openedAt[S, C any](t *testing.T, c C, open func(context.Context, C) (S, error)) S {
	t.Helper()
	s, err := open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEngineFaults(t *testing.T) {
	racetest.Skip(t)
	ragtest.TestEngineFaults(t, hostOf(t, database(t, "")), func(t *testing.T, host string) *rag.Engine {
		at := via(t, database(t, ""), host)
		c := openedAt(t, at, postgres.OpenCatalog)
		v := openedAt(t, postgres.VectorConfig{Config: at}, postgres.OpenVectors)
		x := openedAt(t, postgres.SparseConfig{Config: at}, postgres.OpenSparse)
		eng, err := rag.Open("", rag.WithLockWait(time.Minute), rag.WithEmbedder(&ragtest.HashEmbedder{Dims: 32}), rag.WithCatalog(c), rag.WithVectorStore(v), rag.WithSparseIndex(x))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := errors.Join(eng.Close(), c.Close(), v.Close(), x.Close()); err != nil {
				t.Error(err)
			}
		})
		return eng
	})
}

func onePaper(uri, version string) rag.Change {
	return rag.Change{Put: &rag.Record{
		Entry:    rag.Entry{URI: uri, Chunks: []rag.ChunkRef{{ID: uri + "#0"}}},
		Document: rag.Document{URI: uri, Text: version},
		Chunks:   []rag.Chunk{{ID: uri + "#0", URI: uri, Text: version}},
	}}
}

// A statement that waits too long is given up, and one whose context ends, ends in the server.
func TestTimeOut(t *testing.T) {
	at := database(t, "")
	at.StatementTimeout = 300
	c, err := postgres.OpenCatalog(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Commit(t.Context(), "c", []rag.Change{onePaper("a", "1")}); err != nil {
		t.Fatal(err)
	}
	free := holdTable(t, at, "documents")
	if _, err := c.Entry(t.Context(), "c", "a"); !errors.Is(err, rag.ErrUnavailable) {
		t.Errorf("a statement that waits: %v, want ErrUnavailable", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Entry(ctx, "c", "a"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a context that ends: %v, want its error", err)
	}
	free()
	if _, err := c.Entry(t.Context(), "c", "a"); err != nil {
		t.Error(err)
	}
}

// A holder whose connection broke is refused once another writes.
func TestLostLock(t *testing.T) {
	direct := database(t, "")
	p := ragtest.NewProxy(t, hostOf(t, direct))
	at := via(t, direct, p.Addr)
	one, err := postgres.OpenCatalog(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	two, err := postgres.OpenCatalog(t.Context(), direct)
	if err != nil {
		t.Fatal(err)
	}
	defer two.Close()
	unlock, err := one.LockCollection(t.Context(), "c", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if err := one.Commit(t.Context(), "c", []rag.Change{onePaper("a", "1")}); err != nil {
		t.Fatal(err)
	}
	if _, err := two.LockCollection(t.Context(), "c", 0); !errors.Is(err, rag.ErrLocked) {
		t.Fatalf("a lock that is held: %v, want ErrLocked", err)
	}
	p.CutAll()
	release, err := two.LockCollection(t.Context(), "c", 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for range 3 { // the first calls may find connections that were cut
		err = one.Commit(t.Context(), "c", []rag.Change{onePaper("a", "2")})
		if !errors.Is(err, rag.ErrUnavailable) {
			break
		}
	}
	if !errors.Is(err, rag.ErrLocked) {
		t.Errorf("a commit of who lost the lock: %v, want ErrLocked", err)
	}
	d, err := two.Document(t.Context(), "c", "a")
	if diff := cmp.Diff("1", d.Text); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
