package weaviate_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// fake is a server that answers as version 1.35.2 was seen to on a cluster of three, as far as the stores ask it: also
// that a batch is a success whatever becomes of its objects, that a delete without a time loses, that words of records that
// were replaced or deleted count in scores, and in how many ways it says that there is no class.
type fake struct {
	most int  // QUERY_MAXIMUM_RESULTS
	late bool // a class takes nothing from the first batch after it was made
	lost int  // nodes that do not live, of three

	mu      sync.Mutex
	classes map[string]*fakeClass
	queries []string // in GraphQL, in order
}

type fakeClass struct {
	definition map[string]any
	objects    map[string]fakeObject // by UUID
	buried     map[string]float64    // how many records that are no more had a term
	ready      bool
}

type fakeObject struct {
	ID         string         `json:"id"`
	Class      string         `json:"class"`
	Vector     []float32      `json:"vector,omitempty"`
	Properties map[string]any `json:"properties"`

	terms []string
}

func newFake(t testing.TB) (*fake, string) {
	t.Helper()
	f := &fake{most: 10_001, classes: map[string]*fakeClass{}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return f, server.URL
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var in map[string]any
	if r.ContentLength > 0 {
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
	}
	status, out := f.answer(r, in)
	w.WriteHeader(status)
	if out != nil {
		_ = json.NewEncoder(w).Encode(out) // a client that is gone is the test's business
	}
}

func (f *fake) answer(r *http.Request, in map[string]any) (int, any) {
	name, schema := strings.CutPrefix(r.URL.Path, "/v1/schema/")
	c := f.classes[name]
	switch call := r.Method + " " + r.URL.Path; {
	case schema && r.Method == http.MethodGet && c == nil:
		return http.StatusNotFound, nil
	case schema && r.Method == http.MethodGet:
		return http.StatusOK, c.definition
	case schema && r.Method == http.MethodDelete:
		delete(f.classes, name)
		return http.StatusOK, nil
	case call == "POST /v1/schema":
		name := in["class"].(string)
		if f.classes[name] != nil {
			return http.StatusUnprocessableEntity, failure("class name " + name + " already exists")
		}
		f.classes[name] = &fakeClass{definition: in, objects: map[string]fakeObject{}, buried: map[string]float64{}}
		return http.StatusOK, in
	case call == "POST /v1/batch/objects":
		return http.StatusOK, f.write(in, r.URL.Query().Get("consistency_level"))
	case call == "DELETE /v1/batch/objects":
		class := in["match"].(map[string]any)["class"].(string)
		if f.classes[class] == nil {
			return http.StatusInternalServerError, failure("validate: failed to get class: " + class)
		}
		return http.StatusOK, f.remove(in, f.classes[class])
	case call == "GET /v1/objects":
		if f.classes[r.URL.Query().Get("class")] == nil {
			return http.StatusNotFound, nil
		}
		return http.StatusOK, map[string]any{"objects": f.page(r)}
	case call == "POST /v1/graphql" && len(f.classes) == 0:
		return http.StatusUnprocessableEntity, failure("no graphql provider present, this is most likely because no schema is present. Import a schema first!")
	case call == "POST /v1/graphql":
		return http.StatusOK, f.query(in["query"].(string))
	}
	return http.StatusMethodNotAllowed, nil
}

func failure(text string) map[string]any {
	return map[string]any{"error": []any{map[string]any{"message": text}}}
}

// enough tells whether as many nodes live as a level asks for.
func (f *fake) enough(level string) bool {
	return f.lost <= map[string]int{"ONE": 2, "QUORUM": 1}[level]
}

func (f *fake) write(in map[string]any, level string) (out []any) {
	for _, raw := range in["objects"].([]any) {
		var o fakeObject
		text, _ := json.Marshal(raw) // it came from JSON
		_ = json.Unmarshal(text, &o) // likewise
		result := map[string]any{"status": "SUCCESS"}
		switch c := f.classes[o.Class]; {
		case c == nil:
			result = map[string]any{"status": "FAILED", "errors": failure("class '" + o.Class + "' not present in schema")}
		case f.late && !c.ready:
			result = map[string]any{"status": "FAILED", "errors": failure("could not find index for class " + o.Class)}
		case !f.enough(level):
			result = map[string]any{"status": "FAILED", "errors": failure("broadcast: cannot reach enough replicas")}
		default:
			terms, _ := o.Properties["terms"].(string) // vectors have none
			o.terms = strings.Fields(terms)
			c.bury(o.ID)
			c.objects[o.ID] = o
		}
		out = append(out, map[string]any{"id": o.ID, "result": result})
	}
	for _, c := range f.classes {
		c.ready = true
	}
	return out
}

// bury counts the words of an object that goes.
func (c *fakeClass) bury(id string) {
	for _, t := range slices.Compact(slices.Sorted(slices.Values(c.objects[id].terms))) {
		c.buried[t]++
	}
	delete(c.objects, id)
}

func (f *fake) remove(in map[string]any, c *fakeClass) map[string]any {
	match := in["match"].(map[string]any)
	n := 0
	for _, id := range match["where"].(map[string]any)["valueTextArray"].([]any) {
		if _, ok := c.objects[id.(string)]; ok && in["deletionTimeUnixMilli"] != nil {
			c.bury(id.(string))
			n++
		}
	}
	return map[string]any{"results": map[string]any{"matches": n, "successful": n, "failed": 0}}
}

// page lists objects by UUID.
func (f *fake) page(r *http.Request) []fakeObject {
	q := r.URL.Query()
	limit, _ := strconv.Atoi(q.Get("limit")) // 0 shows that it is none
	out := []fakeObject{}
	c := f.classes[q.Get("class")]
	for _, id := range slices.Sorted(maps.Keys(c.objects)) {
		if o := c.objects[id]; id > q.Get("after") && len(out) < limit {
			if q.Get("include") != "vector" {
				o.Vector = nil
			}
			out = append(out, o)
		}
	}
	return out
}

// query runs {Get{Class(arguments){fields}}} or {Aggregate{alias:Class(arguments){fields} …}}.
func (f *fake) query(text string) map[string]any {
	f.queries = append(f.queries, text)
	if counts, ok := strings.CutPrefix(text, "{Aggregate{"); ok {
		return f.aggregate(&parser{counts})
	}
	p := parser{strings.TrimPrefix(text, "{Get{")}
	name := p.name()
	c := f.classes[name]
	if c == nil {
		return refused("GetObjectsObj", name)
	}
	p.text = "{" + p.text[1:]
	arguments := p.object(')')
	factor, _ := c.definition["replicationConfig"].(map[string]any)["factor"].(float64)
	if _, named := arguments["consistencyLevel"]; named && factor < 2 {
		return map[string]any{"errors": []any{map[string]any{"message": fmt.Sprintf("Unknown argument \"consistencyLevel\" on field %q of type \"GetObjectsObj\".", name)}}}
	}
	limit, offset := int(number(arguments["limit"])), int(number(arguments["offset"]))
	if limit+offset > f.most {
		return map[string]any{"data": map[string]any{"Get": map[string]any{name: nil}}, "errors": []any{map[string]any{
			"message": "explorer: list class: search: invalid pagination params: query maximum results exceeded",
		}}}
	}
	scored := f.score(c, arguments)
	scored = scored[min(offset, len(scored)):]
	fields, of, _ := strings.Cut(strings.Trim(p.text, "{} "), "_additional{")
	hits := make([]map[string]any, min(limit, len(scored)))
	for i, s := range scored[:len(hits)] {
		hits[i] = s.fields(strings.Fields(fields), of)
	}
	return map[string]any{"data": map[string]any{"Get": map[string]any{name: hits}}}
}

// refused is the reply to a query of a class that is not there.
func refused(of, name string) map[string]any {
	return map[string]any{"errors": []any{map[string]any{"message": fmt.Sprintf("Cannot query field %q on type %q.", name, of), "path": nil}}}
}

// aggregate counts what fulfils each condition.
func (f *fake) aggregate(p *parser) map[string]any {
	counts := map[string]any{}
	for p.blank(); p.text[0] != '}'; p.blank() {
		alias := p.name()
		p.text = p.text[1:] // the colon
		name := p.name()
		c := f.classes[name]
		if c == nil {
			return refused("AggregateObjectsObj", name)
		}
		var where map[string]any
		if p.text[0] == '(' {
			where, _ = p.object(')')["where"].(map[string]any)
		}
		fields := p.text[:strings.Index(p.text, "}}")] // of those that are asked for the last has fields of its own
		p.text = strings.TrimPrefix(p.text[len(fields):], "}")
		if p.text = p.text[1:]; !strings.Contains(fields, "meta{count") {
			panic("it counts nothing: " + fields)
		}
		n, length := 0, 0.0
		for _, o := range c.objects {
			if where == nil || fulfils(o, where) {
				n++
				length += number(o.Properties["length"])
			}
		}
		one := map[string]any{"meta": map[string]any{"count": n}}
		if strings.Contains(fields, "length{mean") && n > 0 {
			one["length"] = map[string]any{"mean": length / float64(n)}
		}
		counts[alias] = []any{one}
	}
	return map[string]any{"data": map[string]any{"Aggregate": counts}}
}

type scoredObject struct {
	object fakeObject
	score  float64
	often  map[string]int // each term of the query, of words
}

// fields are those of an object that are asked for, and one beside them.
func (s *scoredObject) fields(names []string, additional string) map[string]any {
	out := make(map[string]any, len(names)+1)
	for _, name := range names {
		out[name] = s.object.Properties[name]
	}
	var value any
	switch additional {
	case "distance":
		value = 1 - s.score
	case "score":
		value = strconv.FormatFloat(s.score, 'f', -1, 32)
	case "explainScore":
		value = s.explain()
	case "vector":
		value = s.object.Vector
	case "id":
		value = s.object.ID
	default:
		panic("objects have no " + additional)
	}
	out["_additional"] = map[string]any{additional: value}
	return out
}

func (s *scoredObject) explain() (text string) {
	for _, t := range slices.Sorted(maps.Keys(s.often)) {
		text += fmt.Sprintf(", BM25F_%s_frequency:%d, BM25F_%s_propLength:%d", t, s.often[t], t, len(s.object.terms))
	}
	return text
}

// score ranks what matches; equal ones have the order of UUIDs.
func (f *fake) score(c *fakeClass, arguments map[string]any) (out []scoredObject) {
	vector, near := arguments["nearVector"].(map[string]any)
	query, bm25 := arguments["bm25"].(map[string]any)
	var terms []string
	if bm25 {
		terms = strings.Fields(query["query"].(string))
	}
	frequency, length := maps.Clone(c.buried), 0.0
	for _, o := range c.objects {
		length += float64(len(o.terms))
		for _, t := range terms {
			if slices.Contains(o.terms, t) {
				frequency[t]++
			}
		}
	}
	n := float64(len(c.objects))
	for _, id := range slices.Sorted(maps.Keys(c.objects)) {
		o := c.objects[id]
		if where, ok := arguments["where"].(map[string]any); ok && !fulfils(o, where) {
			continue
		}
		s := scoredObject{object: o}
		switch {
		case near:
			for i, x := range vector["vector"].([]any) {
				s.score += float64(float32(number(x))) * float64(o.Vector[i])
			}
		case bm25:
			for _, t := range terms {
				tf := 0.0
				for _, h := range o.terms {
					if h == t {
						tf++
					}
				}
				if tf == 0 {
					continue
				}
				if s.often == nil {
					s.often = map[string]int{}
				}
				s.often[t] = int(tf)
				idf := math.Log(1 + (n-frequency[t]+0.5)/(frequency[t]+0.5))
				s.score += idf * tf * 2.2 / (tf + 1.2*(0.25+0.75*float64(len(o.terms))*n/length))
			}
			if s.often == nil {
				continue
			}
		}
		out = append(out, s)
	}
	if near || bm25 {
		slices.SortStableFunc(out, func(a, b scoredObject) int { return cmp.Compare(b.score, a.score) })
	}
	return out
}

func number(v any) float64 {
	x, _ := v.(float64) // 0 where there is none
	return x
}

// fulfils judges a condition.
func fulfils(o fakeObject, where map[string]any) bool {
	operands, _ := where["operands"].([]any)
	one := func(v any) bool { return fulfils(o, v.(map[string]any)) }
	switch where["operator"] {
	case "And":
		return !slices.ContainsFunc(operands, func(v any) bool { return !one(v) })
	case "Or":
		return slices.ContainsFunc(operands, one)
	case "Not":
		return !one(operands[0])
	}
	path := where["path"].([]any)[0].(string)
	have := o.Properties[path]
	switch where["operator"] {
	case "ContainsAny":
		return path == "id" && slices.Contains(where["valueText"].([]any), any(o.ID))
	case "Equal":
		if path == "terms" { // any of them: of such a property the words are looked for
			return slices.Contains(o.terms, where["valueText"].(string))
		}
		return slices.Contains(have.([]any), where["valueText"])
	case "Like":
		begin := strings.TrimSuffix(where["valueText"].(string), "*")
		return slices.ContainsFunc(have.([]any), func(v any) bool { return strings.HasPrefix(v.(string), begin) })
	case "LessThanEqual":
		return number(have) <= number(where["valueNumber"])
	case "GreaterThanEqual":
		return number(have) >= number(where["valueNumber"])
	}
	panic("the server knows no operator " + fmt.Sprint(where["operator"]))
}

// parser reads values of GraphQL.
type parser struct{ text string }

func (p *parser) blank() { p.text = strings.TrimLeft(p.text, " ,\n") }

func (p *parser) name() string {
	p.blank()
	end := strings.IndexFunc(p.text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	name := p.text[:end]
	p.text = p.text[end:]
	return name
}

func (p *parser) object(end byte) map[string]any {
	out := map[string]any{}
	for p.text = p.text[1:]; ; {
		if p.blank(); p.text[0] == end {
			p.text = p.text[1:]
			return out
		}
		name := p.name()
		p.text = p.text[1:] // the colon
		out[name] = p.value()
	}
}

func (p *parser) value() any {
	switch p.blank(); p.text[0] {
	case '{':
		return p.object('}')
	case '[':
		out := []any{}
		for p.text = p.text[1:]; ; {
			if p.blank(); p.text[0] == ']' {
				p.text = p.text[1:]
				return out
			}
			out = append(out, p.value())
		}
	}
	if p.text[0] >= 'A' && p.text[0] <= 'Z' {
		return p.name() // an operator or a level
	}
	decoder := json.NewDecoder(strings.NewReader(p.text))
	var v any
	if err := decoder.Decode(&v); err != nil {
		panic(err)
	}
	p.text = p.text[decoder.InputOffset():]
	return v
}
