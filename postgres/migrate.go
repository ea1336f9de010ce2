package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/seed-d8745b77/rag"
)

// migrations are the steps by which the tables came to be as they are: files named by number. A step is never changed once
// it was released, and none leads back.
//
//go:embed migrations/*.sql
var migrations embed.FS

// lockClass goes into the keys of the advisory locks that this package takes, beside a name.
const lockClass = 0x726167 // "rag"

// migrate brings the tables up to the version of this program; one process at a time.
func (p *pool) migrate(ctx context.Context) error {
	steps, err := readMigrations()
	if err != nil {
		return err
	}
	schema := p.config.Schema
	return p.inTx(ctx, func(tx pgx.Tx) error {
		have, err := schemaVersion(ctx, tx, schema)
		if err != nil || have == len(steps) { // the common case takes no lock and no right to make tables
			return err
		}
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock(hashtextextended($2, $1))`, lockClass, "schema "+schema); err != nil {
			return err
		}
		if have, err = schemaVersion(ctx, tx, schema); err != nil {
			return err
		}
		if have > len(steps) {
			return fmt.Errorf("postgres: the tables in schema %s have version %d, and this program knows versions up to %d: use a newer program: %w", schema, have, len(steps), rag.ErrInvalid)
		}
		if have == 0 {
			if err := makeSchema(ctx, tx, schema); err != nil {
				return err
			}
		}
		for i, step := range steps[have:] {
			if _, err := tx.Exec(ctx, step); err != nil {
				return fmt.Errorf("migration %d: %w", have+i+1, err)
			}
			if _, err := tx.Exec(ctx, `insert into migrations (version) values ($1)`, have+i+1); err != nil {
				return err
			}
		}
		return nil
	})
}

// readMigrations returns the steps in order; the n-th leads to version n.
func readMigrations() ([]string, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql") // sorted
	if err != nil {
		return nil, err
	}
	steps := make([]string, len(names))
	for i, name := range names {
		number, _, _ := strings.Cut(strings.TrimPrefix(name, "migrations/"), "_")
		if n, err := strconv.Atoi(number); err != nil || n != i+1 {
			return nil, fmt.Errorf("postgres: migration %s is not number %d", name, i+1)
		}
		step, err := migrations.ReadFile(name)
		if err != nil {
			return nil, err
		}
		steps[i] = string(step)
	}
	return steps, nil
}

// schemaVersion returns the version of the tables; 0: there are none.
func schemaVersion(ctx context.Context, tx pgx.Tx, schema string) (version int, err error) {
	var there bool
	if err := tx.QueryRow(ctx, `select to_regclass($1) is not null`, schema+".migrations").Scan(&there); err != nil || !there {
		return 0, err
	}
	err = tx.QueryRow(ctx, `select coalesce(max(version), 0) from migrations`).Scan(&version)
	return version, err
}

// makeSchema makes the schema with the table of its versions. Strings are compared by their bytes everywhere, which only
// UTF-8 makes the order of their characters.
func makeSchema(ctx context.Context, tx pgx.Tx, schema string) error {
	var encoding string
	if err := tx.QueryRow(ctx, `show server_encoding`).Scan(&encoding); err != nil {
		return err
	}
	if encoding != "UTF8" {
		return fmt.Errorf("postgres: the database has the encoding %s: make one with UTF8: %w", encoding, rag.ErrInvalid)
	}
	_, err := tx.Exec(ctx, `
		create schema if not exists `+schema+`;
		create table `+schema+`.migrations (version integer primary key, applied timestamptz not null default now())`)
	return err
}
