package eval

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
)

// Question is one of a test set, with all that is known about a right outcome. Only ID and Text are always there.
type Question struct {
	ID       string
	Line     int // of the file, 1-based; 0 if it comes from none
	Text     string
	Set      string // part of the test set that it belongs to
	Language string // BCP 47
	Kind     string // "paraphrase", "table", …: metrics are given for each kind too

	// What should be found. Each that is not empty is measured by itself, see [Level].
	Chunks    Grades   // IDs of passages
	Documents Grades   // URIs, or ends of URIs: "policy/leave.md"
	Sections  Grades   // headings
	Sentences []string // passages of text, compared without case, white space, punctuation and symbols

	Excluded []string // documents whose answer is out of date, as in Documents: finding one first is an error

	Answerable *bool              // whether the documents answer it; nil: not known
	Reference  string             // a right answer
	Intents    map[string]string  // what a router should make of it, by the name of the label ("intent")
	Human      map[string]float64 // what people gave an answer, 0 to 1, by metric: a judge is compared with it

	Filter rag.Filter
	AsOf   time.Time // business date; zero: none
	Expiry string    // one of the Expiry constants; "" is ExpiryExclude
	Status string    // that the expected documents have at AsOf, one of the rag.Status constants; "": not known

	NoDomain bool // the rules of a domain are in Filter and Expiry already, see [TestSet.Under]: not those of the collection's
}

// What a question wants of documents that are not in force at its business date.
const (
	ExpiryExclude = "exclude" // they are not found
	ExpiryFlag    = "flag"    // they are found, with their status
	ExpiryIgnore  = "ignore"  // the date plays no part
)

// Query returns what is asked of an engine.
func (q *Question) Query(collection string) rag.Query {
	query := rag.Query{Text: q.Text, Collection: collection, Filter: q.Filter, NoDomain: q.NoDomain}
	if q.Expiry != ExpiryIgnore {
		query.AsOf, query.Expired = q.AsOf, q.Expiry == ExpiryFlag
	}
	return query
}

// expected is how many things should be found, of all kinds; 0: a search for it can be neither right nor wrong.
func (q *Question) expected() int {
	return q.Chunks.Relevant() + q.Documents.Relevant() + q.Sections.Relevant() + len(q.Sentences)
}

// Source says from which file a test set or a run was read.
type Source struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"` // of the file's bytes, hex
}

// TestSet is a list of questions.
type TestSet struct {
	Source    Source
	Part      string            // that the questions are of, see [TestSet.Only]; "": all
	Fields    map[string]string // names given by [TestSet.Rename]; nil: none
	Questions []Question
	Problems  []Problem // remarks that do not keep it from being used
}

// Problem is something wrong with a test set.
type Problem struct {
	Line    int    `json:"line"` // of the file, 1-based; 0 if it concerns the whole
	ID      string `json:"id,omitempty"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
	Fatal   bool   `json:"fatal"` // the question cannot be used
	Ignored bool   `json:"-"`     // Field is a key that no question has, and does nothing
}

// String returns "line 3 (q7) field: message".
func (p Problem) String() string {
	s := ""
	if p.Line > 0 {
		s = fmt.Sprintf("line %d", p.Line)
	}
	if p.ID != "" {
		s += fmt.Sprintf(" (%s)", p.ID)
	}
	if p.Field != "" {
		s += " " + p.Field
	}
	if s == "" {
		return p.Message
	}
	return strings.TrimPrefix(s, " ") + ": " + p.Message
}

// CheckFile reads a test set and returns all that is wrong with it. The error says that the file cannot be read at all.
func CheckFile(path string) (*TestSet, []Problem, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	set, problems := Parse(data)
	set.Source.Path = path
	return set, problems, nil
}

// Load reads a test set that can be used: the first fatal problem is an error, which is ErrInvalid and counts them all.
func Load(path string) (*TestSet, error) {
	set, problems, err := CheckFile(path)
	if err != nil {
		return nil, err
	}
	var fatal []Problem
	for _, p := range problems {
		if p.Fatal {
			fatal = append(fatal, p)
		}
	}
	switch len(fatal) {
	case 0:
		set.Problems = problems
		return set, nil
	case 1:
		return nil, fmt.Errorf("%s: %s: %w", path, fatal[0], rag.ErrInvalid)
	}
	return nil, fmt.Errorf("%s: %d problems, the first: %s; `rag eval validate` lists all: %w", path, len(fatal), fatal[0], rag.ErrInvalid)
}

// LoadPart is [Load] for the questions of one part, "" for all, with [TestSet.Rename]. That there are none is ErrInvalid.
func LoadPart(path, part string, fields map[string]string) (*TestSet, error) {
	set, err := Load(path)
	if err != nil {
		return nil, err
	}
	if set = set.Only(part); len(set.Questions) == 0 {
		return nil, fmt.Errorf("%s: no question is of set %q: %w", path, part, rag.ErrInvalid)
	}
	set.Rename(fields)
	return set, nil
}

// Only returns the set with the questions of one part; "" means all.
func (s *TestSet) Only(part string) *TestSet {
	if part == "" {
		return s
	}
	out := *s
	out.Part, out.Questions = part, nil
	for _, q := range s.Questions {
		if q.Set == part {
			out.Questions = append(out.Questions, q)
		}
	}
	return &out
}

// Rename gives fields of the questions' filters the names that a collection has for them.
func (s *TestSet) Rename(names map[string]string) {
	s.Fields = names
	for i := range s.Questions {
		s.Questions[i].Filter = renamed(s.Questions[i].Filter, names)
	}
}

// filters is the field of a question's conditions on documents.
const filters = "filters"

// Refused lists the questions that rules refuse, such as those of a domain, with what they say.
func (s *TestSet) Refused(rules func(rag.Query) (rag.Query, error)) []Problem {
	var list []Problem
	for i := range s.Questions {
		q := &s.Questions[i]
		if _, err := rules(q.Query("")); err != nil {
			list = append(list, q.refused(err))
		}
	}
	return list
}

// refused is the problem that rules refuse the question.
func (q *Question) refused(err error) Problem {
	return Problem{Line: q.Line, ID: q.ID, Field: filters, Message: strings.TrimSuffix(err.Error(), ": "+rag.ErrInvalid.Error()), Fatal: true}
}

// Under returns the set with each question's filter and policy as rules make them of its query, such as those of a domain.
// The first question that they refuse is an error with its line.
func (s *TestSet) Under(rules func(rag.Query) (rag.Query, error)) (*TestSet, error) {
	out := *s
	out.Questions = slices.Clone(s.Questions)
	for i := range out.Questions {
		q := &out.Questions[i]
		query, err := rules(q.Query(""))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.refused(err), rag.ErrInvalid)
		}
		q.Filter, q.NoDomain = query.Filter, query.NoDomain
		if query.Expired && q.Expiry == "" && !q.AsOf.IsZero() {
			q.Expiry = ExpiryFlag
		}
	}
	return &out, nil
}

func renamed(f rag.Filter, names map[string]string) rag.Filter {
	if name, ok := names[f.Field]; ok {
		f.Field = name
	}
	args := make([]rag.Filter, 0, len(f.Args))
	for _, a := range f.Args {
		args = append(args, renamed(a, names))
	}
	if len(args) > 0 {
		f.Args = args
	}
	return f
}

// digest names the bytes of a file.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
