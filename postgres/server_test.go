package postgres_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-d8745b77/rag/postgres"
)

// server is the database that the tests of this package share, started by the first that needs one.
type server struct {
	dir  string // its data and its log
	port int
	stop context.CancelFunc
	done chan struct{}
}

var shared struct {
	once   sync.Once
	server *server
	err    error
}

func TestMain(m *testing.M) {
	if work := os.Getenv(workEnv); work != "" { // a process of a test with several
		os.Exit(workAs(work))
	}
	code := m.Run()
	if shared.server != nil {
		shared.server.close()
	}
	os.Exit(code)
}

// database returns a schema of its own for a key, in a server of the machine's own. Where PostgreSQL is not installed the
// test is skipped and says so, or fails if RAG_REQUIRE_SERVICES is set.
func database(t testing.TB, key string) postgres.Config {
	t.Helper()
	bin := findServer()
	if bin == "" {
		if os.Getenv("RAG_REQUIRE_SERVICES") != "" {
			t.Fatal("PostgreSQL is required and not installed: run scripts/install-postgres")
		}
		t.Skip("skipped: needs PostgreSQL with pgvector: run scripts/install-postgres, or set RAG_POSTGRES to the folder of its programs")
	}
	shared.once.Do(func() { shared.server, shared.err = startServer(bin) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	sum := sha256.Sum256([]byte(t.Name() + "\x00" + key))
	return postgres.Config{DSN: shared.server.dsn(), Schema: fmt.Sprintf("t%x", sum[:8])}
}

// findServer returns the folder of the server's programs; "" if there is none.
func findServer() string {
	places := []string{os.Getenv("RAG_POSTGRES"), "/opt/rag-postgres/bin"}
	if cache, err := os.UserCacheDir(); err == nil {
		places = append(places, filepath.Join(cache, "rag-postgres", "bin"))
	}
	for _, bin := range places {
		if _, err := os.Stat(filepath.Join(bin, "initdb")); bin != "" && err == nil {
			return bin
		}
	}
	return ""
}

// startServer makes an empty database in a folder of its own, and a server for it that only this machine reaches.
func startServer(bin string) (*server, error) {
	dir, err := os.MkdirTemp("", "rag-postgres-")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, done: make(chan struct{})}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	if err := s.start(ctx, bin); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *server) start(ctx context.Context, bin string) error {
	if err := giveToServer(s.dir); err != nil {
		close(s.done)
		return err
	}
	data := filepath.Join(s.dir, "data")
	initdb := asServer(exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", data, "-U", "rag", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"))
	initdb.Dir = s.dir
	if out, err := initdb.CombinedOutput(); err != nil {
		close(s.done)
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		close(s.done)
		return err
	}
	s.port = free.Addr().(*net.TCPAddr).Port
	free.Close()
	// What is lost when the machine fails is not tested here, so nothing waits for the disk.
	cmd := asServer(exec.CommandContext(ctx, filepath.Join(bin, "postgres"), "-D", data, "-p", fmt.Sprint(s.port), "-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories=", "-c", "fsync=off", "-c", "max_connections=200", "-c", "deadlock_timeout=100ms"))
	cmd.Dir = s.dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // end the sessions and stop
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		close(s.done)
		return err
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		close(s.done)
		return err
	}
	go func() { defer close(s.done); defer log.Close(); _ = cmd.Wait() }()
	return s.await(ctx)
}

// await waits until the server answers.
func (s *server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.dsn())
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-s.done:
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("the server ended: %s", log)
		case <-ctx.Done():
			return fmt.Errorf("the server does not answer: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *server) dsn() string {
	return fmt.Sprintf("postgres://rag@127.0.0.1:%d/postgres?sslmode=disable", s.port)
}

func (s *server) close() {
	s.stop()
	<-s.done
	if err := os.RemoveAll(s.dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		fmt.Fprintln(os.Stderr, err)
	}
}

// exec runs statements beside the providers.
func execSQL(t testing.TB, c postgres.Config, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), strings.ReplaceAll(sql, "SCHEMA", c.Schema)); err != nil {
		t.Fatal(err)
	}
}

// holdTable keeps all others from a table until free is called.
func holdTable(t *testing.T, c postgres.Config, table string) (free func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.DSN)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "begin; lock table "+c.Schema+"."+table); err != nil {
		t.Fatal(err)
	}
	return func() { conn.Close(t.Context()) }
}
