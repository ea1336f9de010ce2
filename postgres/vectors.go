package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/pages"
)

// VectorConfig holds the settings of [OpenVectors]. HalfVec, M and EFConstruction count for collections that are made later.
type VectorConfig struct {
	Config
	HalfVec        bool `json:"halfvec"`                                   // index with half the bits of each number: half the memory. Scores stay exact, and what is stored does
	M              int  `json:"m,omitzero" range:"[2,100]"`                // links of a node of the graph; 0: 16; 2 to 100
	EFConstruction int  `json:"ef_construction,omitzero" range:"[4,1000]"` // candidates looked at when a node is linked; 0: 64; at least twice M, at most 1,000
	EFSearch       int  `json:"ef_search" range:"[0,1000]"`                // candidates looked at by a search; 0: 100, or twice what is asked for; 1 to 1,000
	MaxScan        int  `json:"max_scan,omitzero" range:"[1,1000000000]"`  // most vectors that a filtered search walks through in the graph before it compares all that match; 0: 20,000; at least 1
}

// Defaults of [VectorConfig]: M, EFConstruction and MaxScan are those of pgvector. EFSearch of pgvector is 40, which finds
// too few of the nearest.
const (
	defaultM              = 16
	defaultEFConstruction = 64
	defaultEFSearch       = 100
	defaultMaxScan        = 20_000
)

// Bounds of pgvector.
const (
	mostM          = 100
	mostEF         = 1_000
	mostDims       = 16_000 // of a vector
	mostIndexed    = 2_000  // of one in an index
	mostIndexedBy2 = 4_000  // of one in an index of half precision
)

func (c VectorConfig) filled() (VectorConfig, error) {
	for _, f := range []struct {
		name       string
		value      *int
		zero       int
		least, max int
	}{
		{"m", &c.M, defaultM, 2, mostM}, {"ef_construction", &c.EFConstruction, max(defaultEFConstruction, 2*c.M), max(4, 2*c.M), mostEF},
		{"ef_search", &c.EFSearch, defaultEFSearch, 1, mostEF}, {"max_scan", &c.MaxScan, defaultMaxScan, 1, math.MaxInt32},
	} {
		if *f.value == 0 {
			*f.value = f.zero
		}
		if *f.value < f.least || *f.value > f.max {
			return c, fmt.Errorf("postgres: %s is %d: give %d to %d: %w", f.name, *f.value, f.least, f.max, rag.ErrInvalid)
		}
	}
	return c, nil
}

// Vectors ranks vectors by cosine with pgvector, through a graph (HNSW) or by comparing all. It is safe for concurrent use.
type Vectors struct {
	pool   *pool
	config VectorConfig

	mu     sync.Mutex
	tables map[string]vectorTable // by collection, as they were last seen
}

// vectorTable is where a collection's vectors lie.
type vectorTable struct {
	id   int64
	dims int
	half bool // the graph has half the bits of each number
}

func (t vectorTable) name() string { return fmt.Sprintf("vectors_%d", t.id) }

var (
	_ rag.VectorStore   = (*Vectors)(nil)
	_ rag.IDLister      = (*Vectors)(nil)
	_ rag.VectorReader  = (*Vectors)(nil)
	_ rag.Dropper       = (*Vectors)(nil)
	_ rag.Fingerprinter = (*Vectors)(nil)
)

// OpenVectors opens the vectors in a database, and makes the tables, and the extension vector, where they are missing. The
// caller closes it. Errors: ErrInvalid for settings that cannot be right, a database without pgvector 0.8 and tables of a
// newer version, ErrUnavailable if the database does not answer.
func OpenVectors(ctx context.Context, c VectorConfig) (*Vectors, error) {
	c, err := c.filled()
	if err != nil {
		return nil, err
	}
	p, err := openPool(ctx, c.Config)
	if err != nil {
		return nil, err
	}
	v := &Vectors{pool: p, config: c, tables: map[string]vectorTable{}}
	if err := v.extend(ctx); err != nil {
		p.release()
		return nil, err
	}
	return v, nil
}

// extend makes the extension vector, or checks that it is new enough to look on when a filter lets too few through.
func (v *Vectors) extend(ctx context.Context) error {
	return v.pool.inTx(ctx, func(tx pgx.Tx) error {
		const version = `select coalesce((select extversion from pg_extension where extname = 'vector'), '')`
		var have string
		if err := tx.QueryRow(ctx, version).Scan(&have); err != nil {
			return err
		}
		if have == "" {
			if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1)`, lockClass); err != nil { // two that make it at once would fail
				return err
			}
			if _, err := tx.Exec(ctx, `create extension if not exists vector with schema public`); err != nil {
				return fmt.Errorf("the database has no extension vector, and it cannot be made: install pgvector and run `create extension vector`: %w: %w", err, rag.ErrInvalid)
			}
			if err := tx.QueryRow(ctx, version).Scan(&have); err != nil {
				return err
			}
		}
		var major, minor int
		if _, err := fmt.Sscanf(have, "%d.%d", &major, &minor); err != nil || major == 0 && minor < 8 {
			return fmt.Errorf("postgres: the extension vector has version %s: 0.8 or newer is needed: %w", have, rag.ErrInvalid)
		}
		return nil
	})
}

// Close gives the connections back.
func (v *Vectors) Close() error {
	v.pool.release()
	return nil
}

// Fingerprint names the layout: the vectors are kept as they are given, whatever the index.
func (v *Vectors) Fingerprint() string { return "pgvector/1" }

// Upsert adds the records in one transaction, replacing those of the same ID; of two with one ID in the call the later one
// stays. An ID that is empty or no text is ErrInvalid, as is a vector of more dimensions than pgvector takes.
func (v *Vectors) Upsert(ctx context.Context, collection string, recs []rag.VectorRecord) error {
	if err := errors.Join(ctx.Err(), checkCollection(collection)); err != nil || len(recs) == 0 {
		return err
	}
	rows, err := vectorRows(recs)
	if err != nil {
		return err
	}
	dims := len(rows[0].Vector)
	return v.pool.inTx(ctx, func(tx pgx.Tx) error {
		t, err := v.makeTable(ctx, tx, collection, dims)
		if err != nil {
			return err
		}
		if t.dims != dims {
			return fmt.Errorf("collection %q holds vectors of length %d, not %d: %w", collection, t.dims, dims, rag.ErrDimension)
		}
		var b pgx.Batch
		for _, r := range rows {
			b.Queue(`
				insert into `+t.name()+` (id, embedding, fields, valid_from, valid_until) values ($1, $2::real[]::vector, $3, $4::numeric, $5::numeric)
				on conflict (id) do update set embedding = excluded.embedding, fields = excluded.fields,
					valid_from = excluded.valid_from, valid_until = excluded.valid_until`,
				r.ID, r.Vector, r.fields, seconds(r.Validity.From), seconds(r.Validity.Until))
		}
		return tx.SendBatch(ctx, &b).Close()
	})
}

type vectorRow struct {
	rag.VectorRecord
	fields []byte
}

// vectorRows checks the records and keeps the last of each ID, by ID: two writers then lock rows in the same order.
func vectorRows(recs []rag.VectorRecord) ([]vectorRow, error) {
	byID := make(map[string]vectorRow, len(recs))
	for i, r := range recs {
		if r.ID == "" || !isText(r.ID) {
			return nil, fmt.Errorf("record %d has the ID %q, which is empty or no text: %w", i, r.ID, rag.ErrInvalid)
		}
		if err := checkVector(r.Vector, len(recs[0].Vector)); err != nil {
			return nil, fmt.Errorf("record %s: %w", r.ID, err)
		}
		fields, err := fieldsJSON(r.Meta)
		if err != nil {
			return nil, fmt.Errorf("record %s: %w", r.ID, err)
		}
		byID[r.ID] = vectorRow{r, fields}
	}
	rows := make([]vectorRow, 0, len(byID))
	for _, r := range byID {
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b vectorRow) int { return strings.Compare(a.ID, b.ID) })
	return rows, nil
}

func checkVector(v []float32, dims int) error {
	if len(v) != dims {
		return fmt.Errorf("a vector of length %d beside one of %d: %w", len(v), dims, rag.ErrDimension)
	}
	if len(v) > mostDims {
		return fmt.Errorf("a vector of length %d: pgvector takes up to %d: %w", len(v), mostDims, rag.ErrInvalid)
	}
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || sum-sum != 0 {
		return fmt.Errorf("a vector that is zero or not finite: %w", rag.ErrInvalid)
	}
	return nil
}

// makeTable returns the table of a collection and makes it where there is none.
func (v *Vectors) makeTable(ctx context.Context, tx pgx.Tx, collection string, dims int) (t vectorTable, err error) {
	t, err = findTable(ctx, tx, collection)
	if err == nil || !errors.Is(err, pgx.ErrNoRows) {
		return t, err
	}
	if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock(hashtextextended($2, $1))`, lockClass, v.pool.config.Schema+" vectors "+collection); err != nil {
		return t, err
	}
	if t, err = findTable(ctx, tx, collection); err == nil || !errors.Is(err, pgx.ErrNoRows) {
		return t, err
	}
	t.dims, t.half = dims, v.config.HalfVec || dims > mostIndexed
	err = tx.QueryRow(ctx, `insert into vector_collections (name, dims, half) values ($1, $2, $3) returning id`, collection, dims, t.half).Scan(&t.id)
	if err != nil {
		return t, err
	}
	_, err = tx.Exec(ctx, fmt.Sprintf(`
		create table %[1]s (
			id          text collate "C" primary key,
			embedding   vector(%[2]d) not null,
			fields      jsonb not null,
			valid_from  numeric,
			valid_until numeric
		);
		create index on %[1]s using gin (fields jsonb_path_ops);`, t.name(), dims)+v.indexOf(t))
	return t, err
}

// indexOf is the statement that makes the graph; "" where pgvector has none for so many dimensions.
func (v *Vectors) indexOf(t vectorTable) string {
	if !t.indexed() {
		return ""
	}
	return fmt.Sprintf(`create index on %s using hnsw ((%s) %s_cosine_ops) with (m = %d, ef_construction = %d)`,
		t.name(), t.compared("embedding"), t.indexType(), v.config.M, v.config.EFConstruction)
}

// indexed reports whether there is a graph.
func (t vectorTable) indexed() bool { return t.dims <= mostIndexedBy2 }

// indexType is the type that the graph compares.
func (t vectorTable) indexType() string {
	if t.half {
		return "halfvec"
	}
	return "vector"
}

// compared is how a vector is written as the graph has it.
func (t vectorTable) compared(value string) string {
	return fmt.Sprintf("%s::%s(%d)", value, t.indexType(), t.dims)
}

func findTable(ctx context.Context, db querier, collection string) (t vectorTable, err error) {
	err = db.QueryRow(ctx, `select id, dims, half from vector_collections where name = $1`, collection).Scan(&t.id, &t.dims, &t.half)
	return t, err
}

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// inTable calls what reads a collection's table; for an unknown collection it does not. A table that another process dropped,
// and may have made again, since it was last seen is looked up once more.
func (v *Vectors) inTable(ctx context.Context, collection string, call func(ctx context.Context, t vectorTable) error) error {
	if err := ctx.Err(); err != nil || !isText(collection) {
		return err
	}
	v.mu.Lock()
	t, seen := v.tables[collection]
	v.mu.Unlock()
	return v.pool.do(ctx, func(ctx context.Context) error {
		for {
			var err error
			if !seen {
				if t, err = findTable(ctx, v.pool, collection); errors.Is(err, pgx.ErrNoRows) {
					return nil
				} else if err != nil {
					return err
				}
				v.mu.Lock()
				v.tables[collection] = t
				v.mu.Unlock()
			}
			if err = call(ctx, t); !isCode(err, "42P01") || !seen { // no such table
				return v.gone(collection, err)
			}
			seen = false
		}
	})
}

// gone makes no error of a table that was dropped between two statements, and forgets it.
func (v *Vectors) gone(collection string, err error) error {
	if !isCode(err, "42P01") {
		return err
	}
	v.mu.Lock()
	delete(v.tables, collection)
	v.mu.Unlock()
	return nil
}

// Delete removes records; absent IDs and an unknown collection are not an error.
func (v *Vectors) Delete(ctx context.Context, collection string, ids []string) error {
	ids = textsOf(ids)
	return v.inTable(ctx, collection, func(ctx context.Context, t vectorTable) error {
		_, err := v.pool.Exec(ctx, `delete from `+t.name()+` where id = any($1)`, ids)
		return err
	})
}

// Drop removes the collection; an unknown one is not an error.
func (v *Vectors) Drop(ctx context.Context, collection string) error {
	if !isText(collection) {
		return ctx.Err()
	}
	return v.pool.inTx(ctx, func(tx pgx.Tx) error {
		var t vectorTable
		err := tx.QueryRow(ctx, `delete from vector_collections where name = $1 returning id`, collection).Scan(&t.id)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err == nil {
			_, err = tx.Exec(ctx, `drop table if exists `+t.name())
		}
		return err
	})
}

// pageIDs is how many IDs are read at once.
const pageIDs = 2_000

// IDs yields the IDs of all records, sorted. Those written or deleted meanwhile may or may not be seen.
func (v *Vectors) IDs(ctx context.Context, collection string) iter.Seq2[string, error] {
	return pages.Join(ctx, "", nil, func(after string) (page []string, last string, err error) {
		err = v.inTable(ctx, collection, func(ctx context.Context, t vectorTable) (err error) {
			page, last, err = idPage(ctx, v.pool, `select id from `+t.name()+` where id > $1 order by id limit $2`, after)
			return err
		})
		return page, last, err
	})
}

// idPage reads a page of IDs; last is "" at the end. The last two arguments of the query are where it begins, and its length.
func idPage(ctx context.Context, p *pool, query string, arguments ...any) (page []string, last string, err error) {
	rows, err := p.Query(ctx, query, append(arguments, pageIDs)...)
	if err != nil {
		return nil, "", err
	}
	if page, err = pgx.CollectRows(rows, pgx.RowTo[string]); len(page) == pageIDs {
		last = page[pageIDs-1]
	}
	return page, last, err
}

// Vectors returns stored vectors in the order of ids, nil where there is none.
func (v *Vectors) Vectors(ctx context.Context, collection string, ids []string) ([][]float32, error) {
	found := map[string][]float32{}
	err := v.inTable(ctx, collection, func(ctx context.Context, t vectorTable) error {
		rows, err := v.pool.Query(ctx, `select id, embedding::real[] from `+t.name()+` where id = any($1)`, textsOf(ids))
		if err != nil {
			return err
		}
		var id string
		var vector []float32
		_, err = pgx.ForEachRow(rows, []any{&id, &vector}, func() error {
			found[id] = slices.Clone(vector)
			return nil
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	list := make([][]float32, len(ids))
	for i, id := range ids {
		list[i] = slices.Clone(found[id])
	}
	return list, nil
}
