package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag"
)

// TestADamagedPassageIsTakenOutAndMadeAnew goes the way of somebody whose disk has lost a bit.
func TestADamagedPassageIsTakenOutAndMadeAnew(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.rag("ingest", "docs").want(exitDone)
	dir, lost := filepath.Join(s.dir, ".rag"), "leave.md"
	db, err := bolt.Open(filepath.Join(dir, "rag.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		chunks := tx.Bucket([]byte("catalog")).Bucket([]byte("collections")).Bucket([]byte("default")).Bucket([]byte("chunks"))
		cur := chunks.Cursor()
		for key, value := cur.First(); key != nil; key, value = cur.Next() {
			if at := bytes.Index(value, []byte(lost)); at >= 0 {
				flipped := bytes.Clone(value) // the file is mapped
				flipped[len(value)/2] ^= 4
				return chunks.Put(bytes.Clone(key), flipped)
			}
		}
		t.Fatal("no such passage")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(s.dir, "copy"), os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	s.rag("search", "notice period").want(exitDone).says("a passage was left out", lost)
	s.rag("search", "coffee").want(exitDone)
	s.rag("verify").want(exitFailed).prints("not ok", lost, "record is damaged", "rag verify --repair")
	var r rag.VerifyReport
	s.rag("verify", "--repair", "--json", "--dir", "copy").want(exitPartial).into(&r)
	if !r.Repaired || !r.After.OK || len(r.Dropped) != 1 || !strings.HasSuffix(r.Dropped[0].URI, lost) {
		t.Errorf("%+v", r)
	}
	s.rag("verify", "--repair").want(exitPartial).prints("taken out: ", lost, "ingest its source again", "\nnow:\ncollection default: ok\n")
	s.rag("verify").want(exitDone)
	s.rag("ingest", "docs").want(exitDone).prints("1 added")
	s.rag("search", "notice period").want(exitDone).prints(lost)
}
