package sparse

import (
	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/bm25"
)

// allow returns the documents of a segment that match the filter, for a search; nil if all do. A field is read into a
// column when a filter first names it, and stays with the segment: filters ask for the same few fields again and
// again, and a segment never changes.
func allow(f rag.Filter) func(*bm25.Segment) bm25.Bitmap {
	if f.IsZero() {
		return nil
	}
	return func(s *bm25.Segment) bm25.Bitmap { return matching(s, f) }
}

// matching agrees with [rag.Filter.Match] on each document.
func matching(s *bm25.Segment, f rag.Filter) bm25.Bitmap {
	b := bm25.NewBitmap(s.Docs())
	switch f.Op {
	case rag.OpAll:
		b.Not()
	case rag.OpAnd:
		b.Not()
		for _, a := range f.Args {
			b.And(matching(s, a))
		}
	case rag.OpOr:
		for _, a := range f.Args {
			b.Or(matching(s, a))
		}
	case rag.OpNot:
		b.Or(matching(s, f.Args[0]))
		b.Not()
	case rag.OpValidAt:
		for v, docs := range validities(s) {
			if f.Match(nil, v) {
				b.Add(docs)
			}
		}
	default:
		columnOf(s, f.Field).add(b, f)
	}
	return b
}

// column is what the documents of a segment have in a field.
type column struct {
	present []uint32            // documents that have it
	texts   map[string][]uint32 // by value; of a list by each of its elements
	others  map[any][]uint32    // numbers and bools
}

// columnKey and validityKey are the names of what stays with a segment.
type (
	columnKey   string
	validityKey struct{}
)

func columnOf(s *bm25.Segment, field string) *column {
	return s.Memo(columnKey(field), func() any {
		c := &column{texts: map[string][]uint32{}, others: map[any][]uint32{}}
		named, m := map[string]bool{field: true}, rag.Meta{}
		for doc := range uint32(s.Docs()) {
			clear(m)
			decodePayload(s.Payload(doc), named, m)
			c.note(doc, m[field])
		}
		return c
	}).(*column)
}

func (c *column) note(doc uint32, value any) {
	switch value := value.(type) {
	case nil:
		return
	case string:
		c.texts[value] = append(c.texts[value], doc)
	case []string:
		for _, element := range value {
			c.texts[element] = append(c.texts[element], doc)
		}
	default:
		c.others[value] = append(c.others[value], doc)
	}
	c.present = append(c.present, doc)
}

// add adds the documents whose value matches a filter on the field. Each value is matched once, and those that are
// equal to a text are looked up.
func (c *column) add(b bm25.Bitmap, f rag.Filter) {
	if f.Op == rag.OpExists {
		b.Add(c.present)
		return
	}
	equal := f.Values
	if f.Op == rag.OpEq {
		equal = []any{f.Value}
	}
	m := rag.Meta{}
	matches := func(value any) bool {
		m[f.Field] = value
		return f.Match(m, rag.Validity{})
	}
	if f.Op == rag.OpEq || f.Op == rag.OpIn {
		for _, value := range equal {
			if text, ok := value.(string); ok {
				b.Add(c.texts[text])
			}
		}
	} else {
		for text, docs := range c.texts {
			if matches(text) {
				b.Add(docs)
			}
		}
	}
	for value, docs := range c.others {
		if matches(value) {
			b.Add(docs)
		}
	}
}

// validities returns the documents of a segment by their validity, of which there are few.
func validities(s *bm25.Segment) map[rag.Validity][]uint32 {
	return s.Memo(validityKey{}, func() any {
		all := map[rag.Validity][]uint32{}
		for doc := range uint32(s.Docs()) {
			v := decodePayload(s.Payload(doc), nil, nil)
			all[v] = append(all[v], doc)
		}
		return all
	}).(map[rag.Validity][]uint32)
}
