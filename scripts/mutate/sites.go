package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// swaps gives each operator the ones that stand in for it: the bound missed by one, the opposite, the sibling.
var swaps = map[token.Token][]token.Token{
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL}, token.REM: {token.MUL},
	token.AND: {token.OR}, token.OR: {token.AND}, token.XOR: {token.AND}, token.AND_NOT: {token.AND},
	token.SHL: {token.SHR}, token.SHR: {token.SHL},
	token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN},
	token.MUL_ASSIGN: {token.QUO_ASSIGN}, token.QUO_ASSIGN: {token.MUL_ASSIGN},
	token.AND_ASSIGN: {token.OR_ASSIGN}, token.OR_ASSIGN: {token.AND_ASSIGN},
	token.SHL_ASSIGN: {token.SHR_ASSIGN}, token.SHR_ASSIGN: {token.SHL_ASSIGN},
	token.INC: {token.DEC}, token.DEC: {token.INC},
}

// expressions returns the values that stand in for an expression, as code.
func (w *weaver) expressions(e ast.Expr) (alts []string) {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if !isText(w.p.info.Types[e.X].Type) || e.Op != token.ADD { // texts have no other operator
			for _, op := range swaps[e.Op] {
				alts = append(alts, w.text(e.X)+" "+op.String()+" "+w.text(e.Y))
			}
		}
	case *ast.UnaryExpr:
		if e.Op == token.NOT || e.Op == token.SUB {
			alts = append(alts, w.text(e.X))
		}
	}
	if w.p.info.Types[e].Value != nil {
		return append(alts, w.besides(e)...)
	}
	if w.decides(e) {
		return []string{"!(" + w.text(e) + ")"}
	}
	return alts
}

// besides returns the numbers beside a constant number, and the opposite of true and false. A character is not a number here:
// it is compared, and the comparison is mutated. Nor is a constant of another package.
func (w *weaver) besides(e ast.Expr) []string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.CHAR {
			return nil
		}
	case *ast.Ident:
		switch w.p.info.Uses[e] {
		case types.Universe.Lookup("true"):
			return []string{"false"}
		case types.Universe.Lookup("false"):
			return []string{"true"}
		}
	case *ast.BinaryExpr, *ast.UnaryExpr:
	default:
		return nil
	}
	t := w.p.info.Types[e]
	basic, ok := t.Type.Underlying().(*types.Basic)
	if !ok || basic.Info()&(types.IsInteger|types.IsFloat) == 0 {
		return nil
	}
	alts := []string{w.text(e) + " + 1"}
	if basic.Info()&types.IsUnsigned == 0 || constant.Sign(t.Value) > 0 {
		alts = append(alts, w.text(e)+" - 1")
	}
	return alts
}

// decides reports whether an expression is a condition, or an operand of one, that is no comparison.
func (w *weaver) decides(e ast.Expr) bool {
	switch e.(type) {
	case *ast.BinaryExpr, *ast.UnaryExpr, *ast.ParenExpr:
		return false
	}
	switch parent := w.parent(1).(type) {
	case *ast.IfStmt:
		return parent.Cond == e
	case *ast.ForStmt:
		return parent.Cond == e
	case *ast.BinaryExpr:
		return parent.Op == token.LAND || parent.Op == token.LOR
	case *ast.ReturnStmt:
		basic, ok := w.p.info.Types[e].Type.(*types.Basic)
		return ok && basic.Info()&types.IsBoolean != 0
	case *ast.CaseClause:
		s, ok := w.parent(3).(*ast.SwitchStmt) // the clause stands in the block of the switch
		return ok && s.Tag == nil
	}
	return false
}

// returnsOther reports whether an expression is one result of several or the only one, and could be the zero value of its
// type instead.
func (w *weaver) returnsOther(e ast.Expr) (result types.Type, ok bool) {
	ret, ok := w.parent(1).(*ast.ReturnStmt)
	if !ok {
		return nil, false
	}
	results := w.signature().Results()
	if results.Len() != len(ret.Results) {
		return nil, false // one call gives them all
	}
	t := w.p.info.Types[e]
	if lit, ok := e.(*ast.CompositeLit); ok && len(lit.Elts) == 0 {
		if _, isStruct := t.Type.Underlying().(*types.Struct); isStruct {
			return nil, false
		}
	}
	switch {
	case t.IsNil(), t.Value != nil && isZero(t.Value):
		return nil, false
	case t.Value != nil && t.Value.Kind() == constant.Bool:
		return nil, false // it is mutated as a constant
	}
	for i, r := range ret.Results {
		if r == e {
			result = results.At(i).Type()
		}
	}
	if basic, ok := result.Underlying().(*types.Basic); ok && basic.Info()&types.IsBoolean != 0 {
		return nil, false // it is negated
	}
	return result, true
}

func isZero(v constant.Value) bool {
	switch v.Kind() {
	case constant.Int, constant.Float:
		return constant.Sign(v) == 0
	case constant.String:
		return constant.StringVal(v) == ""
	}
	return false
}

func isText(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsString != 0
}

// removable reports whether a statement of a block can be left out and the rest still compiles.
func (w *weaver) removable(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.AssignStmt:
		return s.Tok != token.DEFINE && !isBlank(s.Lhs)
	case *ast.IncDecStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.BREAK || s.Tok == token.CONTINUE
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		name, ok := call.Fun.(*ast.Ident)
		return !ok || name.Name != "panic" // a function may end in it
	}
	return false
}

// isBlank reports whether all that is assigned to is the blank identifier.
func isBlank(to []ast.Expr) bool {
	for _, e := range to {
		if id, ok := e.(*ast.Ident); !ok || id.Name != "_" {
			return false
		}
	}
	return true
}
