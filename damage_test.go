package rag_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv"
)

// damageWays are what may happen to a record.
var damageWays = map[string]func(b *bolt.Bucket, key, value []byte) error{
	"flipped": func(b *bolt.Bucket, key, value []byte) error {
		value[len(value)/2] ^= 4
		return b.Put(key, value)
	},
	"cut":     func(b *bolt.Bucket, key, value []byte) error { return b.Put(key, value[:len(value)/2]) },
	"removed": func(b *bolt.Bucket, key, _ []byte) error { return b.Delete(key) },
}

// damageFirst damages the first record of a bucket of the default collection.
func damageFirst(t *testing.T, dir, bucket string, way func(b *bolt.Bucket, key, value []byte) error) {
	t.Helper()
	db, err := bolt.Open(filepath.Join(dir, boltkv.FileName), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte("catalog")).Bucket([]byte("collections")).Bucket([]byte("default")).Bucket([]byte(bucket))
		key, value := b.Cursor().First()
		return way(b, bytes.Clone(key), bytes.Clone(value)) // the file is mapped
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func ingestTwo(ctx context.Context, eng *rag.Engine, force bool) (*rag.IngestReport, error) {
	return eng.Ingest(ctx, rag.IngestRequest{Force: force, Sources: []rag.Sources{
		rag.Bytes("a.txt", []byte("alpha is a common word")), rag.Bytes("b.txt", []byte("beta is a common word")),
	}})
}

// TestADamagedRecordHealsAndHarmsNoOther damages each kind of record in turn.
func TestADamagedRecordHealsAndHarmsNoOther(t *testing.T) {
	unsynced(t)
	heal := map[string]func(t *testing.T, eng *rag.Engine) error{
		"delete": func(t *testing.T, eng *rag.Engine) error {
			_, err := eng.Delete(t.Context(), rag.DeleteRequest{URIs: []string{"a.txt"}})
			return err
		},
		"force": func(t *testing.T, eng *rag.Engine) error {
			_, err := ingestTwo(t.Context(), eng, true)
			return err
		},
		"repair": func(t *testing.T, eng *rag.Engine) error {
			rep, err := eng.Repair(t.Context(), "")
			if err == nil && (!rep.Repaired || !rep.After.OK) {
				return fmt.Errorf("not repaired: %+v", rep)
			}
			return err
		},
	}
	for _, bucket := range []string{"entries", "refs", "documents", "chunks", "ids"} {
		for way, damage := range damageWays {
			for how, cure := range heal {
				if bucket == "entries" && way == "removed" && how == "delete" {
					continue // nothing says that it is there: verify finds what is left of it
				}
				t.Run(strings.Join([]string{bucket, way, how}, " "), func(t *testing.T) {
					dir := t.TempDir()
					eng := openShelf(t, dir)
					first := rag.IngestRequest{Sources: []rag.Sources{rag.Bytes("a.txt", []byte("alpha is a common word"))}}
					if _, err := eng.Ingest(t.Context(), first); err != nil { // so that the first records are those of a.txt
						t.Fatal(err)
					}
					if _, err := ingestTwo(t.Context(), eng, false); err != nil {
						t.Fatal(err)
					}
					if err := eng.Close(); err != nil {
						t.Fatal(err)
					}
					damageFirst(t, dir, bucket, damage)
					eng = openShelf(t, dir)
					defer eng.Close()
					damagedHealed(t, eng, bucket == "ids", cure)
				})
			}
		}
	}
}

func openShelf(t *testing.T, dir string) *rag.Engine {
	t.Helper()
	eng, err := shelfEngine(dir)
	if err != nil {
		t.Fatal(err)
	}
	return eng
}

// damagedHealed looks that one of the two documents can be found, that verify sees the damage, and that a cure helps.
func damagedHealed(t *testing.T, eng *rag.Engine, anyOf bool, cure func(*testing.T, *rag.Engine) error) {
	t.Helper()
	res, err := eng.Search(t.Context(), rag.Query{Text: "common word"})
	if err != nil || len(res.Hits) == 0 {
		t.Fatalf("the others are not found: %+v, %v", res, err)
	}
	if _, err := eng.Document(t.Context(), "", "b.txt"); err != nil {
		t.Errorf("the other is not shown: %v", err)
	}
	if rep, err := eng.Verify(t.Context(), ""); err != nil || rep.OK || len(rep.Problems) == 0 {
		t.Errorf("verify does not see it: %+v, %v", rep, err)
	}
	if err := cure(t, eng); err != nil {
		t.Fatal(err)
	}
	if anyOf { // it may be that of the other document, and a repair puts it right without a loss
		if _, err := eng.Repair(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	}
	if rep, err := eng.Verify(t.Context(), ""); err != nil || !rep.OK {
		t.Errorf("not healed: %+v, %v", rep, err)
	}
	if _, err := ingestTwo(t.Context(), eng, false); err != nil {
		t.Fatal(err)
	}
	if got := holds(t, eng, ""); len(got) != 2 {
		t.Errorf("%d documents after the next ingest", len(got))
	}
}

// TestAViewTellsNothingOfDamagedDocuments: what cannot be read may be another's.
func TestAViewTellsNothingOfDamagedDocuments(t *testing.T) {
	for _, bucket := range []string{"entries", "refs", "documents", "chunks", "ids"} {
		t.Run(bucket, func(t *testing.T) {
			f, _, other := twoTenants(t)
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			damageFirst(t, f.dir, bucket, damageWays["flipped"]) // blue.md is before red.md
			f.open()
			mine, ctx := f.Scoped(rag.Not(rag.Eq("tenant", "blue"))), t.Context()
			res, err := mine.Search(ctx, rag.Query{Text: "secret heron", Neighbours: new(1), Parent: new(true)})
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range res.Notes {
				if strings.Contains(n.Reason, "blue") {
					t.Errorf("note %q", n.Reason)
				}
			}
			for _, h := range res.Hits {
				if h.Chunk.URI == other {
					t.Error("found by another")
				}
			}
			for e, err := range mine.Documents(ctx, "") {
				if err != nil || e.URI == other {
					t.Errorf("listed: %s, %v", e.URI, err)
				}
			}
			for c, err := range mine.Chunks(ctx, "", rag.Filter{}) {
				if c.URI == other || err != nil && strings.Contains(err.Error(), "blue") {
					t.Errorf("passages: %s, %v", c.URI, err)
				}
			}
			if _, err := mine.Document(ctx, "", other); !errors.Is(err, rag.ErrNotFound) || strings.Contains(err.Error(), "damaged") {
				t.Errorf("document: %v", err)
			}
		})
	}
}

// TestFilterNotesPassOverDamage: what a filter asks for is compared with the passages that can be read.
func TestFilterNotesPassOverDamage(t *testing.T) {
	f := newFixture(t)
	f.write("a.md", "---\nyear: 2024\n---\nThe secret of the first is a heron.\n")
	f.write("b.md", "---\nyear: 2025\n---\nThe secret of the second is a badger.\n")
	f.ingest(nil)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	damageFirst(t, f.dir, "chunks", damageWays["flipped"])
	f.open()
	res := f.search(rag.Query{Text: "secret", Filter: rag.Eq("year", "2025")})
	if len(res.Hits) != 0 {
		t.Fatalf("%+v", res)
	}
	if !slices.ContainsFunc(res.Notes, func(n rag.Note) bool { return strings.Contains(n.Reason, "the passages hold a number there") }) {
		t.Errorf("notes %+v", res.Notes)
	}
}
