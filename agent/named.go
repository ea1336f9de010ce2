package agent

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
)

// Field is metadata by which a question can name documents.
type Field struct {
	Name   string   `json:"name"`
	Values []Value  `json:"values"` // that a question can name; nil for days
	Days   bool     `json:"days"`   // its values are days or instants: a period that the question names is a condition on it
	Words  []string `json:"words"`  // with Days: what stands before a period of this field, such as "took effect"; nil: "published", "dated" and their like
	Kind   bool     `json:"kind"`   // its values are kinds of documents, so "in the exam" names one; of others "only", "according to", "documents of" must stand by the value
}

// Value is a value of a field.
type Value struct {
	Value any      `json:"value"` // string, number or bool
	Names []string `json:"names"` // other names of it; its own text is one

	filter rag.Filter // in place of Eq(field, Value), where the field is no metadata
}

// names are all texts that name the value.
func (v *Value) names() []string {
	own, ok := v.Value.(string)
	if !ok {
		return v.Names // a number in a question is no name
	}
	return append([]string{own}, v.Names...)
}

func (v *Value) condition(field string) rag.Filter {
	if !v.filter.IsZero() {
		return v.filter
	}
	return rag.Eq(field, v.Value)
}

// Fields that a vocabulary has besides metadata.
const (
	FieldDocType    = "doc_type"   // the extension of the file, "pdf"
	FieldCollection = "collection" // where to look, not a condition
)

// kindFields are metadata fields whose values are usually kinds of documents.
var kindFields = []string{"type", "kind", "format", "category", "source_type", "document_type", FieldDocType, "course_type", "content_type"}

// IsKind reports whether the values of a field of this name are usually kinds of documents; see [Field].
func IsKind(name string) bool { return slices.Contains(kindFields, name) }

// What a vocabulary keeps of a collection. Fields beyond are free text rather than a vocabulary, and files beyond are too
// many to be named one by one in a filter.
const (
	maxValues     = 200
	maxValueBytes = 80
	maxTypeFiles  = 500
)

// CollectVocabulary reads what a question can name from the metadata of a collection: values of text fields, fields of
// days, and kinds of files. It reads the ledger, not the texts; keep the result while the collection does not change.
func CollectVocabulary(ctx context.Context, engine *rag.Engine, collection string) ([]Field, error) {
	seen := map[string]map[string]bool{} // values by field
	days := map[string]bool{}            // whether all values of a field are days
	files := map[string][]any{}          // URIs by extension
	for entry, err := range engine.Documents(ctx, collection) {
		if err != nil {
			return nil, err
		}
		if ext := strings.TrimPrefix(strings.ToLower(path.Ext(entry.URI)), "."); ext != "" {
			files[ext] = append(files[ext], entry.URI)
		}
		for name, value := range entry.Meta {
			noteValue(seen, days, name, value)
		}
	}
	var fields []Field
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		values := seen[name]
		switch {
		case days[name]:
			fields = append(fields, Field{Name: name, Days: true})
		case len(values) <= maxValues:
			f := Field{Name: name, Kind: IsKind(name)}
			for _, v := range slices.Sorted(maps.Keys(values)) {
				f.Values = append(f.Values, Value{Value: v})
			}
			fields = append(fields, f)
		}
	}
	if _, own := seen[FieldDocType]; own {
		return fields, nil
	}
	types := Field{Name: FieldDocType, Kind: true}
	for _, ext := range slices.Sorted(maps.Keys(files)) {
		if len(files[ext]) <= maxTypeFiles && len(files) > 1 { // of one kind only, the name tells nothing apart
			types.Values = append(types.Values, Value{Value: ext, Names: typeNames[ext], filter: rag.In(rag.FieldURI, files[ext]...)})
		}
	}
	if len(types.Values) > 0 {
		fields = append(fields, types)
	}
	return fields, nil
}

// typeNames are what people call files of a type.
var typeNames = map[string][]string{
	"docx": {"word document", "word file"}, "xlsx": {"excel", "spreadsheet"}, "pptx": {"powerpoint", "slides"}, "md": {"markdown"}, "html": {"web page"}, "eml": {"mail", "email"},
}

// noteValue adds a value of a field to what was seen of it.
func noteValue(seen map[string]map[string]bool, days map[string]bool, name string, value any) {
	var list []string
	switch v := value.(type) {
	case string:
		list = []string{v}
	case []string:
		list = v
	}
	for _, v := range list {
		if v = strings.TrimSpace(v); v == "" || len(v) > maxValueBytes {
			continue
		}
		if seen[name] == nil {
			seen[name], days[name] = map[string]bool{}, true
		}
		if _, day := rag.FirstInstant(v, time.UTC); !day {
			days[name] = false
		}
		if len(seen[name]) <= maxValues {
			seen[name][v] = true
		}
	}
}

// Merge returns the fields of both; of a field that both have, the values and names of both, and the rest from over.
func Merge(base, over []Field) []Field {
	out := slices.Clone(base)
	for _, f := range over {
		i := slices.IndexFunc(out, func(have Field) bool { return have.Name == f.Name })
		if i < 0 {
			out = append(out, f)
			continue
		}
		merged := f
		merged.Values = slices.Clone(out[i].Values)
		for _, v := range f.Values {
			if at := slices.IndexFunc(merged.Values, func(have Value) bool { return have.Value == v.Value }); at >= 0 {
				merged.Values[at].Names = append(slices.Clone(merged.Values[at].Names), v.Names...)
			} else {
				merged.Values = append(merged.Values, v)
			}
		}
		out[i] = merged
	}
	return out
}

// naming is a value that a question names, and where.
type naming struct {
	field int
	value int
	span
}

// namings finds every value of the fields in the question. Of names that lie in one another the longest counts.
func namings(t text, fields []Field) []naming {
	var all []naming
	for i := range fields {
		for j := range fields[i].Values {
			for _, name := range fields[i].Values[j].names() {
				for _, s := range t.find(strings.ReplaceAll(name, "_", " ")) {
					all = append(all, naming{i, j, s})
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b naming) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.field, b.field), cmp.Compare(a.value, b.value))
	})
	all = slices.Compact(all)
	return slices.DeleteFunc(slices.Clone(all), func(n naming) bool {
		return slices.ContainsFunc(all, func(o naming) bool { return o.start <= n.start && n.end <= o.end && o.end-o.start > n.end-n.start })
	})
}

// named is what a question says about where to look.
type named struct {
	filter     rag.Filter
	collection string
}

// namedScope returns the condition that the question itself states: by values that it names as the place to look in, and by
// a period. A value that is merely mentioned is none, since the answer may stand elsewhere.
func namedScope(t text, fields []Field) named {
	all := namings(t, fields)
	scoping := map[int]bool{} // fields; where one value is a place to look in, another one named with it is too
	for _, n := range all {
		scoping[n.field] = scoping[n.field] || t.scopes(n, fields[n.field].Kind)
	}
	scoped := slices.DeleteFunc(all, func(n naming) bool { return !scoping[n.field] || t.denies(n) })
	out := conditions(fields, scoped)
	if period := dateCondition(t, fields); !period.IsZero() {
		out.filter = rag.And(out.filter, period)
	}
	return out
}

// conditions makes one filter of namings: values of one field are alternatives, fields must all hold. A name that is a value
// of several fields does not say which is meant, so one of them must hold.
func conditions(fields []Field, all []naming) named {
	var out named
	byPlace := map[span][]naming{}
	for _, n := range all {
		if fields[n.field].Name == FieldCollection {
			out.collection, _ = fields[n.field].Values[n.value].Value.(string)
			continue
		}
		byPlace[n.span] = append(byPlace[n.span], n)
	}
	groups := map[string][]rag.Filter{} // alternatives by the fields they are of
	var order []string
	for _, place := range slices.SortedFunc(maps.Keys(byPlace), func(a, b span) int { return cmp.Compare(a.start, b.start) }) {
		key := ""
		for _, n := range byPlace[place] {
			key += fields[n.field].Name + "\n"
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		for _, n := range byPlace[place] {
			groups[key] = append(groups[key], fields[n.field].Values[n.value].condition(fields[n.field].Name))
		}
	}
	var must []rag.Filter
	for _, key := range order {
		must = append(must, either(groups[key]))
	}
	out.filter = rag.And(must...)
	return out
}

// either is one of the filters, without repetition.
func either(list []rag.Filter) rag.Filter {
	var distinct []rag.Filter
	for _, f := range list {
		if !slices.ContainsFunc(distinct, func(have rag.Filter) bool { return have.String() == f.String() }) {
			distinct = append(distinct, f)
		}
	}
	if len(distinct) == 1 {
		return distinct[0]
	}
	return rag.Or(distinct...)
}
