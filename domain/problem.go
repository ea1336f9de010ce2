package domain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// Kind names what is wrong in a manifest, for programs.
type Kind string

// The kinds of problems of a manifest.
const (
	UnparsableLine  Kind = "unparsable_line"     // no JSON object, or not UTF-8
	UnknownField    Kind = "unknown_field"       // the domain has no such field
	RepeatedField   Kind = "repeated_field"      // given twice in one line
	MissingRequired Kind = "missing_required"    // a field that must be given is not
	WrongType       Kind = "wrong_type"          // a value is not of the field's type
	InvalidEnum     Kind = "invalid_enum"        // a value is not in the field's vocabulary
	UnparsableDate  Kind = "unparsable_date"     // a date cannot be read, and the domain refuses those
	InvertedDates   Kind = "inverted_dates"      // the last date is not after the first
	DuplicatePath   Kind = "duplicate_path"      // an earlier line names the same file
	NoSuchFile      Kind = "no_such_file"        // the file is absent
	NotAFile        Kind = "not_a_file"          // it is a folder, a link, hidden or cannot be read
	PathOutside     Kind = "path_outside_folder" // it lies outside of what is to be ingested
	FileWithoutLine Kind = "file_without_line"   // no line names a file of the folders
	EmptyManifest   Kind = "empty_manifest"      // there is no line
	TooLarge        Kind = "too_large"           // the file is larger than a manifest can be
)

// Problem is one thing that is wrong in a file.
type Problem struct {
	Kind    Kind   // in manifests; "" in domains
	Line    int    // 1-based; 0 if it concerns the whole file
	Column  int    // 1-based, in characters; 0 if it concerns the whole line
	Field   string // "" if it concerns none
	Value   any    // of the field, as the manifest has it; nil if it has none
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
	slices.SortStableFunc(list, func(a, b Problem) int { // what concerns the whole file, often because of a line, comes last
		return cmp.Or(cmp.Compare(uint(a.Line-1), uint(b.Line-1)), cmp.Compare(a.Column, b.Column))
	})
	return &FileError{file, list}
}
