package remote

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/seed-d8745b77/rag"
)

// Fields are what a service keeps of a record beside its vector or text. Each record has all of them, of the same kinds
// whatever the metadata is, so that an upsert leaves nothing of the record that it replaces: services merge keys.
type Fields struct {
	Payload string   // metadata and validity, to be judged by [Fields.Match]
	Has     []string // tokens to look for, see [Condition]
	From    int64    // microseconds since 1970 from which on the text is in force; math.MinInt64: always was
	Until   int64    // until then; math.MaxInt64: for ever
}

// payload is what a filter looks at. The keys are short, since each record has them.
type payload struct {
	Meta  rag.Meta  `json:"m"`
	From  time.Time `json:"f,omitzero"`
	Until time.Time `json:"u,omitzero"`
}

// FieldsOf encodes metadata and validity. Metadata that cannot be kept is ErrInvalid.
func FieldsOf(m rag.Meta, v rag.Validity) (Fields, error) {
	m, err := m.Clean()
	if err != nil {
		return Fields{}, err
	}
	text, err := json.Marshal(payload{m, v.From, v.Until})
	if err != nil {
		return Fields{}, fmt.Errorf("encode metadata: %w: %w", err, rag.ErrInvalid)
	}
	f := Fields{Payload: string(text), Has: []string{everyone}, From: math.MinInt64, Until: math.MaxInt64}
	for field, value := range m {
		f.Has = append(f.Has, fieldToken(field))
		switch value := value.(type) {
		case []string:
			for _, element := range value {
				f.Has = append(f.Has, valueToken(field, element))
			}
		default:
			f.Has = append(f.Has, valueToken(field, value))
		}
	}
	slices.Sort(f.Has)
	f.Has = slices.Compact(f.Has)
	if !v.From.IsZero() {
		f.From = v.From.UnixMicro()
	}
	if !v.Until.IsZero() {
		f.Until = v.Until.UnixMicro()
	}
	return f, nil
}

// matches judges a payload.
func matches(f rag.Filter, text string) (bool, error) {
	if f.IsZero() {
		return true, nil
	}
	var p payload
	err := json.Unmarshal([]byte(text), &p)
	if err == nil {
		p.Meta, err = p.Meta.Clean()
	}
	if err != nil {
		return false, fmt.Errorf("a record's metadata %.80q is not what rag writes: %w: %w", text, err, rag.ErrInvalid)
	}
	return f.Match(p.Meta, rag.Validity{From: p.From, Until: p.Until}), nil
}

// Vectors returns the records of a call of Upsert, of those with one ID the last, with the length of their vectors.
// Errors: ErrInvalid for a vector that is zero or not finite and for a missing ID, ErrDimension for several lengths.
func Vectors(recs []rag.VectorRecord) (kept []rag.VectorRecord, dims int, err error) {
	last := make(map[string]int, len(recs))
	for i, r := range recs {
		sum := 0.0
		for _, x := range r.Vector {
			sum += float64(x) * float64(x)
		}
		switch {
		case r.ID == "":
			return nil, 0, fmt.Errorf("record %d has no ID: %w", i, rag.ErrInvalid)
		case len(r.Vector) != len(recs[0].Vector):
			return nil, 0, fmt.Errorf("record %s has a vector of %d numbers, record %s one of %d: %w", r.ID, len(r.Vector), recs[0].ID, len(recs[0].Vector), rag.ErrDimension)
		case sum == 0 || sum-sum != 0:
			return nil, 0, fmt.Errorf("record %s has a vector that is zero or not finite: %w", r.ID, rag.ErrInvalid)
		}
		last[r.ID] = i
	}
	for i, r := range recs {
		if last[r.ID] == i {
			kept = append(kept, r)
			dims = len(r.Vector)
		}
	}
	return kept, dims, nil
}

// AllFields encodes metadata and validity of records that are to be kept by the service, in their order; see [FieldsOf].
func (s *Service) AllFields(recs []rag.VectorRecord) ([]Fields, error) {
	all := make([]Fields, len(recs))
	for i, r := range recs {
		var err error
		if all[i], err = FieldsOf(r.Meta, r.Validity); err != nil {
			return nil, s.Errorf("record %s: %w", r.ID, err)
		}
	}
	return all, nil
}

// CheckLength reports ErrDimension for a vector of another length than those that a collection holds.
func (s *Service) CheckLength(collection string, held, dims int) error {
	if dims != held {
		return s.Errorf("collection %q holds vectors of %d numbers, not %d: %w", collection, held, dims, rag.ErrDimension)
	}
	return nil
}
