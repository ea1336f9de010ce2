// Package record encodes the values kept in rag.db: a version byte, a CRC-32C, then fields one behind the other.
//
//	w := record.NewWriter(1, 64)
//	w.String("id")
//	w.Uint(7)
//	value, err := w.Finish()
//
//	r, version, err := record.Open(value, 1)
//	id, n := r.String(), r.Uint()
//	err = r.Close()
//
// bbolt has no checksums of its own: the CRC is what tells a damaged value from a good one.
package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Kinds of errors; test with errors.Is.
var (
	ErrDamaged = errors.New("record is damaged")           // checksum or shape is wrong
	ErrNewer   = errors.New("written by a newer version")  // the version byte is above what the reader knows
	ErrKind    = errors.New("a value that cannot be kept") // Map was given something else than its four kinds
)

// headerLen is the version byte and the CRC-32C (little endian) of version byte and fields.
const headerLen = 1 + 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum covers the version byte and the fields.
func checksum(rec []byte) uint32 {
	return crc32.Update(crc32.Checksum(rec[:1], castagnoli), castagnoli, rec[headerLen:])
}

// Open checks a record and returns a reader of its fields and its version. Nothing read aliases rec: it may be a slice
// of a bbolt transaction. Versions above newest are ErrNewer.
func Open(rec []byte, newest byte) (*Reader, byte, error) {
	r, _, version, err := OpenTail(rec, newest, 0)
	return r, version, err
}

// OpenTail is Open for a record that ends in tail raw bytes (see [Writer.Float32s]). They are returned without a copy,
// so they are only valid as long as rec.
func OpenTail(rec []byte, newest byte, tail int) (*Reader, []byte, byte, error) {
	if len(rec) < headerLen+tail {
		return nil, nil, 0, fmt.Errorf("%d bytes are too few: %w", len(rec), ErrDamaged)
	}
	if binary.LittleEndian.Uint32(rec[1:]) != checksum(rec) {
		return nil, nil, 0, fmt.Errorf("checksum differs: %w", ErrDamaged)
	}
	if rec[0] > newest {
		return nil, nil, 0, fmt.Errorf("record version %d, known up to %d: %w", rec[0], newest, ErrNewer)
	}
	cut := len(rec) - tail
	return &Reader{s: string(rec[headerLen:cut])}, rec[cut:], rec[0], nil
}
