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
// that a batch is a success whatever becomes of its objects, and that
// a delete without a time loses.
type fake struct {
	most int  // QUERY_MAXIMUM_RESULTS
	late bool // a class takes nothing from the first batch after it was made

	mu      sync.Mutex
	classes map[string]*fakeClass
	queries []string // in GraphQL, in order
}

type fakeClass struct {
	definition map[string]any
	objects    map[string]fakeObject // by UUID
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
		f.classes[name] = &fakeClass{definition: in, objects: map[string]fakeObject{}}
		return http.StatusOK, in
	case call == "POST /v1/batch/objects":
		return http.StatusOK, f.write(in)
	case call == "DELETE /v1/batch/objects":
		return http.StatusOK, f.remove(in)
	case call == "GET /v1/objects":
		return http.StatusOK, map[string]any{"objects": f.page(r)}
	case call == "POST /v1/graphql":
		return http.StatusOK, f.query(in["query"].(string))
	}
	return http.StatusMethodNotAllowed, nil
}

func failure(text string) map[string]any {
	return map[string]any{"error": []any{map[string]any{"message": text}}}
}

func (f *fake) write(in map[string]any) (out []any) {
	for _, raw := range in["objects"].([]any) {
		var o fakeObject
		text, _ := json.Marshal(raw) // it came from JSON
		_ = json.Unmarshal(text, &o) // likewise
		result := map[string]any{"status": "SUCCESS"}
		switch c := f.classes[o.Class]; {
		case c == nil || f.late && !c.ready:
			result = map[string]any{"status": "FAILED", "errors": failure("could not find index for class " + o.Class)}
		default:
			terms, _ := o.Properties["terms"].(string) // vectors have none
			o.terms = strings.Fields(terms)
			c.objects[o.ID] = o
		}
		out = append(out, map[string]any{"id": o.ID, "result": result})
	}
	for _, c := range f.classes {
		c.ready = true
	}
	return out
}

func (f *fake) remove(in map[string]any) map[string]any {
	match := in["match"].(map[string]any)
	c := f.classes[match["class"].(string)]
	n := 0
	for _, id := range match["where"].(map[string]any)["valueTextArray"].([]any) {
		if _, ok := c.objects[id.(string)]; ok && in["deletionTimeUnixMilli"] != nil {
			delete(c.objects, id.(string))
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

// query runs {Get{Class(arguments){fields}}}.
func (f *fake) query(text string) map[string]any {
	f.queries = append(f.queries, text)
	refuse := func(message string) map[string]any {
		return map[string]any{"data": map[string]any{"Get": nil}, "errors": []any{map[string]any{"message": message}}}
	}
	p := parser{strings.TrimPrefix(text, "{Get{")}
	name := p.name()
	c := f.classes[name]
	if c == nil {
		return refuse(fmt.Sprintf("Cannot query field %q on type \"GetObjectsObj\".", name))
	}
	p.text = "{" + p.text[1:]
	arguments := p.object(')')
	factor, _ := c.definition["replicationConfig"].(map[string]any)["factor"].(float64)
	if _, named := arguments["consistencyLevel"]; named && factor < 2 {
		return refuse(fmt.Sprintf("Unknown argument \"consistencyLevel\" on field %q of type \"GetObjectsObj\".", name))
	}
	limit, offset := int(number(arguments["limit"])), int(number(arguments["offset"]))
	if limit+offset > f.most {
		return refuse("query maximum results exceeded")
	}
	scored := f.score(c, arguments)
	scored = scored[min(offset, len(scored)):]
	hits := []any{}
	for _, s := range scored[:min(limit, len(scored))] {
		hits = append(hits, map[string]any{
			"chunk": s.object.Properties["chunk"], "meta": s.object.Properties["meta"],
			"_additional": map[string]any{"distance": 1 - s.score, "score": strconv.FormatFloat(s.score, 'f', -1, 32), "vector": s.object.Vector},
		})
	}
	return map[string]any{"data": map[string]any{"Get": map[string]any{name: hits}}}
}

type scoredObject struct {
	object fakeObject
	score  float64
}

// score ranks what matches; equal ones have the order of UUIDs.
func (f *fake) score(c *fakeClass, arguments map[string]any) (out []scoredObject) {
	vector, near := arguments["nearVector"].(map[string]any)
	query, bm25 := arguments["bm25"].(map[string]any)
	var terms []string
	if bm25 {
		terms = strings.Fields(query["query"].(string))
	}
	frequency, length := map[string]float64{}, 0.0
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
				idf := math.Log(1 + (n-frequency[t]+0.5)/(frequency[t]+0.5))
				s.score += idf * tf * 2.2 / (tf + 1.2*(0.25+0.75*float64(len(o.terms))*n/length))
			}
			if s.score == 0 {
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
