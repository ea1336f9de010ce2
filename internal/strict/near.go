package strict

import (
	"fmt"
	"strings"
)

// DidYouMean returns `, did you mean "x"?` for the nearest known name, or "" if none is near.
func DidYouMean(name string, known []string) string {
	best, dist := "", len(name)/3+2
	for _, k := range known {
		if d := editDistance(strings.ToLower(name), k); d < min(dist, max(len(name), len(k))) { // they have something in common
			best, dist = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", best)
}

// editDistance is the Levenshtein distance in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost = 1 + min(diag, row[j], row[j+1])
			}
			diag, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
