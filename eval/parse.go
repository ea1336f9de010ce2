package eval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/strict"
)

// Parse reads a test set: JSON Lines, a JSON list of objects, or an object that holds such a list under one of the names
// in listNames. What is wrong is returned, and the questions that could be read are in the set all the same.
func Parse(data []byte) (*TestSet, []Problem) {
	p := &parser{set: &TestSet{Source: Source{SHA256: digest(data)}}, ids: map[string]int{}}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if list, line, ok := p.whole(data); ok {
		p.list(list, line)
	} else {
		p.lines(data)
	}
	if len(p.set.Questions) == 0 && len(p.problems) == 0 {
		p.problem(0, "", "", true, "the file holds no question")
	}
	return p.set, p.problems
}

// listNames are the keys under which other systems keep the list of their questions.
var listNames = []string{"test_cases", "questions", "cases", "samples", "items", "data"}

// parser collects questions and what is wrong with them.
type parser struct {
	set      *TestSet
	problems []Problem
	ids      map[string]int // line by question
}

func (p *parser) problem(line int, id, field string, fatal bool, format string, args ...any) {
	p.problems = append(p.problems, Problem{Line: line, ID: id, Field: field, Message: fmt.Sprintf(format, args...), Fatal: fatal})
}

// whole returns the list of a file that is one JSON value, and the line on which it begins.
func (p *parser) whole(data []byte) (list []byte, line int, ok bool) {
	trimmed := bytes.TrimSpace(data)
	if bytes.HasPrefix(trimmed, []byte("[")) {
		return data, 1, true
	}
	if !json.Valid(trimmed) {
		return nil, 0, false
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(trimmed, &object) != nil {
		return nil, 0, false
	}
	for _, name := range listNames {
		if raw := object[name]; bytes.HasPrefix(raw, []byte("[")) {
			return raw, 1 + bytes.Count(data[:bytes.Index(data, raw)], []byte("\n")), true
		}
	}
	return nil, 0, false
}

// list reads a JSON list; line is that of its beginning.
func (p *parser) list(data []byte, line int) {
	dec := json.NewDecoder(bytes.NewReader(data))
	at := func() int { return line + bytes.Count(data[:min(len(data), int(dec.InputOffset()))], []byte("\n")) }
	if _, err := dec.Token(); err != nil {
		p.problem(line, "", "", true, "%v", err)
		return
	}
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			p.problem(at(), "", "", true, "no JSON: %v", err)
			return
		}
		p.question(raw, at()-bytes.Count(raw, []byte("\n")))
	}
	if _, err := dec.Token(); err != nil {
		p.problem(at(), "", "", true, "the list has no end: %v", err)
	}
}

func (p *parser) lines(data []byte) {
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if line = bytes.TrimSpace(line); len(line) > 0 {
			p.question(line, number)
		}
	}
}

// fields maps every key that a question may have, and those of other systems for the same thing, to how it is read.
var fields = map[string]func(*reader, json.RawMessage){}

// aliases are the names by which other systems call a field.
var aliases = map[string][]string{
	"id":                 {"_id", "qid", "query_id"},
	"question":           {"query", "text", "user_input"},
	"expected_chunk_ids": {"chunk_ids", "relevant_chunk_ids"},
	"expected_sources":   {"sources", "expected_files", "expected_file", "expected_source", "gold_sources", "file"},
	"expected_sections":  {"sections", "gold_sections", "gold"},
	"key_sentence":       {"key_sentences", "key_passage"},
	"reference_answer":   {"reference", "ground_truth", "expected_answer"},
	"filters":            {"filter"},
	"as_of":              {"business_date"},
	"intent":             {"expected_intent"},
	"lang":               {"language"},
	"kind":               {"type", "category", "question_type"},
}

func init() {
	text := func(into func(*Question) *string) func(*reader, json.RawMessage) {
		return func(r *reader, raw json.RawMessage) { *into(&r.q) = r.text(raw) }
	}
	fields["id"] = func(r *reader, raw json.RawMessage) { r.q.ID = r.name(raw) }
	fields["question"] = text(func(q *Question) *string { return &q.Text })
	fields["set"] = text(func(q *Question) *string { return &q.Set })
	fields["lang"] = text(func(q *Question) *string { return &q.Language })
	fields["kind"] = text(func(q *Question) *string { return &q.Kind })
	fields["reference_answer"] = text(func(q *Question) *string { return &q.Reference })
	fields["expected_chunk_ids"] = func(r *reader, raw json.RawMessage) { r.q.Chunks = r.grades(raw) }
	fields["expected_sources"] = func(r *reader, raw json.RawMessage) { r.q.Documents = r.grades(raw) }
	fields["expected_sections"] = func(r *reader, raw json.RawMessage) { r.q.Sections = r.grades(raw) }
	fields["key_sentence"] = func(r *reader, raw json.RawMessage) { r.sentences(r.texts(raw)) }
	fields["intent"] = func(r *reader, raw json.RawMessage) { r.intent(intentField, raw) }
	fields["evidence"] = (*reader).evidence
	fields["excluded_sources"] = func(r *reader, raw json.RawMessage) { r.q.Excluded = r.texts(raw) }
	fields["answerable"] = func(r *reader, raw json.RawMessage) { r.decode(raw, &r.q.Answerable, "true or false") }
	fields["human"] = (*reader).human
	fields["filters"] = (*reader).filter
	fields["as_of"] = (*reader).asOf
	fields["expiry_policy"] = func(r *reader, raw json.RawMessage) {
		r.q.Expiry = r.oneOf(raw, ExpiryExclude, ExpiryFlag, ExpiryIgnore)
	}
	fields["expected_status"] = func(r *reader, raw json.RawMessage) {
		r.q.Status = r.oneOf(raw, rag.StatusCurrent, rag.StatusNeedsReview, rag.StatusExpired)
	}
	fields["page"] = func(*reader, json.RawMessage) {} // for people
	for _, name := range []string{"notes", "comment"} {
		fields[name] = fields["page"]
	}
	for name, others := range aliases {
		for _, other := range others {
			fields[other] = fields[name]
		}
	}
}

// intentField begins the names of routing labels: a test set may have several vocabularies ("intent_course").
const intentField = "intent"

// reader reads one question.
type reader struct {
	*parser
	q     Question
	field string
	line  int
	bad   bool
}

func (r *reader) fail(format string, args ...any) {
	r.problem(r.line, r.q.ID, r.field, true, format, args...)
	r.bad = true
}

func (r *reader) remark(format string, args ...any) {
	r.problem(r.line, r.q.ID, r.field, false, format, args...)
}

// question reads an object.
func (p *parser) question(raw []byte, line int) {
	r := &reader{parser: p, line: line}
	var object map[string]json.RawMessage
	if err := strict.Decode(raw, &object); err != nil {
		r.fail("want a JSON object: %v", err)
		return
	}
	keys := sortedKeys(object)
	slices.SortStableFunc(keys, func(a, b string) int { return boolInt(b == "id") - boolInt(a == "id") }) // so that problems name it
	for _, key := range keys {
		r.field = key
		if string(object[key]) == "null" {
			continue
		}
		read, known := fields[key]
		switch {
		case strings.HasPrefix(key, intentField):
			r.intent(key, object[key])
		case known:
			read(r, object[key])
		default:
			r.remark("it is not looked at: no field has this name%s", rag.DidYouMean(key, sortedKeys(fields)))
			r.problems[len(r.problems)-1].Ignored = true
		}
	}
	r.finish()
}

func (r *reader) intent(name string, raw json.RawMessage) {
	if r.q.Intents == nil {
		r.q.Intents = map[string]string{}
	}
	r.q.Intents[name] = r.text(raw)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// finish checks the question as a whole.
func (r *reader) finish() {
	q := &r.q
	r.field, q.Line = "", r.line
	if strings.TrimSpace(q.Text) == "" {
		r.field = "question"
		r.fail("it is missing or empty")
	}
	if q.ID == "" {
		q.ID = fmt.Sprintf("line-%d", r.line)
	} else if before := r.ids[q.ID]; before > 0 {
		r.field = "id"
		r.fail("it is that of the question on line %d too", before)
	}
	r.ids[q.ID] = r.line
	r.field = ""
	if q.Answerable == nil && (strings.HasPrefix(q.Kind, "unanswerable") || q.Kind == "off_topic") {
		q.Answerable = new(false)
	}
	found := q.expected() > 0
	switch {
	case q.Answerable == nil && !found:
		r.remark("nothing says what should be found, nor that nothing can be: no metric will have a value")
	case q.Answerable != nil && *q.Answerable && !found:
		r.remark("it is answerable, but nothing says by what")
	case q.Answerable != nil && !*q.Answerable && found:
		r.fail("it is not answerable, but something answers it: one of the two is wrong")
	}
	for _, doc := range q.Excluded {
		if q.Documents[doc] > 0 {
			r.fail("%q is both expected and excluded", doc)
		}
	}
	if q.Status != "" && q.AsOf.IsZero() {
		r.fail("expected_status needs a business date, as_of")
	}
	if q.Expiry != "" && q.AsOf.IsZero() {
		r.remark("expiry_policy does nothing without a business date, as_of")
	}
	if !r.bad {
		r.set.Questions = append(r.set.Questions, *q)
	}
}

func (r *reader) decode(raw json.RawMessage, into any, want string) {
	if err := json.Unmarshal(raw, into); err != nil {
		r.fail("it must be %s, and is %s", want, short(raw))
	}
}

// short shows a value in a message.
func short(raw []byte) string {
	const most = 40
	if s := []rune(string(raw)); len(s) > most {
		return string(s[:most]) + "…"
	}
	return string(raw)
}

func (r *reader) text(raw json.RawMessage) (s string) {
	r.decode(raw, &s, "text")
	return s
}

// name reads text or a number: some systems count their questions.
func (r *reader) name(raw json.RawMessage) string {
	var n json.Number
	if json.Unmarshal(raw, &n) == nil && n != "" {
		return n.String()
	}
	return r.text(raw)
}

// texts reads a list of texts, or one.
func (r *reader) texts(raw json.RawMessage) (list []string) {
	if bytes.HasPrefix(raw, []byte("[")) {
		r.decode(raw, &list, "a list of texts")
	} else if s := r.text(raw); s != "" {
		list = []string{s}
	}
	if slices.Contains(list, "") {
		r.fail("an empty text is in the list")
	}
	return list
}

// grades reads a list of names, each of grade 1, or an object of name and grade.
func (r *reader) grades(raw json.RawMessage) Grades {
	grades := Grades{}
	if bytes.HasPrefix(raw, []byte("{")) {
		r.decode(raw, &grades, "names with whole numbers as grades")
		return grades
	}
	for _, name := range r.texts(raw) {
		grades[name] = 1
	}
	return grades
}

func (r *reader) sentences(list []string) {
	for _, s := range list {
		if Fold(s) == "" {
			r.fail("it has no letter or digit, so nothing can be compared with it")
		} else if !slices.Contains(r.q.Sentences, s) {
			r.q.Sentences = append(r.q.Sentences, s)
		}
	}
}

// evidence reads a list of {source, sentence}.
func (r *reader) evidence(raw json.RawMessage) {
	var list []struct{ Sentence string }
	r.decode(raw, &list, "a list of objects with a sentence")
	for _, e := range list {
		r.sentences([]string{e.Sentence})
	}
}

func (r *reader) human(raw json.RawMessage) {
	r.decode(raw, &r.q.Human, "metrics with numbers")
	for _, name := range sortedKeys(r.q.Human) {
		if v := r.q.Human[name]; v < 0 || v > 1 {
			r.fail("%s is %v: it must be from 0 to 1", name, v)
		}
	}
}

func (r *reader) oneOf(raw json.RawMessage, known ...string) string {
	s := r.text(raw)
	if !slices.Contains(known, s) {
		r.fail("%q%s (known: %s)", s, rag.DidYouMean(s, known), strings.Join(known, ", "))
	}
	return s
}

func (r *reader) asOf(raw json.RawMessage) {
	s := r.text(raw)
	t, ok := rag.FirstInstant(s, time.UTC)
	if !ok {
		r.fail("%q is neither a day like 2026-12-31 nor an instant like 2026-12-31T15:04:05Z", s)
	}
	r.q.AsOf = t
}

// filter reads the text form of a filter, its JSON form, or an object of fields: a value must be equal, a list holds the
// values allowed, and {"from", "to"} are bounds, both inside.
func (r *reader) filter(raw json.RawMessage) {
	if bytes.HasPrefix(raw, []byte(`"`)) {
		f, err := rag.ParseFilter(r.text(raw))
		if err != nil {
			r.fail("%v", err)
		}
		r.q.Filter = f
		return
	}
	var object map[string]any
	r.decode(raw, &object, "an object or text")
	if _, is := object["op"]; is {
		if err := json.Unmarshal(raw, &r.q.Filter); err != nil {
			r.fail("%v", err)
		}
		return
	}
	var all []rag.Filter
	for _, name := range sortedKeys(object) {
		switch v := object[name].(type) {
		case nil:
		case []any:
			all = append(all, rag.In(name, v...))
		case map[string]any:
			all = append(all, rag.Range(name, rag.Bounds{GTE: v["from"], LTE: v["to"]}))
		default:
			all = append(all, rag.Eq(name, v))
		}
	}
	if r.q.Filter = rag.And(all...); r.q.Filter.Validate() != nil {
		r.fail("%v", r.q.Filter.Validate())
	}
}
