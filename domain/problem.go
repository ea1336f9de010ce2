package domain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// Problem is one thing that is wrong in a file.
type Problem struct {
	Line    int    // 1-based; 0 if it concerns the whole file
	Column  int    // 1-based, in characters; 0 if it concerns the whole line
	Field   string // "" if it concerns none
	Message string
}

// String returns "line 3, column 7: field: message", without the parts that are not known.
func (p Problem) String() string {
	var b strings.Builder
	if p.Line > 0 {
		fmt.Fprintf(&b, "line %d", p.Line)
		if p.Column > 0 {
			fmt.Fprintf(&b, ", column %d", p.Column)
		}
		b.WriteString(": ")
	}
	if p.Field != "" {
		b.WriteString(p.Field + ": ")
	}
	return b.String() + p.Message
}

// FileError is the error of a file in which something is wrong: all of it, by line. It matches rag.ErrInvalid.
type FileError struct {
	File string
	List []Problem // at least one
}

// shownProblems is how many problems the text of an error lists; List has all.
const shownProblems = 50

// Error lists the problems, one a line.
func (p *FileError) Error() string {
	var b strings.Builder
	if len(p.List) == 1 {
		return p.File + ": " + p.List[0].String()
	}
	fmt.Fprintf(&b, "%s: %d problems", p.File, len(p.List))
	for i, one := range p.List {
		if i == shownProblems {
			fmt.Fprintf(&b, "\n  … and %d more", len(p.List)-i)
			break
		}
		b.WriteString("\n  " + one.String())
	}
	return b.String()
}

// Unwrap returns rag.ErrInvalid.
func (p *FileError) Unwrap() error { return rag.ErrInvalid }

// problems returns the error of a file, or nil if nothing is wrong.
func problems(file string, list []Problem) error {
	if len(list) == 0 {
		return nil
	}
	slices.SortStableFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return &FileError{file, list}
}
