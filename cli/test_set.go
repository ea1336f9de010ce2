package cli

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/domain"
	"github.com/seed-d8745b77/rag/eval"
)

// testSetFlags say which questions a measurement asks.
type testSetFlags struct {
	testSet string
	set     string
	fields  map[string]string
	domain  domainFlag
}

// add adds the flags; what says what --test-set may be.
func (f *testSetFlags) add(cmd *cobra.Command, what string) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.testSet, "test-set", "t", "", what)
	flags.StringVar(&f.set, "set", "", "take only the questions whose key set has this value")
	flags.StringToStringVar(&f.fields, "field", nil, "name that the collection has for a field of the questions' filters, such as date_range=effective; may come several times")
	f.domain.add(cmd, "its collection, its forced filter, and its vocabulary for filters and questions")
}

// testSet reads the questions. That there are none is an error. The collection of a domain that is named is asked where no
// other is.
func (a *app) testSet(f *testSetFlags) (*eval.TestSet, error) {
	set, err := eval.LoadPart(f.testSet, f.set, f.fields)
	if err != nil {
		return nil, err
	}
	a.noteIgnored(set)
	d, err := f.domain.load()
	if err != nil || d == nil {
		return set, err
	}
	if a.collection == "" {
		a.collection = d.Collection
	}
	return set, nil
}

// ruled returns the questions under the rules of the domain that is named, else of the one that the collection remembers. A
// question without a date is asked without one, so that what is measured today can be measured again.
func (a *app) ruled(ctx context.Context, eng *rag.Engine, set *eval.TestSet, f *testSetFlags) (*eval.TestSet, error) {
	d, err := f.domain.of(ctx, eng, a.collection)
	if err != nil {
		return nil, err
	}
	return set.Under(func(q rag.Query) (rag.Query, error) {
		if d == nil {
			q.NoDomain = true
			return q, nil
		}
		return asOfItself(d)(q)
	})
}

// asOfItself are the rules of a domain for questions that have a date of their own.
func asOfItself(d *domain.Domain) func(rag.Query) (rag.Query, error) {
	return func(q rag.Query) (rag.Query, error) { return d.Query(q, q.AsOf) }
}

// noteIgnored tells of keys that no question has: one that is misspelt does nothing. Sets of other systems have some of their
// own, so each is told once.
func (a *app) noteIgnored(set *eval.TestSet) {
	questions, first := map[string]int{}, map[string]eval.Problem{}
	for _, p := range set.Problems {
		if p.Ignored {
			if questions[p.Field]++; questions[p.Field] == 1 {
				first[p.Field] = p
			}
		}
	}
	for _, field := range slices.Sorted(maps.Keys(questions)) {
		a.note("%s: line %d: %s: %s (%s)", set.Source.Path, first[field].Line, field, first[field].Message, count(questions[field], "question"))
	}
}
