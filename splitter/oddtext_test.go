package splitter_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/splitter"
)

// letters returns a maker of one character of an alphabet.
func letters(alphabet string) func(r *rand.Rand) string {
	all := []rune(alphabet)
	return func(r *rand.Rand) string { return string(all[r.IntN(len(all))]) }
}

// few are words that come again and again.
var few = strings.Fields("so we go on and the you know it is then what they said to me at")

func someOf(words []string) func(r *rand.Rand) string {
	return func(r *rand.Rand) string { return words[r.IntN(len(words))] }
}

// ideographs are as many characters as a text of everyday Chinese has.
func ideographs() string {
	var b strings.Builder
	for c := '一'; c < '一'+600; c++ {
		b.WriteRune(c)
	}
	return b.String()
}

// digitOrBlank writes long words of hexadecimal digits.
func digitOrBlank(r *rand.Rand) string {
	const wordLength = 2000
	if r.IntN(wordLength) == 0 {
		return " "
	}
	return letters("0123456789abcdef")(r)
}

// Text without the end of any sentence, as transcripts, Chinese without punctuation and encoded data are, or of units
// that come again and again. It is cut inside of lines and words, or between units that are the same, and an edit has
// to stay local there too. The bound is that of TestEditStaysLocal; in each shape one edit in twenty may exceed it.
func TestEditStaysLocalInOddText(t *testing.T) {
	racetest.Skip(t)
	chinese := letters(ideographs())
	for name, tt := range map[string]struct {
		atom    func(r *rand.Rand) string
		between string
		atoms   int
	}{
		"words":               {word, " ", 8_000},
		"few words":           {someOf(few), " ", 8_000},
		"Chinese":             {chinese, "", 20_000},
		"Chinese in pieces":   {func(r *rand.Rand) string { return chinese(r) + chinese(r) }, "\u2003", 9_000},
		"one hexadecimal":     {letters("0123456789abcdef"), "", 70_000},
		"long hexadecimals":   {digitOrBlank, "", 70_000},
		"short lines":         {func(r *rand.Rand) string { return someOf(few)(r) + " " + someOf(few)(r) }, "\n", 6_000},
		"one-word lines":      {someOf(few), "\n", 8_000},
		"one-word paragraphs": {someOf(few), "\n\n", 8_000},
		"one-word sentences":  {func(r *rand.Rand) string { return "So " + someOf(few)(r) + "." }, " ", 8_000},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(11, 11))
			atoms, s := make([]string, tt.atoms), recursive(t, splitter.Config{})
			for i := range atoms {
				atoms[i] = tt.atom(r)
			}
			chunks := func(atoms []string) []rag.Chunk {
				return split(t, s, manuscript{paragraphs: []string{strings.Join(atoms, tt.between)}, levels: []int{0}})
			}
			before := chunks(atoms)
			if len(before) < 100 {
				t.Fatalf("the text has %d chunks, want more", len(before))
			}
			const tries = 20
			var counts []int
			for i := range tries {
				at, edited := r.IntN(len(atoms)-8), slices.Clone(atoms)
				switch i % 3 {
				case 0:
					edited[at] = tt.atom(r)
				case 1:
					edited = slices.Delete(edited, at, at+1+r.IntN(4))
				case 2:
					edited = slices.Insert(edited, at, tt.atom(r), tt.atom(r))
				}
				counts = append(counts, fresh(before, chunks(edited)))
			}
			slices.Sort(counts)
			t.Logf("%d chunks; new ones: median %d, greatest %v", len(before), counts[tries/2], counts[tries-3:])
			if counts[tries-2] > mostNew {
				t.Errorf("edits gave more than %d new chunks: %v", mostNew, counts)
			}
		})
	}
}
