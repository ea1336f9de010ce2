package embed

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/datafile"
)

// A segment is a header and then records: CRC-32C of what follows, key, number of dimensions, numbers. docs/formats.md
// has the layout.
const (
	segmentMagic  = "rag.vec\x00\x01" // the last byte is the version
	segmentSuffix = ".vec"
	sumBytes      = 4
	keyBytes      = len(rag.EmbedKey{})
	dimsBytes     = 4
	recordHead    = sumBytes + keyBytes + dimsBytes
	maxDims       = 1 << 16 // more is damage
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	errDamaged = errors.New("damaged record")
)

// segment is one file of a cache.
type segment struct {
	path string
	file *os.File
	size int64
}

func (s *segment) number() int {
	n, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(s.path), segmentSuffix))
	if err != nil {
		return 0 // not one of ours: the next number is as good as any
	}
	return n
}

// createSegment makes a file of this number, or the next that is free.
func createSegment(dir string, number int) (*segment, error) {
	for ; ; number++ {
		path := filepath.Join(dir, fmt.Sprintf("%08d%s", number, segmentSuffix))
		f, err := datafile.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		s := &segment{path: path, file: f}
		if _, err := s.append([]byte(segmentMagic)); err != nil {
			return nil, errors.Join(err, f.Close(), os.Remove(path))
		}
		return s, nil
	}
}

// openSegment reads a file and reports where each record lies. From the first damaged record on, such as a
// write that a crash cut short, the file is cut off; a file without a good record is removed. Then the error says what
// was wrong, also with a segment.
func openSegment(path string, found func(rag.EmbedKey, place)) (*segment, error) {
	f, err := datafile.OpenFile(path, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	s := &segment{path: path, file: f}
	damage := s.scan(found)
	if damage == nil {
		return s, nil
	}
	if s.size > int64(len(segmentMagic)) {
		return s, errors.Join(damage, os.Truncate(path, s.size))
	}
	return nil, errors.Join(damage, f.Close(), os.Remove(path))
}

// scan reads the file from its start and leaves in size how much of it is good.
func (s *segment) scan(found func(rag.EmbedKey, place)) error {
	r := bufio.NewReaderSize(s.file, 1<<20)
	magic := make([]byte, len(segmentMagic))
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != segmentMagic {
		return fmt.Errorf("not a file of this version: %w", errDamaged)
	}
	s.size = int64(len(magic))
	var record []byte
	for {
		head, err := r.Peek(recordHead)
		if len(head) == 0 && errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("at %d: %w: %w", s.size, errDamaged, err)
		}
		dims := binary.LittleEndian.Uint32(head[sumBytes+keyBytes:])
		if dims > maxDims {
			return fmt.Errorf("at %d: %d dimensions: %w", s.size, dims, errDamaged)
		}
		n := recordHead + 4*int(dims)
		if cap(record) < n {
			record = make([]byte, n)
		}
		record = record[:n]
		if _, err := io.ReadFull(r, record); err != nil {
			return fmt.Errorf("at %d: %w: %w", s.size, errDamaged, err)
		}
		key, err := checkRecord(record)
		if err != nil {
			return fmt.Errorf("at %d: %w", s.size, err)
		}
		found(key, place{segment: s, offset: s.size, dims: int(dims)})
		s.size += int64(n)
	}
}

// append writes whole records to the end and waits until they are on disk. It returns where they begin.
func (s *segment) append(records []byte) (start int64, err error) {
	if _, err := s.file.Write(records); err != nil {
		return 0, errors.Join(err, os.Truncate(s.path, s.size))
	}
	if err := s.file.Sync(); err != nil {
		return 0, err
	}
	// Another cache on this directory may have appended meanwhile: the system knows where these bytes went.
	end, err := s.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	s.size = end
	return end - int64(len(records)), nil
}

// read returns the vector at a place.
func (s *segment) read(key rag.EmbedKey, p place) ([]float32, error) {
	record := make([]byte, recordHead+4*p.dims)
	if _, err := s.file.ReadAt(record, p.offset); err != nil {
		return nil, err
	}
	if got, err := checkRecord(record); err != nil || got != key {
		return nil, errDamaged
	}
	v := make([]float32, p.dims)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(record[recordHead+4*i:]))
	}
	return v, nil
}

// appendRecord adds a record to buf.
func appendRecord(buf []byte, key rag.EmbedKey, v []float32) []byte {
	start := len(buf)
	buf = append(buf, make([]byte, sumBytes)...)
	buf = append(buf, key[:]...)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(len(v)))
	for _, x := range v {
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
	}
	binary.LittleEndian.PutUint32(buf[start:], crc32.Checksum(buf[start+sumBytes:], castagnoli))
	return buf
}

// checkRecord returns a record's key if its checksum is right.
func checkRecord(record []byte) (key rag.EmbedKey, err error) {
	if binary.LittleEndian.Uint32(record) != crc32.Checksum(record[sumBytes:], castagnoli) {
		return key, errDamaged
	}
	copy(key[:], record[sumBytes:])
	return key, nil
}
