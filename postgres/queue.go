package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-d8745b77/rag"
)

var _ rag.WorkQueue = (*Catalog)(nil)

// queueBatch is how many sources one statement puts into a queue.
const queueBatch = 1000

// Enqueue puts sources into the queue of a collection in one transaction. A URI that is no text is ErrInvalid.
func (c *Catalog) Enqueue(ctx context.Context, collection string, sources []rag.QueuedSource) error {
	if err := errors.Join(ctx.Err(), checkCollection(collection)); err != nil {
		return err
	}
	uris, recs, err := queueRows(sources)
	if err != nil {
		return err
	}
	return c.pool.inTx(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
			delete from queue where collection = $1 and state = 'done' and not exists (
				select from queue where collection = $1 and state in ('pending', 'running'))`, collection)
		for at := 0; at < len(uris) && err == nil; at += queueBatch {
			end := min(at+queueBatch, len(uris))
			_, err = tx.Exec(ctx, `
				insert into queue as q (collection, uri, source, state)
				select $1, s.uri, s.source, 'pending' from unnest($2::text[], $3::bytea[]) with ordinality as s(uri, source, n) order by n
				on conflict (collection, uri) do update set source = excluded.source, ready = now(), again = q.state = 'running',
					state = case q.state when 'running' then q.state else 'pending' end,
					tries = case q.state when 'running' then q.tries else 0 end,
					losses = case q.state when 'running' then q.losses else 0 end,
					error = case q.state when 'running' then q.error else '' end`, collection, uris[at:end], recs[at:end])
		}
		return err
	})
}

// queueRows are the columns of sources; of two with one URI the later one stays.
func queueRows(sources []rag.QueuedSource) (uris []string, recs [][]byte, err error) {
	places := map[string]int{}
	for _, s := range sources {
		if s.URI == "" || !isText(s.URI) {
			return nil, nil, fmt.Errorf("enqueue a source: its URI is %q, which is empty or no text: %w", s.URI, rag.ErrInvalid)
		}
		rec, err := encode(s)
		if err != nil {
			return nil, nil, fmt.Errorf("enqueue %s: %w", s.URI, err)
		}
		if at, twice := places[s.URI]; twice {
			recs[at] = rec
			continue
		}
		places[s.URI] = len(uris)
		uris, recs = append(uris, s.URI), append(recs, rec)
	}
	return uris, recs, nil
}

// Claim takes sources that wait, or whose lease ran out. What another transaction is at is passed over.
func (c *Catalog) Claim(ctx context.Context, collection, worker string, n int, lease time.Duration) (claims []rag.QueueClaim, err error) {
	if !isText(collection) {
		return nil, ctx.Err()
	}
	err = c.pool.do(ctx, func(ctx context.Context) error {
		rows, err := c.pool.Query(ctx, `
			with next as (
				select uri from queue
				where collection = $1 and state in ('pending', 'running')
					and (state = 'pending' and ready <= now() or state = 'running' and lease < now())
				order by losses, no limit $2 for update skip locked)
			update queue q set state = 'running', worker = $3, claim = nextval('queue_claims'), lease = now() + $4,
				losses = q.losses + (q.state = 'running')::integer, touched = q.touched || q.stale, stale = '{}'
			from next where q.collection = $1 and q.uri = next.uri
			returning q.no, q.source, q.claim, q.tries, q.losses, q.changing, q.touched`, collection, n, textOf(worker), lease)
		if err != nil {
			return err
		}
		claims, err = collectClaims(rows)
		return err
	})
	return claims, err
}

// collectClaims reads claims, in the order of their losses, then of the queue.
func collectClaims(rows pgx.Rows) ([]rag.QueueClaim, error) {
	var claims []rag.QueueClaim
	places := map[string]int64{}
	var rec []byte
	var no int64
	var claim rag.QueueClaim
	_, err := pgx.ForEachRow(rows, []any{&no, &rec, &claim.Number, &claim.Tries, &claim.Losses, &claim.Pending, &claim.Touched}, func() (err error) {
		next := claim
		next.Pending, next.Touched = slices.Clone(claim.Pending), slices.Clone(claim.Touched)
		if next.QueuedSource, err = decode[rag.QueuedSource](rec); err != nil {
			return err
		}
		places[next.URI] = no
		claims = append(claims, next)
		return nil
	})
	slices.SortFunc(claims, func(a, b rag.QueueClaim) int {
		if a.Losses != b.Losses {
			return a.Losses - b.Losses
		}
		return int(places[a.URI] - places[b.URI])
	})
	return claims, err
}

// Renew gives claims another lease, and keeps what they have touched. One whose lease ran out is still held as long as
// nobody took it over.
func (c *Catalog) Renew(ctx context.Context, collection string, claims []rag.QueueClaim, lease time.Duration) (held []string, err error) {
	if len(claims) == 0 || !isText(collection) {
		return nil, ctx.Err()
	}
	claims = byURI(claims, func(c rag.QueueClaim) string { return c.URI })
	err = c.pool.inTx(ctx, func(tx pgx.Tx) error {
		held = nil
		var b pgx.Batch
		for _, claim := range claims {
			b.Queue(`
				update queue set lease = now() + $4, changing = $5, touched = $6
				where collection = $1 and uri = $2 and claim = $3 and state = 'running'`,
				collection, claim.URI, claim.Number, lease, textsOf(claim.Pending), textsOf(claim.Touched)).
				Exec(func(done pgconn.CommandTag) error {
					if done.RowsAffected() == 1 {
						held = append(held, claim.URI)
					}
					return nil
				})
		}
		return tx.SendBatch(ctx, &b).Close()
	})
	return held, err
}

// byURI sorts a copy, so that two transactions lock rows in one order.
func byURI[T any](list []T, uri func(T) string) []T {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b T) int { return strings.Compare(uri(a), uri(b)) })
	return list
}

// CommitClaimed is [Catalog.Commit], in one transaction with the check that all claims are held. Until it ends nobody takes
// them over.
func (c *Catalog) CommitClaimed(ctx context.Context, collection string, claims []rag.QueueClaim, changes []rag.Change) error {
	byURI := make(map[string]int64, len(claims))
	for _, claim := range claims {
		byURI[claim.URI] = claim.Number
	}
	uris := slices.Sorted(maps.Keys(byURI))
	numbers := make([]int64, len(uris))
	for i, uri := range uris {
		numbers[i] = byURI[uri]
	}
	return c.commit(ctx, collection, changes, func(ctx context.Context, tx pgx.Tx) (id int64, err error) {
		held, err := tx.Exec(ctx, `
			select from queue q join unnest($2::text[], $3::bigint[]) as c(uri, claim) using (uri, claim)
			where q.collection = $1 and q.state = 'running' order by q.uri for share of q`, collection, uris, numbers)
		if err != nil {
			return 0, err
		}
		if lost := int64(len(uris)) - held.RowsAffected(); lost > 0 {
			return 0, fmt.Errorf("collection %q: %d of %d sources were taken over by another worker: %w", collection, lost, len(uris), rag.ErrLocked)
		}
		// The row is not locked before the counts change, at the end: workers commit at once.
		err = tx.QueryRow(ctx, `select id from collections where name = $1`, collection).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			err = fmt.Errorf("collection %q was deleted meanwhile: %w", collection, rag.ErrLocked)
		}
		return id, err
	})
}

// Settle ends claims in one transaction.
func (c *Catalog) Settle(ctx context.Context, collection string, ends []rag.QueueEnd) error {
	if err := errors.Join(ctx.Err(), checkCollection(collection)); err != nil || len(ends) == 0 {
		return err
	}
	ends = byURI(ends, func(e rag.QueueEnd) string { return e.URI })
	return c.pool.inTx(ctx, func(tx pgx.Tx) error {
		var b pgx.Batch
		var stale []rag.QueueEnd
		for _, end := range ends {
			b.Queue(`
				update queue set state = case when again then 'pending' else $4 end, ready = now() + case when again then '0' else $5::interval end,
					tries = case when again then 0 else $6 end, losses = case when again then 0 else losses end,
					error = case when again then '' else $7 end, again = false, lease = null, changing = $8, touched = $9
				where collection = $1 and uri = $2 and claim = $3 and state = 'running'`,
				collection, end.URI, end.Number, end.State, end.Wait, end.Tries, textOf(end.Error), textsOf(end.Pending), textsOf(end.Touched)).
				Exec(func(done pgconn.CommandTag) error {
					if done.RowsAffected() == 0 && len(end.Touched) > 0 {
						stale = append(stale, end)
					}
					return nil
				})
		}
		if err := tx.SendBatch(ctx, &b).Close(); err != nil {
			return err
		}
		return queueStale(ctx, tx, collection, stale)
	})
}

// queueStale has sources worked on again of which a worker wrote records after another had taken them over.
func queueStale(ctx context.Context, tx pgx.Tx, collection string, ends []rag.QueueEnd) error {
	var b pgx.Batch
	for _, end := range ends {
		rec, err := encode(end.QueuedSource)
		if err != nil {
			return err
		}
		b.Queue(`
			insert into queue as q (collection, uri, source, state, stale) values ($1, $2, $3, 'pending', $4)
			on conflict (collection, uri) do update set stale = q.stale || excluded.stale, again = q.state = 'running',
				state = case q.state when 'running' then q.state else 'pending' end`,
			collection, end.URI, rec, textsOf(end.Touched))
	}
	return tx.SendBatch(ctx, &b).Close()
}

// Queue counts the sources of a collection's queue.
func (c *Catalog) Queue(ctx context.Context, collection string, most int) (s rag.QueueStatus, err error) {
	if err := ctx.Err(); err != nil {
		return s, err
	}
	err = c.pool.do(ctx, func(ctx context.Context) error {
		s = rag.QueueStatus{Collection: collection, Workers: []rag.QueueWorker{}, Failures: []rag.QueueFailure{}}
		if !isText(collection) {
			return nil
		}
		err := c.pool.QueryRow(ctx, `
			select count(*) filter (where state = 'pending'), count(*) filter (where state = 'running'), count(*) filter (where state = 'done'),
				count(*) filter (where state = 'failed'), count(*) filter (where touched <> '{}' or stale <> '{}')
			from queue where collection = $1`, collection).Scan(&s.Pending, &s.Running, &s.Done, &s.Failed, &s.Unclean)
		if err != nil {
			return err
		}
		rows, err := c.pool.Query(ctx, `
			select worker, count(*), extract(epoch from min(lease) - now())::float8
			from queue where collection = $1 and state = 'running' group by worker order by worker`, collection)
		if err != nil {
			return err
		}
		var w rag.QueueWorker
		if _, err = pgx.ForEachRow(rows, []any{&w.Name, &w.Sources, &w.Lease}, func() error { s.Workers = append(s.Workers, w); return nil }); err != nil {
			return err
		}
		rows, err = c.pool.Query(ctx, `
			select uri, state, tries, error from queue where collection = $1 and error <> '' and state in ('pending', 'failed')
			order by state, uri limit $2`, collection, most)
		if err != nil {
			return err
		}
		var f rag.QueueFailure
		_, err = pgx.ForEachRow(rows, []any{&f.URI, &f.State, &f.Tries, &f.Error}, func() error { s.Failures = append(s.Failures, f); return nil })
		return err
	})
	return s, err
}

// forgetTouched notes that the indexes hold what the catalog says.
func (c *Catalog) forgetTouched(ctx context.Context, collection string) error {
	return c.pool.inTx(ctx, func(tx pgx.Tx) error {
		if err := c.checkHeld(ctx, tx, collection); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `
			update queue set changing = '{}', touched = '{}', stale = '{}' where collection = $1 and (touched <> '{}' or stale <> '{}')`, collection)
		return err
	})
}
