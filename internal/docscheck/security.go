package docscheck

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// SecurityProblems says what is wrong with docs/security.md: rows of its tables that name no test, tests that are not there,
// and targets of fuzzing that stand nowhere, so that whoever adds a parser says which it is. Tests are named as in
// [SystemRows].
func SecurityProblems(root, text string) (problems []string) {
	packages := map[string]*testPackage{}
	listed := map[string]bool{}
	inTable := false
	for n, line := range strings.Split(text, "\n") {
		say := func(format string, args ...any) {
			problems = append(problems, fmt.Sprintf("line %d: ", n+1)+fmt.Sprintf(format, args...))
		}
		row := strings.HasPrefix(line, "| ")
		names := testNames(line)
		for _, name := range names {
			if packages[name.Package] == nil {
				packages[name.Package] = readTests(root, name.Package)
			}
			if !packages[name.Package].has(name) {
				say("there is no test %s", name)
			}
			listed[name.String()] = true
		}
		if inTable && row && len(names) == 0 {
			say("names no test")
		}
		inTable = row && inTable || strings.HasPrefix(line, "|---")
	}
	fuzzed, err := fuzzTargets(root)
	if err != nil {
		return append(problems, err.Error())
	}
	for _, name := range fuzzed {
		if !listed[name.String()] {
			problems = append(problems, fmt.Sprintf("%s stands in no row", name))
		}
	}
	return problems
}

// fuzzTargets lists the targets of fuzzing of all modules below root, by package.
func fuzzTargets(root string) (names []TestName, err error) {
	folders := map[string]bool{}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin" || d.Name() == "node_modules"):
			return fs.SkipDir
		case strings.HasSuffix(path, "_test.go"):
			folder, err := filepath.Rel(root, filepath.Dir(path))
			folders[filepath.ToSlash(folder)] = true
			return err
		}
		return nil
	})
	for folder := range folders {
		for name := range readTests(root, folder).texts {
			if strings.HasPrefix(name, "Fuzz") {
				at := folder
				if at == "." {
					at = "rag"
				}
				names = append(names, TestName{Package: at, Func: name})
			}
		}
	}
	slices.SortFunc(names, func(a, b TestName) int { return strings.Compare(a.String(), b.String()) })
	return names, err
}
