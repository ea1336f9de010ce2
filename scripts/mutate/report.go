package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// outcome is what became of the mutants of a subject.
type outcome struct {
	subject
	mutants []mutant
	fates   []fate // of each mutant
}

// killed counts them.
func (o *outcome) killed() int {
	n := 0
	for _, f := range o.fates {
		if f == killed {
			n++
		}
	}
	return n
}

// score is the share that was killed. Those that nobody can kill count too.
func (o *outcome) score() float64 { return float64(o.killed()) / float64(max(1, len(o.mutants))) }

// row of the table.
func (o *outcome) row() string {
	what := o.dir
	if o.files != nil {
		what = strings.Join(o.files, ", ")
	}
	return fmt.Sprintf("| %s | %s | %d | %d | %d | %.1f %% |", o.name, what, len(o.mutants), o.killed(), len(o.mutants)-o.killed(), 100*o.score())
}

// reasons explain survivors, by key.
type reasons map[string]string

// readReasons reads blocks of lines with keys, and below them the reason, behind a tab, that holds for all of the block.
// Empty lines and such that begin with # are left out.
func readReasons(path string) (reasons, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := reasons{}
	var block []string
	for i, line := range strings.Split(string(content), "\n") {
		why, isReason := strings.CutPrefix(line, "\t")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case !isReason:
			if _, twice := r[line]; twice {
				return nil, fmt.Errorf("%s:%d: explained before", path, i+1)
			}
			block = append(block, line)
			r[line] = ""
		case len(block) == 0:
			return nil, fmt.Errorf("%s:%d: a reason without a mutant", path, i+1)
		default:
			for _, key := range block {
				r[key] = why
			}
			block = nil
		}
	}
	if len(block) > 0 {
		return nil, fmt.Errorf("%s: no reason stands below %q", path, block[0])
	}
	return r, nil
}

// verdict is nil if every survivor has a reason and no killed mutant has one and, of a whole run, if every subject has the
// least score and every reason is of a mutant that there is.
func verdict(done []outcome, why reasons, whole bool) error {
	var errs []error
	left := maps.Clone(why)
	for _, o := range done {
		if whole && o.score() < leastScore {
			errs = append(errs, fmt.Errorf("%s: %.1f %% of the mutants are killed, at least %.0f %% must be", o.name, 100*o.score(), 100*leastScore))
		}
		for i, m := range o.mutants {
			delete(left, m.key)
			switch explained := why[m.key] != ""; {
			case o.fates[i] != killed && !explained:
				errs = append(errs, fmt.Errorf("%s: survivors.txt does not explain %s", m.place, m.key))
			case o.fates[i] == killed && explained:
				errs = append(errs, fmt.Errorf("%s: is killed, take it out of survivors.txt: %s", m.place, m.key))
			}
		}
	}
	if whole {
		for _, key := range slices.Sorted(maps.Keys(left)) {
			errs = append(errs, fmt.Errorf("survivors.txt: no such mutant: %s", key))
		}
	}
	return errors.Join(errs...)
}

// report is the page about a whole run.
func report(done []outcome, why reasons) []byte {
	var page bytes.Buffer
	page.WriteString(`# Whether the tests notice

    make mutation

changes the code in one place at a time (a bound missed by one, a condition or a sign turned over, a sibling of an operator, a number one more or less, a zero value returned, a
statement left out) and counts the changes that make a test of the package fail, or run without end. Scores and orders that are a little wrong look right: so these are the
packages where it is asked. At least 80 % of the mutants of each must be killed, and every one that survives is explained below; the run fails otherwise. The same code and the same
tests give the same table on any machine. Why it works as it does: [decision 53](../docs/adr/0053-mutants-in-one-binary.md).

| subject | code | mutants | killed | survived | score |
|---|---|---|---|---|---|
`)
	for _, o := range done {
		fmt.Fprintln(&page, o.row())
	}
	page.WriteString("\n## The survivors\n\nAll count against the score, those that nobody could kill among them.\n")
	for _, o := range done {
		fmt.Fprintf(&page, "\n### %s\n", o.name)
		var reasons []string // in the order of their first mutants
		alike := map[string][]string{}
		for i, m := range o.mutants {
			if o.fates[i] == killed {
				continue
			}
			r := cmp.Or(why[m.key], "Not explained.")
			if alike[r] == nil {
				reasons = append(reasons, r)
			}
			alike[r] = append(alike[r], m.key)
		}
		for _, r := range reasons {
			fmt.Fprintf(&page, "\n%s\n\n", r)
			for _, key := range alike[r] {
				fmt.Fprintf(&page, "    %s\n", key)
			}
		}
	}
	return page.Bytes()
}
