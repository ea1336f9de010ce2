package vectorstore

import "strings"

// blockRows is the number of vectors in a block of memory: 384 KiB at 384 dimensions. A collection grows block by block,
// so that growing copies nothing and wastes less than a block.
const blockRows = 256

// slab is a collection in memory. Rows have no order: a deleted row is filled with the last one.
type slab struct {
	dims   int
	gen    uint64 // of what is stored
	blocks [][]float32
	ids    []string // by row
	keys   []uint64 // by row: key in the file
	fields []uint32 // by row: place in table
	rows   map[string]int32
	table  fieldTable
}

func newSlab(dims int) *slab {
	return &slab{dims: dims, rows: map[string]int32{}, table: fieldTable{at: map[string]uint32{}}}
}

func (s *slab) has(id string) bool {
	_, ok := s.rows[id]
	return ok
}

// vector returns a row's vector in place.
func (s *slab) vector(at int32) []float32 {
	start := int(at%blockRows) * s.dims
	return s.blocks[at/blockRows][start : start+s.dims]
}

// put adds rows or replaces those of the same ID.
func (s *slab) put(batch []row) error {
	for i := range batch {
		one := &batch[i]
		fields, err := s.table.use(one.fields)
		if err != nil {
			return err
		}
		at, known := s.rows[one.id]
		if known {
			s.table.release(s.fields[at])
			s.keys[at], s.fields[at] = one.key, fields
		} else {
			at = s.grow(one.id)
			s.keys, s.fields = append(s.keys, one.key), append(s.fields, fields)
		}
		copy(s.vector(at), one.vector)
	}
	return nil
}

// grow makes room for one more row.
func (s *slab) grow(id string) int32 {
	at := int32(len(s.ids))
	if at%blockRows == 0 {
		s.blocks = append(s.blocks, make([]float32, blockRows*s.dims))
	}
	id = strings.Clone(id) // the row keeps the ID alive, and must not keep the record that it was read from
	s.ids = append(s.ids, id)
	s.rows[id] = at
	return at
}

// remove deletes rows; absent IDs are left out.
func (s *slab) remove(ids []string) {
	for _, id := range ids {
		at, ok := s.rows[id]
		if !ok {
			continue
		}
		s.table.release(s.fields[at])
		last := int32(len(s.ids) - 1)
		copy(s.vector(at), s.vector(last))
		s.ids[at], s.keys[at], s.fields[at] = s.ids[last], s.keys[last], s.fields[last]
		s.rows[s.ids[at]] = at
		delete(s.rows, id)
		s.ids[last] = ""
		s.ids, s.keys, s.fields = s.ids[:last], s.keys[:last], s.fields[:last]
		if last%blockRows == 0 {
			s.blocks[len(s.blocks)-1] = nil
			s.blocks = s.blocks[:len(s.blocks)-1]
		}
	}
}
