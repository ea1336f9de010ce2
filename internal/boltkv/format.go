package boltkv

import (
	"bytes"

	bolt "go.etcd.io/bbolt"
)

// The format record stands in the bucket "rag" under the key "format": the magic, then the version byte.
const (
	formatMagic   = "rag.db\x00"
	formatVersion = 1 // of the file as a whole; each room versions its own buckets
)

var (
	formatBucket = []byte("rag")
	formatKey    = []byte("format")
)

func writeFormat(tx *bolt.Tx) error {
	b, err := tx.CreateBucket(formatBucket)
	if err != nil {
		return err
	}
	return b.Put(formatKey, append([]byte(formatMagic), formatVersion))
}

func checkFormat(path string, tx *bolt.Tx) error {
	var rec []byte
	if b := tx.Bucket(formatBucket); b != nil {
		rec = b.Get(formatKey)
	}
	version, ok := bytes.CutPrefix(rec, []byte(formatMagic))
	switch {
	case !ok:
		return &FormatError{Path: path}
	case len(version) != 1 || version[0] == 0:
		return &DamagedError{Path: path, Reason: "its format record makes no sense"}
	case version[0] > formatVersion:
		return &FormatError{Path: path, Version: int(version[0])}
	}
	return nil
}
