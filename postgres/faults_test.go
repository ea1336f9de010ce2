package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/postgres"
)

// proxy stands between the providers and the server, and cuts all connections after a number of bytes from the server's
// clients.
type proxy struct {
	to    string
	left  atomic.Int64 // bytes until the cut; below 0: none
	mu    sync.Mutex
	conns map[net.Conn]bool
}

// through starts a proxy before a database and returns its settings.
func through(t *testing.T, at postgres.Config) (*proxy, postgres.Config) {
	t.Helper()
	u, err := url.Parse(at.DSN)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{to: u.Host, conns: map[net.Conn]bool{}}
	p.left.Store(-1)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close(); p.cut() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(conn)
		}
	}()
	u.Host = listener.Addr().String()
	at.DSN = u.String()
	return p, at
}

func (p *proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.to)
	if err != nil {
		client.Close()
		return
	}
	p.mu.Lock()
	p.conns[client], p.conns[server] = true, true
	p.mu.Unlock()
	go func() {
		_, _ = io.Copy(client, server)
		client.Close()
	}()
	defer server.Close()
	buf := make([]byte, 512)
	for {
		n, err := client.Read(buf)
		if n > 0 {
			if left := p.left.Load(); left >= 0 && p.left.Add(int64(-n)) < 0 {
				p.left.Store(-1)
				p.cut()
				return
			}
			if _, err := server.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// cut closes all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		conn.Close()
	}
	clear(p.conns)
}

// A connection that is cut at any place of a write leaves all or nothing of it, the error is ErrUnavailable, and the next call
// works.
func TestConnectionCut(t *testing.T) {
	p, at := through(t, database(t, ""))
	c, err := postgres.OpenCatalog(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	v, err := postgres.OpenVectors(t.Context(), postgres.VectorConfig{Config: at})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	x, err := postgres.OpenSparse(t.Context(), postgres.SparseConfig{Config: at})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for _, store := range []struct {
		name  string
		write func(version string) error
		read  func() ([]string, error) // the version of each of two records
	}{
		{"catalog", func(version string) error {
			return c.Commit(t.Context(), "c", []rag.Change{cutPaper("a", version), cutPaper("b", version)})
		}, func() (versions []string, err error) {
			chunks, err := c.Chunks(t.Context(), "c", []string{"a#0", "b#0"})
			for _, chunk := range chunks {
				versions = append(versions, chunk.Text)
			}
			return versions, err
		}},
		{"vectors", func(version string) error {
			meta := rag.Meta{"version": version}
			return v.Upsert(t.Context(), "c", []rag.VectorRecord{{ID: "a", Vector: []float32{1, 0}, Meta: meta}, {ID: "b", Vector: []float32{0, 1}, Meta: meta}})
		}, func() (versions []string, err error) {
			return versionsOf(func(version string) ([]rag.Match, error) {
				return v.Search(t.Context(), "c", rag.VectorQuery{Vector: []float32{1, 0}, K: 5, Filter: rag.Eq("version", version)})
			})
		}},
		{"words", func(version string) error {
			meta := rag.Meta{"version": version}
			return x.Upsert(t.Context(), "c", []rag.TextRecord{{ID: "a", Text: "harbour", Meta: meta}, {ID: "b", Text: "harbour", Meta: meta}})
		}, func() (versions []string, err error) {
			return versionsOf(func(version string) ([]rag.Match, error) {
				return x.Search(t.Context(), "c", rag.SparseQuery{Text: "harbour", K: 5, Filter: rag.Eq("version", version)})
			})
		}},
	} {
		t.Run(store.name, func(t *testing.T) {
			if err := store.write("0"); err != nil {
				t.Fatal(err)
			}
			failed := 0
			for n := 1; n < 60; n++ {
				version := fmt.Sprint(n % 60)
				p.left.Store(int64(n * 97)) // somewhere else each time
				err := store.write(version)
				p.left.Store(-1)
				if err != nil {
					failed++
				}
				if err != nil && !errors.Is(err, rag.ErrUnavailable) {
					t.Errorf("cut after %d bytes: %v, want ErrUnavailable", n*97, err)
				}
				got, readErr := store.read()
				if errors.Is(readErr, rag.ErrUnavailable) { // on a connection that was idle when it was cut
					got, readErr = store.read()
				}
				if readErr != nil || len(got) != 2 || got[0] != got[1] || err == nil && got[0] != version {
					t.Fatalf("cut after %d bytes, %v: the versions %v are there, %v", n*97, err, got, readErr)
				}
			}
			if failed == 0 {
				t.Error("no write was cut")
			}
		})
	}
}

// versionsOf asks for each version that there may be.
func versionsOf(search func(version string) ([]rag.Match, error)) (versions []string, err error) {
	for n := range 60 {
		found, err := search(fmt.Sprint(n))
		if err != nil {
			return nil, err
		}
		for range found {
			versions = append(versions, fmt.Sprint(n))
		}
	}
	return versions, nil
}

func cutPaper(uri, version string) rag.Change {
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
	if err := c.Commit(t.Context(), "c", []rag.Change{cutPaper("a", "1")}); err != nil {
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
	p, at := through(t, direct)
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
	if err := one.Commit(t.Context(), "c", []rag.Change{cutPaper("a", "1")}); err != nil {
		t.Fatal(err)
	}
	if _, err := two.LockCollection(t.Context(), "c", 0); !errors.Is(err, rag.ErrLocked) {
		t.Fatalf("a lock that is held: %v, want ErrLocked", err)
	}
	p.cut()
	release, err := two.LockCollection(t.Context(), "c", 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for range 3 { // the first calls may find connections that were cut
		err = one.Commit(t.Context(), "c", []rag.Change{cutPaper("a", "2")})
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
