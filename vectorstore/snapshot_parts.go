package vectorstore

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag/internal/bitset"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

// encode writes keys, hashes, which slots are live and which are free.
func (s *slots) encode() *record.Writer {
	w := record.NewWriter(snapshotVersion, 10*s.count()+4*len(s.free))
	writeNumbers(w, s.keys)
	writeNumbers(w, s.hashes)
	writeBitmap(w, s.live)
	writeNumbers(w, s.free)
	return w
}

func (s *slots) decode(r *record.Reader) error {
	s.keys, s.hashes, s.live, s.free = readNumbers(r), readNumbers(r), readBitmap(r), readNumbers(r)
	if err := r.Close(); err != nil {
		return err
	}
	n := s.count()
	if len(s.hashes) != n || !s.live.Below(n) {
		return record.ErrDamaged
	}
	taken := slices.Clone(s.live)
	for _, slot := range s.free {
		if int(slot) >= n || taken.Has(slot) {
			return record.ErrDamaged
		}
		taken = taken.Add(slot)
	}
	s.n = s.live.Count()
	s.gone = n - s.n - len(s.free)
	s.rebuild(max(16, s.n*5/4))
	return nil
}

// encode writes the postings, all values in order.
func (f *fields) encode() *record.Writer {
	w := record.NewWriter(snapshotVersion, 1<<16)
	w.Len(len(f.validity), false)
	for _, v := range sortedBy(f.validity, func(a, b interval) int { return cmp.Or(a.from.Compare(b.from), a.until.Compare(b.until)) }) {
		w.Time(v.from)
		w.Time(v.until)
		f.validity[v].encode(w)
	}
	w.Len(len(f.byName), false)
	for _, name := range sortedKeys(f.byName) {
		x := f.byName[name]
		w.String(name)
		x.present.encode(w)
		x.bools[0].encode(w)
		x.bools[1].encode(w)
		w.Len(len(x.texts.at), false)
		for _, s := range sortedBy(x.texts.at, strings.Compare) {
			w.String(s)
			x.texts.at[s].encode(w)
		}
		w.Len(len(x.numbers.at), false)
		for _, n := range sortedBy(x.numbers.at, compareNumbers) {
			w.Float64(n.float())
			x.numbers.at[n].encode(w)
		}
	}
	return w
}

// decode reads postings of slots below n.
func (f *fields) decode(r *record.Reader, n int) error {
	f.slots = n
	ok := true
	read := func(p *posting) { ok = p.decode(r, n) && ok }
	validities, _ := r.Len()
	for range validities {
		read(f.interval(interval{r.Time().UTC(), r.Time().UTC()}))
	}
	names, _ := r.Len()
	for range names {
		x := f.field(r.String())
		read(&x.present)
		read(&x.bools[0])
		read(&x.bools[1])
		texts, _ := r.Len()
		for range texts {
			read(x.text(r.String()))
		}
		numbers, _ := r.Len()
		for range numbers {
			read(x.number(r.Float64()))
		}
	}
	if err := r.Close(); err != nil {
		return err
	}
	if !ok {
		return record.ErrDamaged
	}
	return nil
}

// encode writes a list by its differences, or the bits.
func (p *posting) encode(w *record.Writer) {
	w.Bool(p.bits != nil)
	if p.bits != nil {
		writeBitmap(w, p.bits)
		return
	}
	w.Len(len(p.list), false)
	last := uint32(0)
	for _, slot := range p.list {
		w.Uint(uint64(slot - last))
		last = slot
	}
}

// decode reports false where a slot is not below n.
func (p *posting) decode(r *record.Reader, n int) bool {
	if r.Bool() {
		p.bits = readBitmap(r)
		return p.bits.Below(n)
	}
	count, _ := r.Len()
	p.list = make([]uint32, count)
	last, end := uint64(0), uint64(n)
	for i := range p.list {
		step := r.Uint()
		if step >= end || last+step >= end {
			p.list = nil
			return false
		}
		last += step
		p.list[i] = uint32(last)
	}
	return true
}

func writeNumbers(w *record.Writer, list []uint32) {
	raw := make([]byte, 0, 4*len(list))
	for _, n := range list {
		raw = binary.LittleEndian.AppendUint32(raw, n)
	}
	w.Uint(uint64(len(list)))
	w.Raw(raw)
}

func readNumbers(r *record.Reader) []uint32 {
	raw := r.Raw(size(r.Uint(), 4))
	list := make([]uint32, len(raw)/4)
	for i := range list {
		list[i] = uint32(raw[4*i]) | uint32(raw[4*i+1])<<8 | uint32(raw[4*i+2])<<16 | uint32(raw[4*i+3])<<24
	}
	return list
}

func writeBitmap(w *record.Writer, b bitset.Set) {
	raw := make([]byte, 0, 8*len(b))
	for _, word := range b {
		raw = binary.LittleEndian.AppendUint64(raw, word)
	}
	w.Uint(uint64(len(b)))
	w.Raw(raw)
}

func readBitmap(r *record.Reader) bitset.Set {
	raw := r.Raw(size(r.Uint(), 8))
	b := make(bitset.Set, len(raw)/8)
	for i := range b {
		for j := range 8 {
			b[i] |= uint64(raw[8*i+j]) << (8 * j)
		}
	}
	return b
}

// size is n times width, or what no record can have.
func size(n uint64, width int) int {
	if n > 1<<40 {
		return -1
	}
	return int(n) * width
}
