package catalog_test

import (
	"bytes"
	"errors"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/catalog"
	"github.com/seed-d8745b77/rag/internal/boltkv"
)

const shelf = "shelf"

// illustrated is a document of one passage with a picture.
func illustrated(uri string) rag.Change {
	text := "the text of " + uri
	ref := ref(&rag.Chunk{ID: uri + "#0"})
	return rag.Change{Put: &rag.Record{
		Entry:    rag.Entry{URI: uri, DocID: uri, Chunks: []rag.ChunkRef{ref}},
		Document: rag.Document{URI: uri, Text: text, Images: []rag.Image{{ID: "x", Data: []byte("a picture")}}},
		Chunks:   []rag.Chunk{{ID: ref.ID, URI: uri, Start: 0, End: len(text), Text: text, Meta: rag.Meta{"lang": "en"}}},
	}}
}

func ref(c *rag.Chunk) rag.ChunkRef { return rag.ChunkRef{ID: c.ID} }

// damaged returns a catalog of two documents that share a picture, after harm was done to its file.
func damaged(t *testing.T, harm func(root, collection *bolt.Bucket) error) *catalog.Bolt {
	t.Helper()
	dir := t.TempDir()
	c := openBolt(t, dir)
	commit(t, c, shelf, illustrated("a"), illustrated("b"))
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := boltkv.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		root := tx.Bucket([]byte("catalog"))
		return harm(root, root.Bucket([]byte("collections")).Bucket([]byte(shelf)))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	c = openBolt(t, dir)
	t.Cleanup(func() { c.Close() })
	return c
}

// first changes the first pair of a bucket.
func first(b *bolt.Bucket, change func(key, value []byte) error) error {
	key, value := b.Cursor().First()
	return change(bytes.Clone(key), bytes.Clone(value)) // the file is mapped
}

func sound(t *testing.T, c *catalog.Bolt, documents int) {
	t.Helper()
	if problems, err := c.Check(t.Context(), shelf); err != nil || len(problems) > 0 {
		t.Errorf("not healed: %v, %v", problems, err)
	}
	if all, err := c.Collections(t.Context()); err != nil || len(all) != 1 || all[0].Documents != documents {
		t.Errorf("got %+v, %v, want %d documents", all, err, documents)
	}
}

func TestDamagedPicturesHeal(t *testing.T) {
	const data, uses, noted = "the bytes", "the number of uses", "what is noted of a document"
	bucketOf := func(which string, root, collection *bolt.Bucket) *bolt.Bucket {
		switch which {
		case data:
			return root.Bucket([]byte("pictures"))
		case uses:
			return root.Bucket([]byte("picture_uses"))
		}
		return collection.Bucket([]byte("pictures"))
	}
	for _, which := range []string{data, uses, noted} {
		for _, way := range []string{"flipped", "cut", "removed"} {
			if which == noted && way != "removed" {
				continue // it has no value
			}
			harm := func(root, collection *bolt.Bucket) error {
				b := bucketOf(which, root, collection)
				return first(b, func(key, value []byte) error {
					switch way {
					case "flipped":
						value[len(value)/2] ^= 4
					case "cut":
						value = value[:len(value)/2]
					default:
						return b.Delete(key)
					}
					return b.Put(key, value)
				})
			}
			t.Run(which+" "+way, func(t *testing.T) {
				c := damaged(t, harm)
				if problems, err := c.Check(t.Context(), shelf); err != nil || len(problems) == 0 {
					t.Fatalf("not found: %v, %v", problems, err)
				}
				_, err := c.Document(t.Context(), shelf, "a")
				if _, known := errors.AsType[*rag.DamageError](err); known != (which == data) {
					t.Errorf("reading it: %v", err)
				}
				if which != noted {
					commit(t, c, shelf, illustrated("a")) // the other has the same picture
					sound(t, c, 2)
				}
			})
			t.Run(which+" "+way+", mended", func(t *testing.T) {
				c, stay := damaged(t, harm), 2
				dropped, err := c.Mend(t.Context(), shelf, ref)
				if which == data {
					stay = 0
				}
				if err != nil || len(dropped) != 2-stay {
					t.Fatalf("got %v, %v, want %d dropped", dropped, err, 2-stay)
				}
				sound(t, c, stay)
				commit(t, c, shelf, illustrated("a"), illustrated("b"))
				sound(t, c, 2)
			})
		}
	}
}

func TestMissingBucketsHeal(t *testing.T) {
	harms := map[string]func(root, collection *bolt.Bucket) error{}
	for _, name := range []string{"collections", "pictures", "picture_uses"} {
		harms["root: "+name] = func(root, _ *bolt.Bucket) error { return root.DeleteBucket([]byte(name)) }
	}
	for _, name := range []string{"entries", "refs", "documents", "chunks", "ids", "pictures"} {
		harms[name] = func(_, collection *bolt.Bucket) error { return collection.DeleteBucket([]byte(name)) }
	}
	for name, harm := range harms {
		t.Run(name, func(t *testing.T) {
			c, ctx := damaged(t, harm), t.Context()
			// What these return depends on what is missing; they must come back.
			_, _ = c.Entry(ctx, shelf, "a")
			_, _ = c.Document(ctx, shelf, "a")
			_, _ = c.Chunks(ctx, shelf, []string{"a#0"})
			_, _ = c.Collections(ctx)
			_, _ = c.Image(ctx, shelf, "x")
			for _, err := range c.Scan(ctx, shelf, rag.Filter{}) {
				_ = err
			}
			for _, err := range c.Entries(ctx, shelf, "", "") {
				_ = err
			}
			if problems, err := c.Check(ctx, shelf); err != nil || len(problems) == 0 && name != "root: collections" {
				t.Errorf("not found: %v, %v", problems, err)
			}
			if _, err := c.Mend(ctx, shelf, ref); err != nil {
				t.Fatal(err)
			}
			commit(t, c, shelf, illustrated("a"), illustrated("b"))
			if name == "root: collections" { // pictures of collections that nobody knows were left
				if _, err := c.Mend(ctx, shelf, ref); err != nil {
					t.Fatal(err)
				}
			}
			sound(t, c, 2)
		})
	}
}
