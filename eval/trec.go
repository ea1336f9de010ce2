package eval

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed-d8745b77/rag"
)

// TRECRun is a ranking for each of many queries, by query ID: document ID to score.
type TRECRun map[string]map[string]float64

// ReadRun reads a run in TREC's form: query, "Q0", document, rank, score and name of the run, blanks between. Errors name
// the file and the line.
func ReadRun(path string) (TRECRun, error) {
	run := TRECRun{}
	err := eachLine(path, func(_ int, line string) error {
		f := strings.Fields(line)
		if len(f) != 6 {
			return fmt.Errorf("%d columns: want query, Q0, document, rank, score and run: %w", len(f), rag.ErrInvalid)
		}
		score, err := strconv.ParseFloat(f[4], 64)
		if err != nil {
			return fmt.Errorf("the score %q is no number: %w", f[4], rag.ErrInvalid)
		}
		if run[f[0]] == nil {
			run[f[0]] = map[string]float64{}
		}
		run[f[0]][f[2]] = score
		return nil
	})
	return run, err
}

// Ranked returns the documents of a query in the order in which trec_eval reads them: by score, kept in 32 bits, and where
// scores are equal the greater ID first. The ranks that a run states are not looked at.
func (r TRECRun) Ranked(query string) []string {
	scores := r[query]
	ids := sortedKeys(scores)
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(float32(scores[b]), float32(scores[a])), cmp.Compare(b, a))
	})
	return ids
}

// WriteRun writes the ranking of a query in TREC's form. Scores are made to fall from place to place, so that whatever
// reads the run sees this order. An ID with a blank, which the form cannot hold, is ErrInvalid.
func WriteRun(w io.Writer, name, query string, ranked []string) error {
	b := bufio.NewWriter(w)
	for i, id := range ranked {
		for _, part := range []string{query, id} {
			if strings.ContainsFunc(part, unicode.IsSpace) {
				return fmt.Errorf("the ID %q holds a blank: a run in TREC's form cannot name it: %w", part, rag.ErrInvalid)
			}
		}
		fmt.Fprintf(b, "%s Q0 %s %d %d %s\n", query, id, i+1, len(ranked)-i, name)
	}
	return b.Flush()
}
