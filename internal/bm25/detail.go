package bm25

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Detail is the part of a segment that plain searches do not read: where the terms stand in the documents, and the
// words that the terms were made of. It is immutable.
//
// Layout:
//
//	header    terms uint32, forms uint32
//	offsets   uint32 × (terms+1), uint32 × (forms+1): where each entry begins, and the last ends
//	term      for each of its postings the positions: v (distance to the one before × 2, + 1 if another follows)
//	form      v length of form, form, v numbers of its terms, each as the distance to the one before; by form
type Detail struct {
	data  string
	terms int
	forms int
}

// OpenDetail reads what [Detail.Data] gave of a segment with so many terms. It keeps data.
func (s *Segment) OpenDetail(data string) (*Detail, error) {
	if len(data) < headerSize {
		return nil, fmt.Errorf("detail of %d bytes: %w", len(data), ErrDamaged)
	}
	terms, forms := u32(data, 0), u32(data, 4)
	tables := headerSize + offsetSize*(uint64(terms)+1+uint64(forms)+1)
	if int(terms) != s.terms || tables > uint64(len(data)) {
		return nil, fmt.Errorf("detail of %d terms, %d bytes: %w", terms, len(data), ErrDamaged)
	}
	last := uint32(tables)
	for at := headerSize; at < int(tables); at += offsetSize {
		off := u32(data, at)
		if off < last || int(off) > len(data) {
			return nil, fmt.Errorf("detail entry at %d: %w", off, ErrDamaged)
		}
		last = off
	}
	return &Detail{data: data, terms: s.terms, forms: int(forms)}, nil
}

// Data returns the bytes, to be kept and given to [Segment.OpenDetail].
func (d *Detail) Data() string { return d.data }

// positions returns the places of the i-th term.
func (d *Detail) positions(i int) places { return places{reader{s: d.slice(headerSize, i)}} }

// form returns the i-th form and the numbers of its terms, to be read with nextTerm.
func (d *Detail) form(i int) (string, reader) {
	r := reader{s: d.slice(d.formTable(), i)}
	form := r.text()
	return form, r
}

// lowestForm returns the number of the first form that is not below the one given.
func (d *Detail) lowestForm(form string) int {
	return sort.Search(d.forms, func(i int) bool {
		f, _ := d.form(i)
		return f >= form
	})
}

// eachTerm calls fn with the numbers of the terms that follow a form.
func (d *Detail) eachTerm(r reader, fn func(term int)) {
	for term := uint64(0); r.s != ""; {
		term += r.number()
		if r.bad || term >= uint64(d.terms) {
			return
		}
		fn(int(term))
	}
}

func (d *Detail) formTable() int { return headerSize + (d.terms+1)*offsetSize }

func (d *Detail) slice(table, i int) string {
	at := table + i*offsetSize
	return d.data[u32(d.data, at):u32(d.data, at+offsetSize)]
}

// places walks the positions of a term, posting by posting.
type places struct{ r reader }

// next returns the bytes of the next posting.
func (p *places) next() string {
	s := p.r.s
	for p.r.number()&1 == 1 {
	}
	return s[:len(s)-len(p.r.s)]
}

// appendPlaces appends the positions that the bytes of a posting hold.
func appendPlaces(list []uint32, s string) []uint32 {
	r := reader{s: s}
	for at := uint64(0); r.s != ""; {
		v := r.number()
		at += v >> 1
		list = append(list, uint32(at))
		if v&1 == 0 {
			break
		}
	}
	return list
}

// encodePlaces is the reverse of appendPlaces for one posting; it sorts the list and drops repetitions.
func encodePlaces(b []byte, list []uint32) []byte {
	slices.Sort(list)
	list = slices.Compact(list)
	before := uint32(0)
	for i, at := range list {
		v := uint64(at-before) << 1
		if i < len(list)-1 {
			v |= 1
		}
		b = binary.AppendUvarint(b, v)
		before = at
	}
	return b
}

// formTerm says that a word was made into the term of that number.
type formTerm struct {
	form string
	term uint32
}

// detailWriter writes a detail: the places of all terms in order, then the forms.
type detailWriter struct {
	buf   []byte
	terms []int // where in buf each term begins
	forms []formTerm
}

func (w *detailWriter) finish() (string, error) {
	w.terms = append(w.terms, len(w.buf))
	slices.SortFunc(w.forms, func(a, b formTerm) int {
		if c := strings.Compare(a.form, b.form); c != 0 {
			return c
		}
		return int(a.term) - int(b.term)
	})
	w.forms = slices.Compact(w.forms)
	var starts []int
	before := uint32(0)
	for i, f := range w.forms {
		if i == 0 || f.form != w.forms[i-1].form {
			starts = append(starts, len(w.buf))
			w.buf = binary.AppendUvarint(w.buf, uint64(len(f.form)))
			w.buf = append(w.buf, f.form...)
			before = 0
		}
		w.buf = binary.AppendUvarint(w.buf, uint64(f.term-before))
		before = f.term
	}
	starts = append(starts, len(w.buf))
	return assemble(w.buf, nil, w.terms, starts)
}
