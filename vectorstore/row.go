package vectorstore

import (
	"fmt"
	"math"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

// row is a record on its way into a collection.
type row struct {
	id, docID string
	fields    string // encoded validity and metadata
	meta      rag.Meta
	validity  rag.Validity
	vector    []float32
	key       uint64 // in the file; 0: to be given
	old       uint32 // slot of the record that it replaces
	replaces  bool
}

// prepare checks records and encodes what filters look at. Of several with one ID the last is kept.
func prepare(recs []rag.VectorRecord) ([]row, error) {
	rows := make([]row, 0, len(recs))
	at := make(map[string]int, len(recs))
	for i := range recs {
		rec := &recs[i]
		if rec.ID == "" {
			return nil, fmt.Errorf("record %d has no ID: %w", i, rag.ErrInvalid)
		}
		if err := checkVector(rec.Vector); err != nil {
			return nil, fmt.Errorf("record %s: %w", rec.ID, err)
		}
		if first := len(recs[0].Vector); len(rec.Vector) != first {
			return nil, fmt.Errorf("record %s has %d dimensions, the first of the call has %d: %w", rec.ID, len(rec.Vector), first, rag.ErrDimension)
		}
		fields, err := encodeFields(rec.Meta, rec.Validity)
		if err != nil {
			return nil, kind(fmt.Errorf("record %s: metadata: %w", rec.ID, err))
		}
		one := row{id: rec.ID, docID: rec.DocID, fields: fields, meta: rec.Meta, validity: rec.Validity, vector: rec.Vector}
		if j, again := at[rec.ID]; again {
			rows[j] = one
			continue
		}
		at[rec.ID] = len(rows)
		rows = append(rows, one)
	}
	return rows, nil
}

// checkVector refuses what has no direction.
func checkVector(v []float32) error {
	zero := true
	for i, x := range v {
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("component %d of the vector is %v: %w", i, x, rag.ErrInvalid)
		}
		zero = zero && x == 0
	}
	if zero {
		return fmt.Errorf("the vector of %d dimensions is zero: %w", len(v), rag.ErrInvalid)
	}
	return nil
}

func encodeFields(m rag.Meta, v rag.Validity) (string, error) {
	w := record.NewWriter(layoutVersion, 256)
	w.Time(v.From)
	w.Time(v.Until)
	w.Bool(v.Stated)
	w.Map(m)
	return w.Fields()
}

func decodeFields(s string) (rag.Meta, rag.Validity, error) {
	r := record.NewReader(s)
	v := rag.Validity{From: r.Time(), Until: r.Time(), Stated: r.Bool()}
	m := r.Map()
	if err := r.Close(); err != nil {
		return nil, rag.Validity{}, fmt.Errorf("metadata: %w", err)
	}
	return m, v, nil
}
