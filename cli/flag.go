package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagWants says what the value of a flag must be, by the name that pflag has for its type. The others take any text, or say
// themselves what is wrong.
var flagWants = map[string]string{
	"int": "a whole number", "intSlice": "whole numbers with commas between them", "float64": "a number", "bool": "true or false",
	"duration": "a time such as 30s or 5m", "stringToString": "name=value", "uint64": "a whole number that is not negative", "int64": "a whole number",
}

// flagMessage says what is wrong with a flag, without what Go says of numbers.
func flagMessage(err error) string {
	wrong, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err.Error()
	}
	want, ok := flagWants[wrong.GetFlag().Value.Type()]
	if !ok {
		return err.Error()
	}
	return fmt.Sprintf("--%s: want %s, got %q", wrong.GetFlag().Name, want, wrong.GetValue())
}

// notNegative reports a number or a time below zero: no flag has a use for one.
func notNegative(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch f.Value.Type() {
		case "int", "int64", "float64", "duration":
			if strings.HasPrefix(f.Value.String(), "-") && err == nil {
				err = usagef(cmd, "--%s: want %s that is not negative, got %s", f.Name, flagWants[f.Value.Type()], f.Value)
			}
		}
	})
	return err
}
