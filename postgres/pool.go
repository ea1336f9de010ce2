// Package postgres keeps what an engine knows in a PostgreSQL database: the catalog, the vectors (with pgvector) and the
// words, so that many processes ingest and search at once. Importing it adds the providers "postgres" of the slots catalog,
// vector_store and sparse_index to rag.Default. Those with the same settings share one pool of connections.
//
//	at := postgres.Config{DSN: "postgres://rag@db.example.com/rag?sslmode=verify-full"}
//	c, err := postgres.OpenCatalog(ctx, at)
//	v, err := postgres.OpenVectors(ctx, postgres.VectorConfig{Config: at})
//	w, err := postgres.OpenSparse(ctx, postgres.SparseConfig{Config: at})
//	eng, err := rag.Open("", rag.WithCatalog(c), rag.WithVectorStore(v), rag.WithSparseIndex(w))
package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/seed-d8745b77/rag"
)

// Config says where the database is and how it is used.
type Config struct {
	DSN              string `json:"dsn"`                                                // "postgres://user:password@host:5432/database?sslmode=verify-full", or "host=… dbname=…"; must be given. A secret
	Schema           string `json:"schema"`                                             // of the tables; made if it is not there. Lower-case letters, digits and _, at most 40; "": "rag"
	MaxConns         int    `json:"max_conns,omitzero" range:"[2,10000]"`               // most connections of the process to a database under one set of settings; 0: 10; at least 2
	StatementTimeout int    `json:"statement_timeout_ms,omitzero" range:"[1,86400000]"` // longest that one statement may take, in milliseconds; 0: 60,000; at least 1. A whole call may take ten times as long
}

// Defaults of [Config].
const (
	defaultSchema           = "rag"
	defaultMaxConns         = 10
	defaultStatementTimeout = 60_000
)

// callStatements is how many statement time-outs a call may take as a whole: a connection that is cut without a word
// is given up then.
const callStatements = 10

var schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,39}$`)

// filled returns the settings with defaults, or ErrInvalid.
func (c Config) filled() (Config, error) {
	if c.Schema == "" {
		c.Schema = defaultSchema
	}
	if c.MaxConns == 0 {
		c.MaxConns = defaultMaxConns
	}
	if c.StatementTimeout == 0 {
		c.StatementTimeout = defaultStatementTimeout
	}
	switch {
	case c.DSN == "":
		return c, fmt.Errorf("postgres: dsn is not set: give the address of the database, such as postgres://user@host/name: %w", rag.ErrInvalid)
	case !schemaName.MatchString(c.Schema):
		return c, fmt.Errorf("postgres: schema is %q: give up to 40 lower-case letters, digits and _: %w", c.Schema, rag.ErrInvalid)
	case c.MaxConns < 2:
		return c, fmt.Errorf("postgres: max_conns is %d: give 2 or more: %w", c.MaxConns, rag.ErrInvalid)
	case c.StatementTimeout < 1:
		return c, fmt.Errorf("postgres: statement_timeout_ms is %d: give 1 or more: %w", c.StatementTimeout, rag.ErrInvalid)
	}
	return c, nil
}

// pool is the connections that providers with the same settings share.
type pool struct {
	*pgxpool.Pool
	config Config
	users  int // providers; guarded by pools.mu
}

var pools = struct {
	mu   sync.Mutex
	open map[Config]*pool
}{open: map[Config]*pool{}}

// openPool returns the pool of these settings, and brings the tables up to date where it is opened first. It is to be
// closed with release.
func openPool(ctx context.Context, c Config) (*pool, error) {
	c, err := c.filled()
	if err != nil {
		return nil, err
	}
	pools.mu.Lock()
	defer pools.mu.Unlock()
	p := pools.open[c]
	if p == nil {
		if p, err = connect(ctx, c); err != nil {
			return nil, err
		}
		pools.open[c] = p
	}
	p.users++
	return p, nil
}

// release closes the pool with its last user.
func (p *pool) release() {
	pools.mu.Lock()
	defer pools.mu.Unlock()
	if p.users--; p.users == 0 {
		delete(pools.open, p.config)
		p.Close()
	}
}

func connect(ctx context.Context, c Config) (*pool, error) {
	pc, err := pgxpool.ParseConfig(c.DSN)
	if err != nil {
		return nil, fmt.Errorf("postgres: dsn: %w: %w", err, rag.ErrInvalid) // the driver leaves the password out
	}
	pc.MaxConns = int32(min(c.MaxConns, 1<<16))
	params := pc.ConnConfig.RuntimeParams
	params["application_name"] = applicationName(params["application_name"])
	params["search_path"] = c.Schema + ", public"
	params["statement_timeout"] = strconv.Itoa(c.StatementTimeout)
	pc.ConnConfig.BuildContextWatcherHandler = cancelOnServer
	dialer := &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepAliveIdle, Interval: keepAliveInterval, Count: keepAliveCount}}
	pc.ConnConfig.DialFunc = dialer.DialContext
	db, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, kind(ctx, err)
	}
	p := &pool{Pool: db, config: c}
	if err := p.migrate(ctx); err != nil {
		db.Close()
		return nil, err
	}
	return p, nil
}

// A connection that says nothing for half a minute is asked whether it lives, so that a lock of a machine that is gone, or
// a server that is, is noticed within the minute.
const (
	keepAliveIdle     = 30 * time.Second
	keepAliveInterval = 10 * time.Second
	keepAliveCount    = 3
)

// applicationName tells others who holds a lock or runs a statement.
func applicationName(given string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	if given == "" {
		given = "rag"
	}
	return fmt.Sprintf("%s (process %d on %s)", given, os.Getpid(), host)
}

// cancelOnServer ends a statement in the server when its context is done; a connection that does not answer is closed.
func cancelOnServer(c *pgconn.PgConn) ctxwatch.Handler {
	return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: time.Second}
}

// Bounds of the tries of a call that others came in the way of, and the longest pause before the second try.
const (
	maxTries   = 10
	firstPause = 5 * time.Millisecond
)

// do runs a call, again if it lost against another transaction or the connection was gone before anything was sent.
func (p *pool) do(ctx context.Context, call func(ctx context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	all := time.Duration(p.config.StatementTimeout) * time.Millisecond * callStatements
	within, cancel := context.WithTimeout(ctx, all)
	defer cancel()
	pause := firstPause
	for try := 1; ; try++ {
		err := call(within)
		if err == nil {
			return nil
		}
		if !mayRetry(err) || try == maxTries {
			return kind(ctx, err)
		}
		wait := time.NewTimer(rand.N(pause)) //nolint:gosec // a pause, no secret
		select {
		case <-wait.C:
		case <-within.Done():
			wait.Stop()
			return kind(ctx, err)
		}
		pause *= 2
	}
}

// inTx runs a call in a transaction of its own.
func (p *pool) inTx(ctx context.Context, call func(tx pgx.Tx) error) error {
	return p.do(ctx, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, p.Pool, call)
	})
}

// mayRetry reports whether the same call may succeed now: it lost against another transaction, or nothing was sent.
func mayRetry(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch pg.Code {
		case "40001", "40P01", "23503": // serialization failure, deadlock, a picture that another took or gave at this moment
			return true
		}
		return false
	}
	return pgconn.SafeToRetry(err)
}

// kind adds the kind that a caller can test for.
func kind(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("postgres: %w", ctx.Err())
	}
	for _, ours := range []error{rag.ErrInvalid, rag.ErrNotFound, rag.ErrDimension, rag.ErrFingerprint, rag.ErrUnsupported, rag.ErrLocked, rag.ErrUnavailable} {
		if errors.Is(err, ours) {
			return err
		}
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok { // the connection broke, none could be made, or the server did not answer in time
		return fmt.Errorf("postgres: %w: %w", err, rag.ErrUnavailable)
	}
	if pg.Code == "57014" {
		return fmt.Errorf("postgres: a statement was cancelled, as it took longer than statement_timeout_ms or by an operator: %w: %w", err, rag.ErrUnavailable)
	}
	switch pg.Code[:2] {
	case "08", "40", "53", "55", "57", "58": // connection, rollback, resources, not in this state, operator, system
		return fmt.Errorf("postgres: %w: %w", err, rag.ErrUnavailable)
	case "22", "28", "3D", "42", "54", "0A": // data, authorization, no such database, no right or no such object, limits, feature
		return fmt.Errorf("postgres: %w: %w", err, rag.ErrInvalid)
	}
	return fmt.Errorf("postgres: %w", err)
}

// isCode reports whether an error is one of the server, by its code.
func isCode(err error, code string) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == code
}
