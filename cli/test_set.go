package cli

import (
	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag/eval"
)

// testSetFlags say which questions a measurement asks.
type testSetFlags struct {
	testSet string
	set     string
	fields  map[string]string
}

// add adds the flags; what says what --test-set may be.
func (f *testSetFlags) add(cmd *cobra.Command, what string) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.testSet, "test-set", "t", "", what)
	flags.StringVar(&f.set, "set", "", "take only the questions whose key set has this value")
	flags.StringToStringVar(&f.fields, "field", nil, "name that the collection has for a field of the questions' filters, such as date_range=effective; may come several times")
}

// load reads the questions. That there are none is an error.
func (f *testSetFlags) load() (*eval.TestSet, error) {
	return eval.LoadPart(f.testSet, f.set, f.fields)
}
