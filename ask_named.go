package rag

import (
	"regexp"
	"strings"
)

// named matches what may be a code or a year: letters and digits, joined by the signs of file names and part numbers.
var named = regexp.MustCompile(`[A-Za-z0-9]+(?:[-_./][A-Za-z0-9]+)*`)

// code is a word that begins with a letter and has a digit: PLV-412, HDF5. Nobody means something else by it, other than by
// "3rd" or "20km".
var code = regexp.MustCompile(`^[A-Za-z].*[0-9]`)

// year is one of the last century or of this one.
var year = regexp.MustCompile(`^(?:19|20)[0-9]{2}$`)

// unnamed returns the codes and years of a question that none of the passages has, in its order. Numbers besides are left
// out: questions have some of their own ("I spent 70 euros").
func unnamed(question string, passages []TextRecord) (missing []string) {
	var all strings.Builder
	for _, name := range named.FindAllString(question, -1) {
		if !code.MatchString(name) && !year.MatchString(name) {
			continue
		}
		if all.Len() == 0 {
			for _, p := range passages {
				all.WriteString(closeUp(p.Text) + "\n")
			}
		}
		if !strings.Contains(all.String(), closeUp(name)) {
			missing = append(missing, name)
		}
	}
	return missing
}

// apart are the signs by which codes are written in different ways: PLV-412, PLV 412, plv412.
var apart = strings.NewReplacer("-", "", "_", "", ".", "", "/", "", " ", "", "\u00a0", "", "\u2011", "")

func closeUp(text string) string { return apart.Replace(strings.ToLower(text)) }
