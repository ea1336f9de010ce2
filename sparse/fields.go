package sparse

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// FieldWeights says how often a word of a title or of a heading counts, where a word of the text counts once: BM25F in
// its simple form (Robertson and Zaragoza 2009, section 3.6, with one length for all fields), occurrences weighted and
// added up before the score saturates. It comes on top of what Text holds: a text that the engine gives begins with
// its headings already. In steps of 0.25, up to 16; 0: the field is not looked at.
type FieldWeights struct {
	Title    float64 `json:"title"`    // a common value is 2
	Headings float64 `json:"headings"` // a common value is 1.5
}

// Weights are stored as whole numbers of steps.
const (
	stepsPerUnit = 4
	maxWeight    = 16
)

// fieldGap keeps a phrase from reaching from one field into the next.
const fieldGap = 100

// fields is FieldWeights in steps; the zero value looks at the text alone.
type fields struct{ title, headings uint32 }

func (w FieldWeights) steps() (fields, error) {
	steps := func(name string, weight float64) (uint32, error) {
		n := math.Round(weight * stepsPerUnit)
		if n != weight*stepsPerUnit || weight < 0 || weight > maxWeight {
			return 0, fmt.Errorf("bm25: fields.%s is %v: give a number from 0 to %d in steps of %v: %w", name, weight, maxWeight, 1.0/stepsPerUnit, rag.ErrInvalid)
		}
		return uint32(n), nil
	}
	title, err := steps("title", w.Title)
	if err != nil {
		return fields{}, err
	}
	headings, err := steps("headings", w.Headings)
	return fields{title, headings}, err
}

// unit is the weight of a word of the text: a step if no other field is looked at.
func (f fields) unit() float64 {
	if f == (fields{}) {
		return 1
	}
	return stepsPerUnit
}

// fingerprint is "" for the text alone, "/title=2,headings=1.5".
func (f fields) fingerprint() string {
	if f == (fields{}) {
		return ""
	}
	number := func(steps uint32) string { return strconv.FormatFloat(float64(steps)/stepsPerUnit, 'g', -1, 64) }
	return "/title=" + number(f.title) + ",headings=" + number(f.headings)
}

// weighted is a field of a record.
type weighted struct {
	text   string
	weight uint32
}

// of returns the fields of a record that count.
func (f fields) of(r rag.TextRecord) []weighted {
	list := []weighted{{r.Text, uint32(f.unit())}}
	if f.title > 0 && r.Title != "" {
		list = append(list, weighted{r.Title, f.title})
	}
	if f.headings > 0 {
		for heading := range strings.SplitSeq(r.Headings, "\n") {
			list = append(list, weighted{heading, f.headings})
		}
	}
	return list
}
