package dashboard

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
)

// tryForm is a question that somebody tries, each field as it was typed, so that a form with a mistake comes back as it was.
type tryForm struct {
	Question   string `json:"question"`
	Collection string `json:"collection,omitempty"`
	Mode       string `json:"mode,omitempty"`
	TopK       string `json:"top_k,omitempty"`
	Filter     string `json:"filter,omitempty"`
	AsOf       string `json:"as_of,omitempty"`
	NoRerank   bool   `json:"no_rerank,omitempty"`
	AsIs       bool   `json:"as_is,omitempty"`
	Answer     bool   `json:"answer,omitempty"`
	Against    string `json:"against,omitempty"` // ID of the trace that the outcome is put beside
}

func readTryForm(v url.Values) tryForm {
	return tryForm{
		Question: v.Get("question"), Collection: v.Get("collection"), Mode: v.Get("mode"), TopK: v.Get("top_k"), Filter: v.Get("filter"), AsOf: v.Get("as_of"),
		NoRerank: v.Get("rerank") == "off", AsIs: v.Get("rewrite") == "off", Answer: v.Get("answer") == "on", Against: v.Get("against"),
	}
}

// values is the way back.
func (f tryForm) values() url.Values {
	v := url.Values{}
	set := func(key, value string) {
		if value != "" {
			v.Set(key, value)
		}
	}
	set("question", f.Question)
	set("collection", f.Collection)
	set("mode", f.Mode)
	set("top_k", f.TopK)
	set("filter", f.Filter)
	set("as_of", f.AsOf)
	set("against", f.Against)
	for key, on := range map[string]bool{"rerank": f.NoRerank, "rewrite": f.AsIs} {
		if on {
			v.Set(key, "off")
		}
	}
	if f.Answer {
		v.Set("answer", "on")
	}
	return v
}

// maxTriedTopK keeps a page readable; a program can ask for more.
const maxTriedTopK = 100

// query is what the form asks of an engine. What cannot be read is ErrInvalid.
func (f tryForm) query() (rag.Query, error) {
	q := rag.Query{Text: f.Question, Collection: f.Collection, Mode: rag.Mode(f.Mode), NoRerank: f.NoRerank, AsIs: f.AsIs, Explain: true}
	if strings.TrimSpace(f.Question) == "" {
		return q, fmt.Errorf("the question is empty: write what you want to find: %w", rag.ErrInvalid)
	}
	var err error
	if f.TopK != "" {
		if q.TopK, err = strconv.Atoi(strings.TrimSpace(f.TopK)); err != nil || q.TopK < 1 || q.TopK > maxTriedTopK {
			return q, fmt.Errorf("top_k %q: a number from 1 to %d is wanted: %w", f.TopK, maxTriedTopK, rag.ErrInvalid)
		}
	}
	if strings.TrimSpace(f.Filter) != "" {
		if q.Filter, err = rag.ParseFilter(f.Filter); err != nil {
			return q, err
		}
	}
	q.AsOf, err = readInstant(f.AsOf)
	return q, err
}

// readInstant reads a day, which begins in UTC, or an instant as RFC 3339 has it; "" is the zero time.
func readInstant(text string) (time.Time, error) {
	if text = strings.TrimSpace(text); text == "" {
		return time.Time{}, nil
	}
	if t, ok := rag.FirstInstant(text, time.UTC); ok && !t.IsZero() {
		return t, nil
	}
	return time.Time{}, fmt.Errorf("%q is no day (2026-12-31) and no instant (RFC 3339): %w", text, rag.ErrInvalid)
}

// readDays reads a range: a first and a last day, month (2006-01) or year (2006), of which the last is part of it as a whole, or
// instants; "" is open.
func readDays(from, to string) (since, until time.Time, err error) {
	for _, span := range []struct {
		form                string
		years, months, days int
	}{{time.DateOnly, 0, 0, 1}, {"2006-01", 0, 1, 0}, {"2006", 1, 0, 0}} {
		if t, parse := time.Parse(span.form, strings.TrimSpace(from)); parse == nil {
			since = t
		}
		if t, parse := time.Parse(span.form, strings.TrimSpace(to)); parse == nil {
			until = t.AddDate(span.years, span.months, span.days)
		}
	}
	if since.IsZero() {
		if since, err = readInstant(from); err != nil {
			return since, until, err
		}
	}
	if until.IsZero() {
		until, err = readInstant(to)
	}
	return since, until, err
}

// tryFromTrace fills the form with what a trace says of its query; what it does not say stays at its default.
func tryFromTrace(t *rag.Trace) tryForm {
	f := tryForm{Question: t.UserQuery, Collection: t.Collection, Mode: t.Mode, Answer: t.Type == rag.TraceAsk, Against: t.ID}
	if n := len(t.TopK); n > 0 {
		f.TopK = strconv.Itoa(n)
	}
	for _, s := range t.Stages {
		if s.Stage == rag.StageRerank {
			f.NoRerank = s.Status == rag.SpanOff
		}
	}
	return f
}
