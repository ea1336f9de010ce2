package sparse

import (
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/bitset"
	"github.com/seed-d8745b77/rag/internal/bm25"
)

// allow returns the documents of a segment that match the filter, for a search; nil if all do. A field is read into a
// column when a filter first names it, and stays with the segment: filters ask for the same few fields again and
// again, and a segment never changes.
func allow(f rag.Filter) func(*bm25.Segment) bitset.Set {
	if f.IsZero() {
		return nil
	}
	return func(s *bm25.Segment) bitset.Set { return matching(s, f) }
}

// matching agrees with [rag.Filter.Match] on each document.
func matching(s *bm25.Segment, f rag.Filter) bitset.Set {
	b := bitset.New(s.Docs())
	switch f.Op {
	case rag.OpAll:
		b.Complement(s.Docs())
	case rag.OpAnd:
		b.Complement(s.Docs())
		for _, a := range f.Args {
			b.And(matching(s, a))
		}
	case rag.OpOr:
		for _, a := range f.Args {
			b.Or(matching(s, a))
		}
	case rag.OpNot:
		b.Or(matching(s, f.Args[0]))
		b.Complement(s.Docs())
	case rag.OpValidAt:
		for v, docs := range validities(s) {
			if f.Match(nil, v) {
				b.AddAll(docs)
			}
		}
	default:
		columnOf(s, f.Field).add(b, f)
	}
	return b
}

// column is what the documents of a segment have in a field.
type column struct {
	present []uint32         // documents that have it
	docs    map[any][]uint32 // by value: string, float64 or bool; of a list by each of its elements
	texts   []string         // the values, sorted
	numbers []float64        // likewise, without NaN, which no filter matches
}

// columnKey and validityKey are the names of what stays with a segment.
type (
	columnKey   string
	validityKey struct{}
)

func columnOf(s *bm25.Segment, field string) *column {
	return s.Memo(columnKey(field), func() any {
		c := &column{docs: map[any][]uint32{}}
		named, m := map[string]bool{field: true}, rag.Meta{}
		for doc := range uint32(s.Docs()) {
			clear(m)
			decodePayload(s.Payload(doc), named, m)
			c.note(doc, m[field])
		}
		for value := range c.docs {
			switch value := value.(type) {
			case string:
				c.texts = append(c.texts, value)
			case float64:
				if !math.IsNaN(value) {
					c.numbers = append(c.numbers, value)
				}
			}
		}
		slices.Sort(c.texts)
		slices.Sort(c.numbers)
		return c
	}).(*column)
}

func (c *column) note(doc uint32, value any) {
	switch value := value.(type) {
	case nil:
		return
	case []string:
		for _, element := range value {
			c.docs[element] = append(c.docs[element], doc)
		}
	default:
		c.docs[value] = append(c.docs[value], doc)
	}
	c.present = append(c.present, doc)
}

// add adds the documents whose value matches a filter on the field.
func (c *column) add(b bitset.Set, f rag.Filter) {
	switch f.Op {
	case rag.OpExists:
		b.AddAll(c.present)
	case rag.OpEq:
		b.AddAll(c.docs[f.Value])
	case rag.OpIn:
		for _, value := range f.Values {
			b.AddAll(c.docs[value])
		}
	case rag.OpPrefix:
		prefix, _ := f.Value.(string)
		first, _ := slices.BinarySearch(c.texts, prefix)
		for _, text := range c.texts[first:] {
			if !strings.HasPrefix(text, prefix) {
				break
			}
			b.AddAll(c.docs[text])
		}
	case rag.OpRange:
		for _, text := range within(c.texts, f.Bounds) {
			b.AddAll(c.docs[text])
		}
		for _, number := range within(c.numbers, f.Bounds) {
			b.AddAll(c.docs[number])
		}
	}
}

// within returns those of sorted values that lie in the bounds.
func within[T any](sorted []T, bounds *rag.Bounds) []T {
	first := sort.Search(len(sorted), func(i int) bool { return !bounds.Below(sorted[i]) })
	end := sort.Search(len(sorted), func(i int) bool { return bounds.Above(sorted[i]) })
	if first >= end || !bounds.Contain(sorted[first]) { // none, or values of another kind
		return nil
	}
	return sorted[first:end]
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
