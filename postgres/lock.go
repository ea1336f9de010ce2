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
// wait for other writers; then the error matches ErrLocked and names one. The lock is one of a connection of its own: the
// server gives it back when the process dies. A holder whose connection broke is refused by [Catalog.Commit] once another has
// taken the lock.
func (c *Catalog) LockCollection(ctx context.Context, collection string, wait time.Duration) (unlock func(), err error) {
	l, err := c.connectLock(ctx, collection)
	if err != nil {
		return nil, err
	}
	// Whoever waits for the collection has its gate, so that no more workers come in.
	err = l.await(ctx, wait, func() (bool, error) {
		got, err := l.try(ctx, gate, exclusive)
		if got {
			got, err = l.try(ctx, whole, exclusive)
		}
		return got, err
	})
	var taken int64
	if err == nil {
		taken, err = l.take(ctx)
	}
	if err != nil {
		release(ctx, l.conn)
		return nil, kind(ctx, err)
	}
	c.hold(collection, taken)
	return func() {
		c.letGo(collection)
		release(ctx, l.conn)
	}, nil
}

// ShareCollection makes the caller one of several writers of a collection. Its lock is shared, and otherwise as that of
// [Catalog.LockCollection]: also who shares is refused once another has taken the lock for itself.
func (c *Catalog) ShareCollection(ctx context.Context, collection string, wait time.Duration, first func() error) (unlock func(last func() error) error, err error) {
	l, err := c.connectLock(ctx, collection)
	if err != nil {
		return nil, err
	}
	if err := c.share(ctx, l, wait, first); err != nil {
		c.letGo(collection)
		release(ctx, l.conn)
		return nil, kind(ctx, err)
	}
	return func(last func() error) error {
		defer release(ctx, l.conn)
		defer c.letGo(collection)
		alone, err := l.leave(context.WithoutCancel(ctx))
		if err != nil || !alone {
			return nil // a connection that is gone holds nothing: the mark that last takes away stays for the next writer
		}
		return last()
	}, nil
}

// share takes the shared lock, after first where nobody else has it.
func (c *Catalog) share(ctx context.Context, l *collectionLock, wait time.Duration, first func() error) error {
	alone := false
	err := l.await(ctx, wait, func() (got bool, err error) {
		if got, err = l.try(ctx, gate, exclusive); !got || err != nil {
			return false, err
		}
		if alone, err = l.try(ctx, whole, exclusive); alone || err != nil {
			return alone, err
		}
		if got, err = l.try(ctx, whole, shared); got || err != nil {
			return got, err
		}
		return false, l.free(ctx, gate, exclusive) // who leaves last has it for a moment, and no gate
	})
	if err != nil {
		return err
	}
	if !alone {
		taken, err := l.taken(ctx)
		c.hold(l.collection, taken)
		return errors.Join(err, l.free(ctx, gate, exclusive))
	}
	taken, err := l.take(ctx)
	if err != nil {
		return err
	}
	c.hold(l.collection, taken)
	if err := first(); err != nil {
		return err
	}
	if err := c.forgetTouched(ctx, l.collection); err != nil {
		return err
	}
	if _, err := l.try(ctx, whole, shared); err != nil { // one's own other lock is no hindrance
		return err
	}
	return errors.Join(l.free(ctx, whole, exclusive), l.free(ctx, gate, exclusive))
}

// hold notes which taking of the lock this catalog writes under.
func (c *Catalog) hold(collection string, taken int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held[collection] = taken
}

func (c *Catalog) letGo(collection string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.held, collection)
}

// collectionLock is a connection for the locks of a collection.
type collectionLock struct {
	conn       *pgx.Conn
	schema     string
	collection string
}

// The locks of a collection: the one that writers have, and the one of those who take it or wait for it.
const (
	whole = ""
	gate  = "gate "
)

// The ways to have a lock, as the server's functions end.
const (
	exclusive = ""
	shared    = "_shared"
)

func (c *Catalog) connectLock(ctx context.Context, collection string) (*collectionLock, error) {
	if err := errors.Join(ctx.Err(), checkCollection(collection)); err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, c.pool.Config().ConnConfig)
	if err != nil {
		return nil, kind(ctx, err)
	}
	return &collectionLock{conn: conn, schema: c.pool.config.Schema, collection: collection}, nil
}

// key is what a lock's number is made of.
func (l *collectionLock) key(which string) string { return l.schema + " " + which + l.collection }

// try takes a lock if it is free. A session that has it already has it once more.
func (l *collectionLock) try(ctx context.Context, which, how string) (got bool, err error) {
	err = l.conn.QueryRow(ctx, `select pg_try_advisory_lock`+how+`(hashtextextended($2, $1))`, lockClass, l.key(which)).Scan(&got)
	return got, err
}

func (l *collectionLock) free(ctx context.Context, which, how string) error {
	_, err := l.conn.Exec(ctx, `select pg_advisory_unlock`+how+`(hashtextextended($2, $1))`, lockClass, l.key(which))
	return err
}

// await tries until it has got what it tries for, or must not wait longer.
func (l *collectionLock) await(ctx context.Context, wait time.Duration, try func() (bool, error)) error {
	for deadline := time.Now().Add(wait); ; {
		if got, err := try(); got || err != nil {
			return err
		}
		if !time.Now().Before(deadline) {
			return fmt.Errorf("collection %q is being written by %s: wait for it, or try again: %w", l.collection, l.holder(ctx), rag.ErrLocked)
		}
		select {
		case <-time.After(lockRetry):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// leave gives up the shared lock. It reports whether nobody has it any more: then the caller has it for himself. Of several
// that leave at once the last is told so.
func (l *collectionLock) leave(ctx context.Context) (alone bool, err error) {
	if alone, err = l.try(ctx, whole, exclusive); alone || err != nil {
		return alone, err
	}
	if err := l.free(ctx, whole, shared); err != nil {
		return false, err
	}
	return l.try(ctx, whole, exclusive)
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

// take counts that the lock was taken by one for himself.
func (l *collectionLock) take(ctx context.Context) (taken int64, err error) {
	err = l.conn.QueryRow(ctx, `
		insert into writers as w (collection, taken) values ($1, 1)
		on conflict (collection) do update set taken = w.taken + 1 returning taken`, l.collection).Scan(&taken)
	return taken, err
}

// taken is how often it was.
func (l *collectionLock) taken(ctx context.Context) (taken int64, err error) {
	err = l.conn.QueryRow(ctx, `select taken from writers where collection = $1`, l.collection).Scan(&taken)
	return taken, err
}

// holder says who has a lock, or waits for it: the name that its process gave itself, the server's number for it and where it
// connects from.
func (l *collectionLock) holder(ctx context.Context) string {
	var name, from string
	var pid int
	err := l.conn.QueryRow(ctx, `
		select a.application_name, a.pid, coalesce(host(a.client_addr), 'the server''s machine')
		from pg_locks l join pg_stat_activity a using (pid)
		where l.locktype = 'advisory' and l.granted and l.objsubid = 1 -- a key of 64 bits
			and l.database = (select oid from pg_database where datname = current_database()) and a.pid <> pg_backend_pid()
			and l.classid::bigint << 32 | l.objid::bigint in (hashtextextended($2, $1), hashtextextended($3, $1))
		order by l.classid::bigint << 32 | l.objid::bigint <> hashtextextended($2, $1) limit 1`,
		lockClass, l.key(whole), l.key(gate)).Scan(&name, &pid, &from)
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
