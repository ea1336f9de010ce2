package cli

import (
	"errors"
	"fmt"

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
