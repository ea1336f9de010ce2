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
	if !ok || len(words) == 0 || len(words) > 2 {
		return "", errors.New("a go block needs <!-- from: file --> or <!-- from: file function --> on the line above")
	}
	src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(words[0])))
	if err != nil {
		return "", err
	}
	code := strings.ReplaceAll(string(src), "\r\n", "\n")
	if len(words) == 1 {
		return code, nil
	}
	return functionBody(words[0], code, words[1])
}

// outputComment is the wanted output that ends an example.
var outputComment = regexp.MustCompile(`(?s)\n\t// (Unordered o|O)utput:.*$`)

// functionBody returns the statements of a function, moved one tab to the left.
func functionBody(file, src, name string) (string, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.ParseComments)
	if err != nil {
		return "", err
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || fn.Name.Name != name || fn.Body == nil {
			continue
		}
		body := src[fset.Position(fn.Body.Lbrace).Offset+1 : fset.Position(fn.Body.Rbrace).Offset]
		body = outputComment.ReplaceAllString(strings.TrimRight(body, "\n"), "")
		body = strings.ReplaceAll(body, "\n\t", "\n")
		return strings.Trim(body, "\n") + "\n", nil
	}
	return "", fmt.Errorf("%s has no function %s", file, name)
}
