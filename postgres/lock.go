package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-d8745b77/rag"
)

// lockRetry is the pause between two tries to get a lock.
const lockRetry = 50 * time.Millisecond

// closePatience is how long giving a lock back may take; after it the connection is cut, which gives it back too.
const closePatience = 5 * time.Second

// LockCollection makes the caller the only writer of a collection among all processes, until unlock is called. It waits up to
// wait for another writer; then the error matches ErrLocked and names it. The lock is one of a connection of its own: the
// server gives it back when the process dies. A holder whose connection broke is refused by [Catalog.Commit] once another has
// taken the lock.
func (c *Catalog) LockCollection(ctx context.Context, collection string, wait time.Duration) (unlock func(), err error) {
	if err := errors.Join(ctx.Err(), checkCollection(collection)); err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, c.pool.Config().ConnConfig)
	if err != nil {
		return nil, kind(ctx, err)
	}
	taken, err := c.take(ctx, conn, collection, wait)
	if err != nil {
		closeSoon(ctx, conn)
		return nil, kind(ctx, err)
	}
	c.mu.Lock()
	c.held[collection] = taken
	c.mu.Unlock()
	return func() {
		c.mu.Lock()
		delete(c.held, collection)
		c.mu.Unlock()
		release(ctx, conn)
	}, nil
}

// release gives up the locks of a connection and closes it. The server notices later that a connection was closed, and who
// comes right behind would find the lock taken.
func release(ctx context.Context, conn *pgx.Conn) {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), closePatience)
	defer cancel()
	_, _ = conn.Exec(within, `select pg_advisory_unlock_all()`) // a connection that is gone holds none
	closeSoon(ctx, conn)
}

// closeSoon closes a connection, also when the context of the work is done.
func closeSoon(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closePatience)
	defer cancel()
	_ = conn.Close(ctx) // it is gone either way
}

// take gets the lock, waiting as long as it may, and counts that it was taken.
func (c *Catalog) take(ctx context.Context, conn *pgx.Conn, collection string, wait time.Duration) (taken int64, err error) {
	key := c.pool.config.Schema + " " + collection
	for deadline := time.Now().Add(wait); ; {
		var got bool
		if err := conn.QueryRow(ctx, `select pg_try_advisory_lock(hashtextextended($2, $1))`, lockClass, key).Scan(&got); err != nil {
			return 0, err
		}
		if got {
			break
		}
		if !time.Now().Before(deadline) {
			return 0, fmt.Errorf("collection %q is being written by %s: wait for it, or try again: %w", collection, holder(ctx, conn, key), rag.ErrLocked)
		}
		select {
		case <-time.After(lockRetry):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	err = conn.QueryRow(ctx, `
		insert into writers as w (collection, taken) values ($1, 1)
		on conflict (collection) do update set taken = w.taken + 1 returning taken`, collection).Scan(&taken)
	return taken, err
}

// holder says who holds a lock: the name that its process gave itself, the server's number for it and where it connects from.
func holder(ctx context.Context, conn *pgx.Conn, key string) string {
	var name, from string
	var pid int
	err := conn.QueryRow(ctx, `
		select a.application_name, a.pid, coalesce(host(a.client_addr), 'the server''s machine')
		from pg_locks l join pg_stat_activity a using (pid)
		where l.locktype = 'advisory' and l.granted and l.objsubid = 1 -- a key of 64 bits
			and l.database = (select oid from pg_database where datname = current_database())
			and l.classid::bigint << 32 | l.objid::bigint = hashtextextended($2, $1)`, lockClass, key).Scan(&name, &pid, &from)
	if err != nil { // it has gone meanwhile, or this user may not see it
		return "another process"
	}
	return fmt.Sprintf("%s, backend %d, from %s", name, pid, from)
}

// checkHeld reports ErrLocked if this catalog took the lock of the collection, and another took it since. It keeps others from
// taking it until the transaction ends.
func (c *Catalog) checkHeld(ctx context.Context, tx pgx.Tx, collection string) error {
	c.mu.Lock()
	mine, holds := c.held[collection]
	c.mu.Unlock()
	if !holds {
		return nil
	}
	var taken int64
	if err := tx.QueryRow(ctx, `select taken from writers where collection = $1 for share`, collection).Scan(&taken); err != nil {
		return err
	}
	if taken != mine {
		return fmt.Errorf("collection %q: the connection that held the lock broke, and another process writes now: run it again: %w", collection, rag.ErrLocked)
	}
	return nil
}
