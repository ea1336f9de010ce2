package loader

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// goDefinitions returns the declarations of a Go file; false if it cannot be parsed. Imports belong to the file's
// beginning; constants and variables are titled by the first name.
func goDefinitions(code string) ([]definition, bool) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", code, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, false
	}
	base := files.File(file.FileStart).Base()
	var defs []definition
	for _, decl := range file.Decls {
		name, doc := goName(decl)
		if name == "" {
			continue
		}
		start := int(decl.Pos()) - base
		if doc != nil {
			start = int(doc.Pos()) - base
		}
		start = strings.LastIndexByte(code[:start], '\n') + 1
		if n := len(defs); n > 0 && defs[n-1].start >= start { // two in one line
			continue
		}
		defs = append(defs, definition{name, 1, start})
	}
	return defs, true
}

// goName is the title of a declaration: "Open", "Engine.Search", "Hit"; "" for imports.
func goName(decl ast.Decl) (string, *ast.CommentGroup) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil && len(d.Recv.List) == 1 {
			if receiver := goReceiver(d.Recv.List[0].Type); receiver != "" {
				return receiver + "." + d.Name.Name, d.Doc
			}
		}
		return d.Name.Name, d.Doc
	case *ast.GenDecl:
		if d.Tok == token.IMPORT || len(d.Specs) == 0 {
			return "", nil
		}
		switch s := d.Specs[0].(type) {
		case *ast.TypeSpec:
			return s.Name.Name, d.Doc
		case *ast.ValueSpec:
			return s.Names[0].Name, d.Doc
		}
	}
	return "", nil
}

// goReceiver is the name of a receiver's type, without pointer and type parameters.
func goReceiver(t ast.Expr) string {
	for {
		switch e := t.(type) {
		case *ast.StarExpr:
			t = e.X
		case *ast.ParenExpr:
			t = e.X
		case *ast.IndexExpr:
			t = e.X
		case *ast.IndexListExpr:
			t = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}
