package docscheck

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// RefreshCode returns the Markdown text with the body of each go block replaced by the code its mark names:
//
//	<!-- from: examples/quickstart/main.go -->        the whole file
//	<!-- from: example_test.go Example_filter -->     the body of one function, without its // Output: comment
//	<!-- from: example_test.go func ask -->           one function with its head
//
// Paths are relative to root. A go block without such a mark, or whose code is not there, is an error that names
// the block's line; the other blocks are refreshed all the same.
func RefreshCode(root, text string) (string, error) {
	var errs []error
	blocks := Blocks(text)
	for _, b := range slices.Backward(blocks) { // from the end, so that offsets stay right
		if b.Lang != "go" {
			continue
		}
		code, err := markedCode(root, b.Mark)
		if err != nil {
			errs = append(errs, fmt.Errorf("line %d: %w", b.Line, err))
			continue
		}
		text = text[:b.start] + code + text[b.end:]
	}
	slices.Reverse(errs)
	return text, errors.Join(errs...)
}

// markedCode returns the code that a mark names.
func markedCode(root, mark string) (string, error) {
	source, ok := strings.CutPrefix(mark, "from:")
	words := strings.Fields(source)
	if !ok || len(words) == 0 || len(words) > 3 || len(words) == 3 && words[1] != "func" {
		return "", errors.New("a go block needs <!-- from: file -->, <!-- from: file function --> or <!-- from: file func function --> on the line above")
	}
	src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(words[0])))
	if err != nil {
		return "", err
	}
	code := strings.ReplaceAll(string(src), "\r\n", "\n")
	if len(words) == 1 {
		return code, nil
	}
	head, body, err := function(words[0], code, words[len(words)-1])
	if err != nil {
		return "", err
	}
	if len(words) == 3 {
		return head + "{" + body + "}\n", nil
	}
	body = outputComment.ReplaceAllString(strings.TrimRight(body, "\n"), "")
	return strings.Trim(strings.ReplaceAll(body, "\n\t", "\n"), "\n") + "\n", nil
}

// outputComment is the wanted output that ends an example.
var outputComment = regexp.MustCompile(`(?s)\n\t// (Unordered o|O)utput:.*$`)

// function returns what stands of a function before its braces, without the comment above it, and between them.
func function(file, src, name string) (head, body string, err error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.ParseComments)
	if err != nil {
		return "", "", err
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || fn.Name.Name != name || fn.Body == nil {
			continue
		}
		begin, open, end := fset.Position(fn.Type.Pos()).Offset, fset.Position(fn.Body.Lbrace).Offset, fset.Position(fn.Body.Rbrace).Offset
		return src[begin:open], src[open+1 : end], nil
	}
	return "", "", fmt.Errorf("%s has no function %s", file, name)
}
