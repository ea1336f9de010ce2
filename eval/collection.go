package eval

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/seed-d8745b77/rag"
)

// Missing returns what the questions expect of a collection and it does not have: passages by ID, and documents, those that
// are judged irrelevant left aside. Each is a fatal problem.
func Missing(ctx context.Context, eng *rag.Engine, collection string, set *TestSet) ([]Problem, error) {
	var uris []string
	for entry, err := range eng.Documents(ctx, collection) {
		if err != nil {
			return nil, err
		}
		uris = append(uris, entry.URI)
	}
	known := map[string]bool{}
	has := func(name string) bool {
		found, asked := known[name]
		for i := 0; !asked && !found && i < len(uris); i++ {
			found = SameDocument(uris[i], name)
		}
		known[name] = found
		return found
	}
	var problems []Problem
	for i := range set.Questions {
		q := &set.Questions[i]
		for _, name := range sortedKeys(q.Documents) {
			if q.Documents[name] > 0 && !has(name) {
				problems = append(problems, Problem{Line: q.Line, ID: q.ID, Field: "expected_sources", Message: fmt.Sprintf("document %q is not in the collection", name), Fatal: true})
			}
		}
		for _, id := range sortedKeys(q.Chunks) {
			if q.Chunks[id] <= 0 {
				continue
			}
			if _, err := eng.Chunk(ctx, collection, id); errors.Is(err, rag.ErrNotFound) {
				problems = append(problems, Problem{Line: q.Line, ID: q.ID, Field: "expected_chunk_ids", Message: fmt.Sprintf("passage %q is not in the collection: it was made anew or deleted", id), Fatal: true})
			} else if err != nil {
				return nil, err
			}
		}
	}
	return problems, nil
}

// Acceptance is what a test set says of a collection, checked without a search.
type Acceptance struct {
	Questions int            `json:"questions"`
	Checked   int            `json:"checked"` // expectations that were looked at
	Checks    map[string]int `json:"checks"`  // by kind
	Problems  []Problem      `json:"problems"`
}

// Accept checks without a search that a collection can give what a test set expects: that its documents, passages,
// sections and sentences are there, that filter and business date leave them in, that they have the expected status, and
// that documents whose answer is out of date are left out.
func Accept(ctx context.Context, eng *rag.Engine, collection string, set *TestSet) (*Acceptance, error) {
	a := &Acceptance{Questions: len(set.Questions), Checks: map[string]int{}, Problems: []Problem{}}
	chunks, err := collect(eng.Chunks(ctx, collection, rag.Filter{}))
	if err != nil {
		return nil, err
	}
	folded := make([]string, len(chunks))
	for i := range chunks {
		folded[i] = Fold(chunks[i].Text)
	}
	for i := range set.Questions {
		a.question(&set.Questions[i], chunks, folded)
	}
	return a, nil
}

func collect[T any](seq iter.Seq2[T, error]) ([]T, error) {
	var all []T
	for v, err := range seq {
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// fate is what becomes of the passages that hold an item.
type fate struct {
	there, allowed bool
	status         string
}

func (a *Acceptance) question(q *Question, chunks []rag.Chunk, folded []string) {
	for _, level := range Levels {
		for _, name := range sortedKeys(q.grades(level)) {
			f := q.fate(level, name, chunks, folded)
			a.check(q, string(level), f.there, "%q is in no passage of the collection", name)
			if f.there {
				a.check(q, "filters", f.allowed, "filter and business date leave out %q", name)
			}
			if f.there && level == LevelDocument && q.Status != "" {
				a.check(q, "expected_status", f.status == q.Status, "%q is %s, expected is %s", name, f.status, q.Status)
			}
		}
	}
	if q.Expiry != "" && q.Expiry != ExpiryExclude || q.AsOf.IsZero() {
		return // what is out of date may be found
	}
	for _, name := range q.Excluded {
		f := q.fate(LevelDocument, name, chunks, folded)
		a.check(q, "excluded_sources", !f.there || !f.allowed || f.status == rag.StatusNeedsReview, "%q counts as current, expected is that it does not", name)
	}
}

func (a *Acceptance) check(q *Question, kind string, ok bool, format string, args ...any) {
	a.Checked++
	a.Checks[kind]++
	if !ok {
		a.Problems = append(a.Problems, Problem{Line: q.Line, ID: q.ID, Field: kind, Message: fmt.Sprintf(format, args...), Fatal: true})
	}
}

// fate looks an item up. Of several passages that hold it, one that is left in counts.
func (q *Question) fate(level Level, name string, chunks []rag.Chunk, folded []string) fate {
	query := q.Query("")
	var f fate
	holds := level.holder(name)
	for i := range chunks {
		c := &chunks[i]
		hit := Found{ChunkID: c.ID, URI: c.URI, Headings: c.Headings}
		if !holds(&hit, folded[i]) {
			continue
		}
		f.there = true
		status := c.Validity.Status(query.AsOf)
		inForce := status != rag.StatusExpired || query.Expired
		if !f.allowed {
			f.allowed, f.status = inForce && query.Filter.Match(c.Fields(), c.Validity), status
		}
		if f.allowed {
			break
		}
	}
	return f
}
