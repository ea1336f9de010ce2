package boltkv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// bbolt's file format. Numbers are in the byte order of the machine, as bbolt writes them.
const (
	boltMagic      = 0xED0CDAED
	boltVersion    = 2
	pageHeaderLen  = 16 // id uint64, flags uint16, count uint16, overflow uint32
	metaLen        = 64
	metaSumOffset  = 56 // FNV-1a of the bytes before it
	noFreelist     = ^uint64(0)
	minPageSize    = 1 << 10
	maxPageSize    = 1 << 24
	firstDataPage  = 2
	flagBranch     = 0x01
	flagLeaf       = 0x02
	flagFreelist   = 0x10
	flagBucket     = 0x01   // of a leaf element
	countInElement = 0xFFFF // freelist: the count stands in the first element
)

// wholeCheckPages is the size up to which every page is checked at each open: 16,384 pages of 4 KiB, 64 MiB, take about
// 20 ms. A larger file is checked whole only after its last process died.
const wholeCheckPages = 16 << 10

var native = binary.NativeEndian

// meta is the part of a meta page that matters here.
type meta struct {
	pageSize       int
	root, freelist uint64
	pages          uint64 // page numbers from here on are not in use
	txid           uint64
}

// checkFile looks at a database before it is mapped, reading it with plain calls: bbolt would fault or panic where the
// file is cut short, or follow wild page numbers. The caller holds the lock. whole asks for every page.
func checkFile(path string, whole bool) (err error) {
	info, err := os.Stat(path) // before opening: a pipe would be waited for
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("open database: %s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err = f.Stat(); err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	reason, err := damageIn(f, info.Size(), whole)
	if errors.Is(err, errNotOurs) {
		return &FormatError{Path: path}
	}
	if err != nil {
		return fmt.Errorf("check database %s: %w", path, err)
	}
	if reason != "" {
		return &DamagedError{Path: path, Reason: reason}
	}
	return nil
}

// damageIn returns what is wrong with the database, or "".
func damageIn(r io.ReaderAt, size int64, whole bool) (reason string, err error) {
	m, ok, err := readMeta(r)
	switch {
	case err != nil:
		return "", err
	case !ok && size == 0:
		return "the file is empty", nil
	case !ok:
		return "its first pages are no database header", nil
	case uint64(size) < m.pages*uint64(m.pageSize):
		return fmt.Sprintf("cut short: it has %d bytes of %d", size, m.pages*uint64(m.pageSize)), nil
	}
	w := newWalker(r, m)
	err = w.freelist()
	if err == nil && (whole || m.pages <= wholeCheckPages) {
		err = w.all()
	}
	var bad pageError
	if errors.As(err, &bad) {
		return bad.Error(), nil
	}
	return "", err
}

// readMeta returns the newer of the two meta pages that are right. One wrong page is what a crash in the middle of a
// commit leaves; the other is then the state before that commit.
func readMeta(r io.ReaderAt) (meta, bool, error) {
	first, ok0, err := metaAt(r, 0)
	if err != nil {
		return meta{}, false, err
	}
	if ok0 {
		second, ok1, err := metaAt(r, int64(first.pageSize))
		if ok1 && second.txid > first.txid {
			return second, true, err
		}
		return first, true, err
	}
	for size := int64(minPageSize); size <= maxPageSize; size <<= 1 {
		m, ok, err := metaAt(r, size)
		if err != nil || ok && int64(m.pageSize) == size {
			return m, ok, err
		}
	}
	return meta{}, false, nil
}

func metaAt(r io.ReaderAt, offset int64) (m meta, ok bool, err error) {
	var page [pageHeaderLen + metaLen]byte
	if _, err := r.ReadAt(page[:], offset); errors.Is(err, io.EOF) {
		return meta{}, false, nil
	} else if err != nil {
		return meta{}, false, err
	}
	b := page[pageHeaderLen:]
	sum := fnv.New64a()
	_, _ = sum.Write(b[:metaSumOffset]) // a hash never fails
	if native.Uint32(b) != boltMagic || native.Uint32(b[4:]) != boltVersion || native.Uint64(b[metaSumOffset:]) != sum.Sum64() {
		return meta{}, false, nil
	}
	m = meta{
		pageSize: int(native.Uint32(b[8:])),
		root:     native.Uint64(b[16:]),
		freelist: native.Uint64(b[32:]),
		pages:    native.Uint64(b[40:]),
		txid:     native.Uint64(b[48:]),
	}
	sane := m.pageSize >= minPageSize && m.pageSize <= maxPageSize && m.pageSize&(m.pageSize-1) == 0 &&
		m.pages < 1<<48/uint64(m.pageSize)
	return m, sane, nil
}
