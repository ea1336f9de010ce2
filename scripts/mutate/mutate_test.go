package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sample = `package sample

const limit = 3

// Larger is the usual example: which of two equal numbers it returns cannot be seen.
func Larger(a, b int) int {
	if a > b {
		return a
	}
	return b
}

// Sum does not end if the countdown is left out.
func Sum(n int) (sum int) {
	for n > 0 {
		sum += n
		n--
	}
	return sum
}

func Known[T comparable](have map[T]bool, x T, fresh bool) bool {
	list := make([]T, 0, 8)
	list = append(list, x)
	return fresh && !have[list[0]]
}

func Short(s string) (string, error) { return s[:min(len(s), 2*limit)], nil }

func Missed() bool { return true }
`

const sampleTest = `package sample

import "testing"

func TestAll(t *testing.T) {
	if Larger(1, 2) != 2 || Larger(2, 1) != 2 || Sum(3) != 6 {
		t.Error("numbers")
	}
	if Known(map[int]bool{1: true}, 1, true) || !Known(map[int]bool{1: true}, 2, true) || Known(map[int]bool{}, 2, false) {
		t.Error("known")
	}
	if s, _ := Short("seven letters"); s != "seven " {
		t.Error(s)
	}
}
`

func TestMutantsOfASample(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module sample\n\ngo 1.26\n", "sample.go": sample, "sample_test.go": sampleTest} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "off")
	o, err := subject{name: "sample", dir: dir}.mutate(t.Context(), func(mutant) bool { return true }, 2)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, m := range o.mutants {
		_, key, _ := strings.Cut(m.key, "sample.go ")
		got = append(got, []string{"killed", "survived", "missed"}[o.fates[i]]+" "+key)
	}
	want := []string{
		"survived Larger: a > b => a >= b",
		"killed Larger: a > b => a <= b",
		"killed Larger: return a => return the zero value",
		"killed Larger: return b => return the zero value",
		"survived Sum: n > 0 => n >= 0",
		"killed Sum: n > 0 => n <= 0",
		"killed Sum: 0 => 0 + 1",
		"survived Sum: 0 => 0 - 1",
		"killed Sum: sum += n => sum -= n",
		"killed Sum: sum += n => nothing",
		"killed Sum: n-- => n++",
		"killed Sum: n-- => nothing",
		"killed Sum: return sum => return the zero value",
		"killed Known: 0 => 0 + 1",
		"killed Known: 0 => 0 - 1",
		"killed Known: list = append(list, x) => nothing",
		"killed Known: fresh && !have[list[0]] => fresh || !have[list[0]]",
		"killed Known: fresh => !(fresh)",
		"killed Known: !have[list[0]] => have[list[0]]",
		"killed Known: 0 => 0 + 1 #2",
		"killed Known: 0 => 0 - 1 #2",
		"killed Short: return s[:min(len(s), 2*limit)] => return the zero value",
		"killed Short: 2*limit => 2 / limit",
		"killed Short: 2*limit => 2*limit + 1",
		"killed Short: 2*limit => 2*limit - 1",
		"missed Missed: true => false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mutants (-want +got):\n%s", diff)
	}
}

func TestReasonsHoldForTheBlockAbove(t *testing.T) {
	file := filepath.Join(t.TempDir(), "survivors.txt")
	for _, c := range []struct {
		text string
		want reasons // nil: an error
	}{
		{"# comment\n\nf.go F: a => b\nf.go F: c => d\n\tequal\n\nf.go G: a => b\n\tunseen\n",
			reasons{"f.go F: a => b": "equal", "f.go F: c => d": "equal", "f.go G: a => b": "unseen"}},
		{"f.go F: a => b\n", nil},
		{"\tequal\n", nil},
		{"f.go F: a => b\n\tx\nf.go F: a => b\n\ty\n", nil},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readReasons(file)
		if diff := cmp.Diff(c.want, got); diff != "" || (err != nil) != (c.want == nil) {
			t.Errorf("%q: %v, error %v", c.text, diff, err)
		}
	}
}

func TestVerdictOnSurvivors(t *testing.T) {
	five := func(fates ...fate) outcome {
		o := outcome{fates: fates}
		for i := range fates {
			o.mutants = append(o.mutants, mutant{i + 1, "f.go:1", string(rune('a' + i))})
		}
		return o
	}
	for name, c := range map[string]struct {
		o    outcome
		why  reasons
		fine bool
	}{
		"all killed":        {five(killed, killed, killed, killed, killed), nil, true},
		"explained":         {five(killed, killed, survived, killed, killed), reasons{"c": "equal"}, true},
		"not explained":     {five(killed, killed, survived, killed, killed), nil, false},
		"never reached":     {five(killed, killed, notReached, killed, killed), nil, false},
		"too many":          {five(killed, killed, survived, survived, killed), reasons{"c": "equal", "d": "equal"}, false},
		"explained in vain": {five(killed, killed, killed, killed, killed), reasons{"c": "equal"}, false},
		"no such mutant":    {five(killed), reasons{"z": "equal"}, false},
	} {
		if err := verdict([]outcome{c.o}, c.why, true); (err == nil) != c.fine {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
