package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mutant is one change of the code.
type mutant struct {
	number int    // from 1; the environment variable MUTANT turns it on
	place  string // file:line
	key    string // names it in survivors.txt: the file, the function, and what is changed, without the line
}

// weaver writes a file anew, every mutant of it behind a switch.
type weaver struct {
	p       *pkg
	file    *ast.File
	src     []byte
	out     bytes.Buffer
	copied  int // bytes of src that out has
	stack   []ast.Node
	fun     string // function, or variable of the package, that is being read
	mutants []mutant
	seen    map[string]int // mutants by key
}

// switchName is the function that tells whether a mutant is on.
const switchName = "mutantIsOn"

// build writes the mutated files below a folder, and compiles the test binary with all of them.
func (p *pkg) build(ctx context.Context, work string) (binary string, mutants []mutant, err error) {
	overlay := map[string]string{}
	add := func(name string, content []byte) error {
		at, err := filepath.Abs(filepath.Join(p.dir, name))
		if err != nil {
			return err
		}
		overlay[at] = filepath.Join(work, name)
		return os.WriteFile(overlay[at], content, 0o600)
	}
	for _, f := range p.files {
		path := p.fset.Position(f.Package).Filename
		if !slices.Contains(p.pick, filepath.Base(path)) {
			continue
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return "", nil, err
		}
		w := &weaver{p: p, file: f, src: src, mutants: mutants, seen: map[string]int{}}
		w.weave()
		mutants = w.mutants
		if err := add(filepath.Base(path), w.out.Bytes()); err != nil {
			return "", nil, err
		}
	}
	if err := add("mutant_switch.go", fmt.Appendf(nil, switchFile, p.name, len(mutants)+1)); err != nil {
		return "", nil, err
	}
	list, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return "", nil, err
	}
	replace := filepath.Join(work, "overlay.json")
	if err := os.WriteFile(replace, list, 0o600); err != nil {
		return "", nil, err
	}
	binary = filepath.Join(work, "mutants.test")
	_, err = goCommand(ctx, p.dir, "test", "-c", "-vet=off", "-overlay", replace, "-o", binary, ".")
	return binary, mutants, err
}

// switchFile joins the package. With REACHED set, it appends the number of each mutant whose place is reached to that file.
const switchFile = `package %s

import (
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
)

var (
	mutantOn, _   = strconv.Atoi(os.Getenv("MUTANT"))
	mutantLog     = os.Getenv("REACHED")
	mutantReached [%d]atomic.Bool
)

func mutantIsOn(n int) bool {
	if mutantLog != "" && !mutantReached[n].Swap(true) {
		f, err := os.OpenFile(mutantLog, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(f, n)
		f.Close()
	}
	return n == mutantOn
}
`

// weave reads the file from its beginning to its end. What stands before a node is written when it is entered, what stands
// behind it when it is left.
func (w *weaver) weave() {
	var behind []string
	ast.Inspect(w.file, func(n ast.Node) bool {
		if n == nil {
			left := w.stack[len(w.stack)-1]
			w.insert(left.End(), behind[len(behind)-1])
			w.stack, behind = w.stack[:len(w.stack)-1], behind[:len(behind)-1]
			return true
		}
		w.stack = append(w.stack, n)
		switch n := n.(type) {
		case *ast.FuncDecl:
			w.fun = n.Name.Name
		case *ast.ValueSpec:
			if _, ok := w.parent(2).(*ast.File); ok {
				w.fun = n.Names[0].Name
			}
		}
		if w.fixed(n) {
			w.stack = w.stack[:len(w.stack)-1]
			return false
		}
		before, after := w.around(n)
		w.insert(n.Pos(), before)
		behind = append(behind, after)
		return true
	})
	w.insert(w.file.FileEnd, "")
}

// insert copies the source up to a place, and adds code.
func (w *weaver) insert(at token.Pos, code string) {
	if to := w.offset(at); to > w.copied {
		w.out.Write(w.src[w.copied:to])
		w.copied = to
	}
	w.out.WriteString(code)
}

// fixed reports whether nothing in a node can be changed: types, what must be constant, and the parts of a constant, which is
// changed as a whole; and the room that is made in advance, whose size nobody can see.
func (w *weaver) fixed(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok != token.VAR
	case *ast.FieldList, *ast.FuncType, *ast.ArrayType, *ast.MapType, *ast.StructType, *ast.CommentGroup:
		return true
	case ast.Expr:
		if t := w.p.info.Types[n]; t.IsType() {
			return true
		}
		if whole, ok := w.parent(1).(ast.Expr); ok && w.p.info.Types[whole].Value != nil {
			return true
		}
		switch parent := w.parent(1).(type) {
		case *ast.SelectorExpr:
			return parent.Sel == n
		case *ast.KeyValueExpr:
			return parent.Key == n
		case *ast.CallExpr:
			made, ok := parent.Fun.(*ast.Ident)
			isMap := func() bool {
				_, ok := w.p.info.Types[parent.Args[0]].Type.Underlying().(*types.Map)
				return ok
			}
			return ok && made.Name == "make" && n == parent.Args[len(parent.Args)-1] && (len(parent.Args) == 3 || len(parent.Args) == 2 && isMap())
		}
	}
	return false
}

// around makes the mutants of a node, and returns the code that goes before and behind it.
func (w *weaver) around(n ast.Node) (before, behind string) {
	switch n := n.(type) {
	case ast.Expr:
		if t, ok := w.returnsOther(n); ok {
			if name, ok := w.nameOf(t); ok {
				before = fmt.Sprintf("func() %s { if %s { return *new(%s) }; return (", name, w.on(n, "return "+w.text(n), "return the zero value"), name)
				behind = ") }()"
			}
		}
		t := w.p.info.Types[n].Type
		alts := w.expressions(n)
		if len(alts) == 0 {
			return before, behind
		}
		name, ok := w.nameOf(types.Default(t))
		if !ok {
			return before, behind
		}
		var cases strings.Builder
		for _, alt := range alts {
			fmt.Fprintf(&cases, "case %s: return %s; ", w.on(n, w.text(n), alt), alt)
		}
		return before + fmt.Sprintf("func() %s { switch { %s}; return (", name, cases.String()), ") }()" + behind
	case ast.Stmt:
		if !w.inBlock(n) {
			return "", ""
		}
		if alt := w.otherStatement(n); alt != "" {
			before, behind = fmt.Sprintf("if %s { %s } else { ", w.on(n, w.text(n), alt), alt), " }"
		}
		if w.removable(n) {
			before, behind = fmt.Sprintf("if !%s { ", w.on(n, w.text(n), "nothing"))+before, behind+" }"
		}
	}
	return before, behind
}

// otherStatement returns a statement with the sibling of its operator.
func (w *weaver) otherStatement(s ast.Stmt) string {
	switch s := s.(type) {
	case *ast.IncDecStmt:
		return w.text(s.X) + swaps[s.Tok][0].String()
	case *ast.AssignStmt:
		if ops := swaps[s.Tok]; len(ops) > 0 && !isText(w.p.info.Types[s.Lhs[0]].Type) {
			return w.text(s.Lhs[0]) + " " + ops[0].String() + " " + w.text(s.Rhs[0])
		}
	}
	return ""
}

// on adds a mutant, and returns the condition under which it is on.
func (w *weaver) on(n ast.Node, from, to string) string {
	at := w.p.fset.Position(n.Pos())
	key := fmt.Sprintf("%s %s: %s => %s", filepath.ToSlash(at.Filename), w.fun, brief(from), brief(to))
	if w.seen[key]++; w.seen[key] > 1 {
		key += fmt.Sprintf(" #%d", w.seen[key])
	}
	number := len(w.mutants) + 1
	w.mutants = append(w.mutants, mutant{number, fmt.Sprintf("%s:%d", filepath.ToSlash(at.Filename), at.Line), key})
	return fmt.Sprintf("%s(%d)", switchName, number)
}

// brief puts code on one line, and leaves out the middle of what is long.
func brief(code string) string {
	const most = 100
	line := []rune(strings.Join(strings.Fields(code), " "))
	if len(line) <= most {
		return string(line)
	}
	return string(line[:most/2]) + " … " + string(line[len(line)-most/2:])
}

// inBlock reports whether a statement stands in a list of them, where it can be replaced by another.
func (w *weaver) inBlock(s ast.Stmt) bool {
	switch parent := w.parent(1).(type) {
	case *ast.BlockStmt:
		return true
	case *ast.CaseClause:
		return true
	case *ast.CommClause:
		return parent.Comm != s
	}
	return false
}

// parent returns the node that holds the one being read, n levels up; nil above the file.
func (w *weaver) parent(n int) ast.Node {
	if at := len(w.stack) - 1 - n; at >= 0 {
		return w.stack[at]
	}
	return nil
}

// signature of the function that is being read.
func (w *weaver) signature() *types.Signature {
	for i := len(w.stack) - 1; ; i-- {
		switch f := w.stack[i].(type) {
		case *ast.FuncLit:
			return w.p.info.Types[f].Type.(*types.Signature)
		case *ast.FuncDecl:
			return w.p.info.Defs[f.Name].Type().(*types.Signature)
		}
	}
}

// nameOf returns how the file names a type; ok is false if it cannot.
func (w *weaver) nameOf(t types.Type) (name string, ok bool) {
	ok = true
	name = types.TypeString(t, func(other *types.Package) string {
		if other == w.p.types {
			return ""
		}
		for _, i := range w.file.Imports {
			if i.Path.Value == fmt.Sprintf("%q", other.Path()) {
				if i.Name != nil {
					return i.Name.Name
				}
				return other.Name()
			}
		}
		ok = false
		return other.Name()
	})
	return name, ok
}

func (w *weaver) offset(at token.Pos) int { return w.p.fset.Position(at).Offset }

func (w *weaver) text(n ast.Node) string { return string(w.src[w.offset(n.Pos()):w.offset(n.End())]) }
