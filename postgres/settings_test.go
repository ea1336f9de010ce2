package postgres_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/postgres"
)

func TestSettings(t *testing.T) {
	const dsn = "postgres://user:hunter22@127.0.0.1:1/none?connect_timeout=2"
	for name, c := range map[string]struct {
		config postgres.Config
		want   error
	}{
		"no address":          {postgres.Config{}, rag.ErrInvalid},
		"no address of ours":  {postgres.Config{DSN: "postgres://user:hunter22@host:port/"}, rag.ErrInvalid},
		"schema":              {postgres.Config{DSN: dsn, Schema: "a; drop"}, rag.ErrInvalid},
		"connections":         {postgres.Config{DSN: dsn, MaxConns: 1}, rag.ErrInvalid},
		"time-out":            {postgres.Config{DSN: dsn, StatementTimeout: -1}, rag.ErrInvalid},
		"nobody answers":      {postgres.Config{DSN: dsn}, rag.ErrUnavailable},
		"no time-out at once": {postgres.Config{DSN: dsn, StatementTimeout: 1}, rag.ErrUnavailable},
	} {
		_, err := postgres.OpenCatalog(t.Context(), c.config)
		if !errors.Is(err, c.want) || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%s: %v, want %v, and no password", name, err, c.want)
		}
	}
	for name, c := range map[string]postgres.VectorConfig{
		"m": {M: 1}, "ef_construction": {M: 40, EFConstruction: 50}, "ef_search": {EFSearch: 2000}, "max_scan": {MaxScan: -1},
	} {
		c.DSN = dsn
		if _, err := postgres.OpenVectors(t.Context(), c); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want ErrInvalid that names it", name, err)
		}
	}
	for name, c := range map[string]postgres.SparseConfig{"k1": {K1: -1}, "b": {B: 2}, "fields.title": {Title: 0.3}} {
		c.DSN = dsn
		if _, err := postgres.OpenSparse(t.Context(), c); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want ErrInvalid that names it", name, err)
		}
	}
}

func TestNewerTables(t *testing.T) {
	at := database(t, "")
	c, err := postgres.OpenCatalog(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	execSQL(t, at, `insert into SCHEMA.migrations (version) values (1000)`)
	if _, err := postgres.OpenCatalog(t.Context(), at); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "version 1000") {
		t.Errorf("tables of a newer version: %v, want ErrInvalid that names it", err)
	}
}

// What a table of text cannot hold is no ID and no match, and no error where it is only asked for.
func TestOddTexts(t *testing.T) {
	at := database(t, "")
	v, err := postgres.OpenVectors(t.Context(), postgres.VectorConfig{Config: at})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	odd := rag.Meta{"title": "a\x00b\xff", "\x00": "x", `quote"$[*]`: "y", "day": "2026-01-10T10:00:00Z", "list": []string{"\x00c"}}
	if err := v.Upsert(t.Context(), "c", []rag.VectorRecord{{ID: "a", Vector: []float32{1, 0}, Meta: odd}}); err != nil {
		t.Fatal(err)
	}
	if err := v.Upsert(t.Context(), "c", []rag.VectorRecord{{ID: "a\x00", Vector: []float32{1, 0}}}); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("an ID that is no text: %v, want ErrInvalid", err)
	}
	for _, f := range []rag.Filter{
		rag.Eq("title", "a\x00b\xff"), rag.Exists("\x00"), rag.Prefix(`quote"$[*]`, "y"), rag.Prefix("list", "\x00"),
		rag.Range("day", rag.Bounds{GTE: "2026-01-10", LTE: "2026-01-10"}), rag.Range("title", rag.Bounds{GT: "a"}),
	} {
		got, err := v.Search(t.Context(), "c", rag.VectorQuery{Vector: []float32{1, 0}, K: 1, Filter: f})
		if err != nil || len(got) != 1 {
			t.Errorf("%+v: %v, %v; want the record", f, got, err)
		}
	}
	if err := v.Delete(t.Context(), "c", []string{"\x00", "\xff"}); err != nil {
		t.Error(err)
	}
}
