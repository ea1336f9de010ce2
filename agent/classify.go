package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/analyze"
	"github.com/seed-d8745b77/rag/internal/prompt"
)

// routerTokens is the longest reply of a model that chooses a label, as in System D.
const routerTokens = 256

// routeWithin is how long a model may take to choose a label: as long as a query transform by default, and fifty times what
// System D needs. Whoever asks waits for it before anything is looked up.
const routeWithin = 10 * time.Second

// ask has the model choose. An error says why there is no choice that can be used. What documents say of themselves stands in
// the message beside the question as far as that names it, and could talk the model into a label: one that does more than
// search is taken only if the model chooses it for the question alone too.
func (r *Router) ask(ctx context.Context, question string, t text, fields []Field) (Decision, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, routeWithin, fmt.Errorf("no choice within %v: %w", routeWithin, rag.ErrUnavailable))
	defer cancel()
	mentioned := mentionedIn(t, fields)
	choice, err := r.choose(ctx, question, mentioned)
	if err != nil {
		return Decision{}, err
	}
	d := r.decide(choice.intent, choice.confidence, ByModel, choice.reasoning)
	if len(mentioned) > 0 && (d.Label.Action == ActRefuse || d.Label.Filter != "") {
		alone, err := r.choose(ctx, question, nil)
		if err != nil {
			return Decision{}, err
		}
		if alone.intent != choice.intent {
			return Decision{}, fmt.Errorf("the model chose %q beside the documents' metadata, and %q for the question alone", choice.intent, alone.intent)
		}
		d.Reasoning = alone.reasoning
	}
	scope := namedScope(t, fields)
	if more := r.confirm(choice, t, fields); !more.filter.IsZero() || more.collection != "" {
		scope = more
	}
	d.scope(scope)
	if d.Label.Action == ActCompare {
		d.SubQueries = sidesOf(choice.subQueries, t)
	}
	return d, nil
}

// mentionedIn are the fields with those values that the question names: a model's filters are kept for no others.
func mentionedIn(t text, fields []Field) []Field {
	var out []Field
	values := map[int][]Value{}
	for _, n := range namings(t, fields) {
		if v := fields[n.field].Values[n.value]; !slices.ContainsFunc(values[n.field], func(o Value) bool { return o.Value == v.Value }) {
			values[n.field] = append(values[n.field], v)
		}
	}
	for i, f := range fields {
		if f.Values = values[i]; len(f.Values) > 0 {
			out = append(out, f)
		}
	}
	return out
}

// choose asks the model once. Without fields it is shown the question alone.
func (r *Router) choose(ctx context.Context, question string, fields []Field) (choice, error) {
	reply, err := rag.Reply(ctx, r.model, rag.ChatRequest{
		Messages:  []rag.ChatMessage{{Role: rag.RoleSystem, Text: r.task()}, {Role: rag.RoleUser, Text: shown(question, fields)}},
		Schema:    r.schema(),
		MaxTokens: routerTokens,
	}, maxReply)
	if err != nil {
		return choice{}, fmt.Errorf("the model did not choose: %w", cmp.Or(context.Cause(ctx), err))
	}
	c, err := readChoice(reply.Text)
	if err != nil {
		return choice{}, err
	}
	if !slices.ContainsFunc(r.offered(), func(l Label) bool { return l.Name == c.intent }) {
		return choice{}, fmt.Errorf("the model chose %q, which is no label for it to choose", clip(c.intent))
	}
	return c, nil
}

// offered are the labels that a model may choose. Small talk is not among them: the rules have looked for it before, and no
// model, whatever it has read, may leave the search out.
func (r *Router) offered() []Label {
	return slices.DeleteFunc(slices.Clone(r.labels.Labels), func(l Label) bool { return l.Action == ActChat })
}

// task is the instruction to the model. Nothing of a document or a question stands in it.
func (r *Router) task() string {
	var b strings.Builder
	b.WriteString("You sort questions to a collection of documents. Choose exactly one of these labels:\n")
	for _, l := range r.offered() {
		fmt.Fprintf(&b, "- %s: %s\n", l.Name, l.Description)
	}
	b.WriteString("Reply with one JSON object and nothing else: {\"intent\": label, \"confidence\": 0 to 1, \"filters\": {field: value}, " +
		"\"date_range\": {\"from\": day, \"to\": day}, \"sub_queries\": [the two or three things compared, each as a search of its own], \"reasoning\": one short sentence}.\n" +
		"Leave filters and date_range out unless the question itself names a value to look in. The fields are metadata of the documents, each with its values that the question may name." + prompt.Guard)
	return b.String()
}

// How much of the metadata a model is shown. Names and values are text of documents.
const (
	shownFields     = 20
	shownNames      = 30 // values of a field
	shownFieldBytes = 40
	shownMetadata   = 8000 // bytes of all of it
)

// shown is the message of a question: the question and the metadata as quotations, each field on a line of its own.
func shown(question string, fields []Field) string {
	text := prompt.Quote("question", question, "fields")
	var b strings.Builder
	for _, f := range fields[:min(len(fields), shownFields)] {
		line := strconv.Quote(prompt.Line(f.Name, shownFieldBytes)) + ": "
		for i, v := range f.Values[:min(len(f.Values), shownNames)] {
			if i > 0 {
				line += ", "
			}
			line += strconv.Quote(prompt.Line(fmt.Sprint(v.Value), maxValueBytes))
		}
		if b.Len()+len(line) > shownMetadata {
			break
		}
		b.WriteString(line + "\n")
	}
	if b.Len() == 0 {
		return text
	}
	return text + prompt.Quote("fields", strings.TrimSuffix(b.String(), "\n"), "question")
}

// schema holds a model that can be held to one to the labels.
func (r *Router) schema() json.RawMessage {
	labels := r.offered()
	names := make([]string, len(labels))
	for i, l := range labels {
		names[i] = strconv.Quote(l.Name)
	}
	return json.RawMessage(`{"type":"object","properties":{"intent":{"type":"string","enum":[` + strings.Join(names, ",") + `]},"confidence":{"type":"number"},` +
		`"filters":{"type":"object"},"date_range":{"type":"object","properties":{"from":{"type":"string"},"to":{"type":"string"}}},` +
		`"sub_queries":{"type":"array","items":{"type":"string"}},"reasoning":{"type":"string"}},"required":["intent"]}`)
}

// choice is a reply as it was read. Nothing in it is to be trusted.
type choice struct {
	intent     string
	confidence float64
	filters    map[string][]string
	from, to   string
	subQueries []string
	reasoning  string
}

// readChoice reads the first JSON object of a reply, whatever stands around it, and takes from it what has the right kind.
func readChoice(reply string) (choice, error) {
	object, ok := firstObject(reply)
	if !ok {
		return choice{}, fmt.Errorf("the model's reply holds no JSON object: %q", clip(reply))
	}
	c := choice{confidence: notSaid, filters: map[string][]string{}}
	c.intent = strings.ToLower(strings.TrimSpace(textOf(object, "intent", "label")))
	c.reasoning = textOf(object, "reasoning", "reason")
	if x, ok := prompt.Number(object["confidence"]); ok && x >= 0 && x <= 1 {
		c.confidence = x
	}
	for _, key := range []string{"filters", "extracted_filters"} {
		given, _ := object[key].(map[string]any)
		for field, value := range given {
			c.filters[field] = textsOf(value)
		}
	}
	days, ok := object["date_range"].(map[string]any)
	if !ok {
		given, _ := object["filters"].(map[string]any)
		days, _ = given["date_range"].(map[string]any)
	}
	c.from, c.to = textOf(days, "from", "start"), textOf(days, "to", "end")
	c.subQueries = textsOf(object["sub_queries"])
	return c, nil
}

// firstObject returns the first JSON object in a text.
func firstObject(s string) (map[string]any, bool) {
	for at := strings.IndexByte(s, '{'); at >= 0; {
		var object map[string]any
		if err := json.NewDecoder(strings.NewReader(s[at:])).Decode(&object); err == nil {
			return object, true
		}
		next := strings.IndexByte(s[at+1:], '{')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return nil, false
}

func textOf(object map[string]any, keys ...string) string {
	for _, key := range keys {
		if s, ok := object[key].(string); ok && s != "" {
			return strings.TrimSpace(s)
		}
	}
	return ""
}

// textsOf are the texts of a value: itself, or the elements of a list.
func textsOf(value any) []string {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, e := range v {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// confirm keeps of a model's filters those whose value the question names, by whatever name: what the model only supposes
// could hide the right passage.
func (r *Router) confirm(c choice, t text, fields []Field) named {
	var kept []naming
	for _, n := range namings(t, fields) {
		f := &fields[n.field]
		if slices.ContainsFunc(c.filters[f.Name], func(given string) bool { return f.Values[n.value].isCalled(given) }) {
			kept = append(kept, n)
		}
	}
	out := conditions(fields, kept)
	if period := r.confirmPeriod(c, t, fields); !period.IsZero() {
		out.filter = rag.And(out.filter, period)
	}
	return out
}

// isCalled reports whether a text is the value or another name of it.
func (v *Value) isCalled(given string) bool {
	given = analyze.Fold(prompt.Line(given, maxReply))
	return slices.ContainsFunc(v.names(), func(name string) bool { return analyze.Fold(prompt.Line(name, maxReply)) == given })
}

// confirmPeriod keeps a model's period if each of its years stands in the question, and there is one field of days.
func (r *Router) confirmPeriod(c choice, t text, fields []Field) rag.Filter {
	var days []Field
	for _, f := range fields {
		if f.Days {
			days = append(days, f)
		}
	}
	if len(days) != 1 || c.from == "" && c.to == "" {
		return rag.Filter{}
	}
	for _, day := range []string{c.from, c.to} {
		if day != "" && (!isPeriod.MatchString(day) || !strings.Contains(t.folded, day[:4])) {
			return rag.Filter{}
		}
	}
	return between(days[0].Name, c.from, c.to, false)
}
