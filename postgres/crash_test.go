package postgres_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/postgres"
)

// killsEnv is how often TestKilledAnywhere kills a process at each task; unset: kills.
const (
	killsEnv = "RAG_TEST_KILLS"
	kills    = 4
)

// crashTasks are what a process does while it is killed.
var crashTasks = map[string]func(ctx context.Context, eng *rag.Engine, folder string) error{
	"update": func(ctx context.Context, eng *rag.Engine, folder string) error {
		_, err := eng.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{rag.Dir(folder)}})
		return err
	},
	"delete": func(ctx context.Context, eng *rag.Engine, folder string) error {
		var half []string
		for i := range papers / 2 {
			half = append(half, rag.FileURI(folder+"/"+paperName(i)))
		}
		_, err := eng.Delete(ctx, rag.DeleteRequest{URIs: half})
		return err
	},
	"reindex": func(ctx context.Context, eng *rag.Engine, _ string) error {
		_, err := eng.Reindex(ctx, rag.ReindexRequest{})
		return err
	},
	"drop": func(ctx context.Context, eng *rag.Engine, _ string) error {
		_, err := eng.Delete(ctx, rag.DeleteRequest{All: true})
		if errors.Is(err, rag.ErrNotFound) { // it is done already
			return nil
		}
		return err
	},
}

// narrows stands between a process and the server and stops to pass on what the process sends after a number of bytes.
type narrows struct {
	to      string
	stopped chan struct{}
	once    sync.Once

	mu   sync.Mutex
	left int // bytes
	sent int
}

// narrow starts narrows before a database, and returns its settings.
func narrow(t *testing.T, at postgres.Config, bytes int) (*narrows, postgres.Config) {
	t.Helper()
	u, err := url.Parse(at.DSN)
	if err != nil {
		t.Fatal(err)
	}
	n := &narrows{to: u.Host, stopped: make(chan struct{}), left: bytes}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go n.serve(conn)
		}
	}()
	u.Host = listener.Addr().String()
	at.DSN = u.String()
	return n, at
}

func (n *narrows) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", n.to)
	if err != nil {
		return
	}
	defer server.Close() // with the process's end of the connection
	go func() { _, _ = io.Copy(client, server) }()
	buf := make([]byte, 4096)
	for {
		got, err := client.Read(buf)
		if err != nil {
			return
		}
		if _, err := server.Write(buf[:n.pass(got)]); err != nil {
			return
		}
	}
}

// pass is how many bytes of those that came go on.
func (n *narrows) pass(bytes int) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sent += bytes
	pass := min(bytes, n.left)
	if n.left -= pass; pass < bytes {
		n.once.Do(func() { close(n.stopped) })
	}
	return pass
}

// However far a process has come with what it sends to the database, when it is killed every document is seen whole, and
// after the same again and a repair nothing is left of it.
func TestKilledAnywhere(t *testing.T) {
	racetest.Skip(t)
	times := kills
	if text := os.Getenv(killsEnv); text != "" {
		var err error
		if times, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	for name := range crashTasks {
		t.Run(name, func(t *testing.T) {
			at, folder := database(t, ""), t.TempDir()
			eng, err := openEngine(at, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			defer eng.Close()
			prepare := func(version int) {
				t.Helper()
				writePapers(t, folder, version)
				if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(folder)}}); err != nil {
					t.Fatal(err)
				}
				writePapers(t, folder, version+1)
			}
			prepare(1)
			open, through := narrow(t, at, 1<<62)
			p := start(t, work{Task: name, At: through, Folder: folder})
			p.finish(t)
			whole := open.sent
			for i := range times {
				prepare(2*i + 3)
				offset := whole * (2*i + rand.IntN(2)) / (2 * times) //nolint:gosec // spread over the whole
				killedAt(t, name, eng, folder, offset)
			}
		})
	}
}

// killedAt kills a process that has sent so much.
func killedAt(t *testing.T, name string, eng *rag.Engine, folder string, bytes int) {
	t.Helper()
	at := database(t, "")
	n, through := narrow(t, at, bytes)
	p := start(t, work{Task: name, At: through, Folder: folder})
	<-n.stopped
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait() // killed
	for i := range papers {
		look := lookUp
		if name == "delete" || name == "drop" { // it may be gone already
			look = find
		}
		if err := look(eng, i); err != nil {
			t.Errorf("killed after %d bytes: %v", bytes, err)
		}
	}
	if err := crashTasks[name](t.Context(), eng, folder); err != nil {
		t.Errorf("killed after %d bytes, again: %v", bytes, err)
	}
	if name == "drop" {
		if all, err := eng.Collections(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("killed after %d bytes: %v, %v are left", bytes, all, err)
		}
		return
	}
	if _, err := eng.Repair(t.Context(), ""); err != nil { // a delete finds nothing to do, and leaves this to the next ingest or repair
		t.Error(err)
	}
	if rep, err := eng.Verify(t.Context(), ""); err != nil || !rep.OK {
		t.Errorf("killed after %d bytes, and done again: %+v, %v", bytes, rep, err)
	}
}
