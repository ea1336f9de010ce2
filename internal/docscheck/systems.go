package docscheck

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// SystemRow is a row of docs/systems.md: a requirement of one of the systems, and the tests that prove it.
type SystemRow struct {
	ID    string // such as D6b
	Line  int
	Tests []TestName // none: not done, or a mistake
	Open  bool       // said to be not done
}

// TestName names a test, or a subtest of it.
type TestName struct {
	Package string // folder below root; "rag" is root itself
	Func    string
	Subtest string // "": the whole test
}

func (n TestName) String() string {
	if n.Subtest == "" {
		return n.Package + ": " + n.Func
	}
	return n.Package + ": " + n.Func + "/" + n.Subtest
}

// notDone stands in place of tests.
const notDone = "not done"

var (
	rowOfSystem = regexp.MustCompile(`^\| ([A-F]\d+[a-c]?) \|`)
	testSpan    = regexp.MustCompile("`([\\w/.-]+): ((?:Test|Fuzz)[^`]*)`")
	rowRange    = regexp.MustCompile(`\b([A-F])(\d+)([a-c]?)(?:[-–][A-F]?(\d+)([a-c]?))?\b`)
)

// SystemRows returns the rows of a page, and the walks: for each letter the test that is said, outside the tables, to walk
// through all rows of its system. A test is named in a code span, `package: TestName/subtest`; names of one package follow
// each other with commas.
func SystemRows(text string) (rows []SystemRow, walks map[string]TestName) {
	walks = map[string]TestName{}
	letter := ""
	for n, line := range strings.Split(text, "\n") {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			letter, _, _ = strings.Cut(title, " ")
		}
		tests := testNames(line)
		if m := rowOfSystem.FindStringSubmatch(line); m != nil {
			rows = append(rows, SystemRow{m[1], n + 1, tests, strings.Contains(line, "| "+notDone)})
		} else if len(tests) > 0 && len(letter) == 1 {
			walks[letter] = tests[0]
		}
	}
	return rows, walks
}

func testNames(line string) (names []TestName) {
	for _, m := range testSpan.FindAllStringSubmatch(line, -1) {
		for name := range strings.SplitSeq(m[2], ", ") {
			name, subtest, _ := strings.Cut(name, "/")
			names = append(names, TestName{m[1], name, subtest})
		}
	}
	return names
}

// SystemProblems says what is wrong with a page: rows of want that it has not, rows twice, rows that neither have a test nor
// are said to be not done, tests that are not there, and walks that leave rows out.
func SystemProblems(root, text string, want []string) (problems []string) {
	rows, walks := SystemRows(text)
	seen := map[string]bool{}
	packages := map[string]*testPackage{}
	find := func(name string) *testPackage {
		if packages[name] == nil {
			packages[name] = readTests(root, name)
		}
		return packages[name]
	}
	for _, r := range rows {
		say := func(format string, args ...any) {
			problems = append(problems, fmt.Sprintf("line %d: %s: ", r.Line, r.ID)+fmt.Sprintf(format, args...))
		}
		switch {
		case seen[r.ID]:
			say("stands there twice")
		case !slices.Contains(want, r.ID):
			say("there is no such row")
		case len(r.Tests) == 0 && !r.Open:
			say("names no test, and does not say that it is %s", notDone)
		}
		seen[r.ID] = true
		for _, name := range r.Tests {
			if !find(name.Package).has(name) {
				say("there is no test %s", name)
			}
		}
		if walk, ok := walks[r.ID[:1]]; ok && !r.Open && !find(walk.Package).walked[r.ID] {
			say("no subtest of %s is named by it", walk)
		}
	}
	for _, id := range want {
		if !seen[id] {
			problems = append(problems, id+": is missing")
		}
	}
	for _, walk := range walks {
		if !find(walk.Package).has(walk) {
			problems = append(problems, "there is no test "+walk.String())
		}
	}
	slices.Sort(problems)
	return problems
}

// testPackage is what the test files of a package declare.
type testPackage struct {
	texts  map[string][]string // of each test function, the texts in it: names of subtests stand there, also in tables
	walked map[string]bool     // rows by which subtests are named
}

func (p *testPackage) has(name TestName) bool {
	texts, ok := p.texts[name.Func]
	return ok && (name.Subtest == "" || slices.Contains(texts, name.Subtest))
}

// readTests reads the test files of a package; a file that cannot be parsed has no tests.
func readTests(root, name string) *testPackage {
	p := &testPackage{map[string][]string{}, map[string]bool{}}
	if name == "rag" {
		name = "."
	}
	files, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(name), "*_test.go"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Body != nil {
				p.read(f)
			}
		}
	}
	return p
}

func (p *testPackage) read(f *ast.FuncDecl) {
	texts := []string{}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				texts = append(texts, s)
			}
		case *ast.CallExpr:
			if fun, ok := n.Fun.(*ast.SelectorExpr); ok && fun.Sel.Name == "Run" && len(n.Args) == 2 {
				if lit, ok := n.Args[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
					for _, id := range rowsNamed(lit.Value) {
						p.walked[id] = true
					}
				}
			}
		}
		return true
	})
	p.texts[f.Name.Name] = texts
}

// rowsNamed returns the rows in the name of a subtest: "A19-A23 ranks" names five, "D6, D6a-D6c router" four.
func rowsNamed(name string) (ids []string) {
	for _, m := range rowRange.FindAllStringSubmatch(name, -1) {
		from, _ := strconv.Atoi(m[2])
		to, err := strconv.Atoi(m[4])
		switch {
		case err != nil: // one row
			ids = append(ids, m[1]+m[2]+m[3])
		case m[3] != "" && m[5] != "" && from == to:
			for c := m[3][0]; c <= m[5][0]; c++ {
				ids = append(ids, m[1]+m[2]+string(c))
			}
		default:
			for n := from; n <= to; n++ {
				ids = append(ids, m[1]+strconv.Itoa(n))
			}
		}
	}
	return ids
}
