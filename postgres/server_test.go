package postgres_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-d8745b77/rag/postgres"
	"github.com/seed-d8745b77/rag/postgres/internal/pgserver"
)

// shared is the server that the tests of this package have together, started by the first that needs one.
var shared struct {
	once   sync.Once
	server *pgserver.Server
	err    error
}

func TestMain(m *testing.M) {
	if work := os.Getenv(workEnv); work != "" { // a process of a test with several
		os.Exit(workAs(work))
	}
	code := m.Run()
	if shared.server != nil {
		if err := shared.server.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(code)
}

// database returns a schema of its own for a key, in a server of the machine's own. Where PostgreSQL is not installed the
// test is skipped and says so, or fails if RAG_REQUIRE_SERVICES is set.
func database(t testing.TB, key string) postgres.Config {
	t.Helper()
	bin := pgserver.Find()
	if bin == "" {
		if os.Getenv("RAG_REQUIRE_SERVICES") != "" {
			t.Fatal("PostgreSQL is required and not installed: run scripts/install-postgres")
		}
		t.Skip("skipped: needs PostgreSQL with pgvector: run scripts/install-postgres, or set RAG_POSTGRES to the folder of its programs")
	}
	shared.once.Do(func() { // what is lost when the machine fails is not tested here, so nothing waits for the disk
		shared.server, shared.err = pgserver.Start(bin, "fsync=off", "max_connections=200", "deadlock_timeout=100ms")
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	sum := sha256.Sum256([]byte(t.Name() + "\x00" + key))
	return postgres.Config{DSN: shared.server.DSN(), Schema: fmt.Sprintf("t%x", sum[:8])}
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
