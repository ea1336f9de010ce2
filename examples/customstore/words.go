package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-d8745b77/rag"
)

// Words ranks passages by BM25 over their words as they are written, without stems.
type Words struct{ *journal }

var (
	_ rag.SparseIndex   = Words{}
	_ rag.IDLister      = Words{}
	_ rag.Dropper       = Words{}
	_ rag.Fingerprinter = Words{}
)

// OpenWords opens the words in a folder.
func OpenWords(dir string) (Words, error) {
	j, err := openJournal(filepath.Join(dir, "words.jsonl"))
	return Words{j}, err
}

// Fingerprint changes when wordsOf finds other words: what was indexed before must then be indexed anew.
func (Words) Fingerprint() string { return "words/1" }

// Upsert stores the words of texts.
func (w Words) Upsert(ctx context.Context, collection string, recs []rag.TextRecord) error {
	if len(recs) == 0 {
		return ctx.Err()
	}
	put := make(map[string]record, len(recs))
	for _, r := range recs {
		words := wordsOf(r.Text)
		counts := map[string]int{}
		for _, word := range words {
			counts[word]++
		}
		put[r.ID] = record{Words: counts, Length: len(words), Meta: r.Meta, Validity: r.Validity}
	}
	return w.commit(ctx, change{Collection: collection, Put: put}, anything)
}

// Parameters of BM25: how fast further occurrences of a word stop counting, and how much long texts are held against
// them. Robertson and Zaragoza, 2009, give these as usual values.
const (
	k1 = 1.2
	b  = 0.75
)

// Search ranks the records that share a word with the question and match the filter. How rare a word is is told from all
// records, so that a filter changes no score.
func (w Words) Search(ctx context.Context, collection string, q rag.SparseQuery) ([]rag.Match, error) {
	if err := cmp.Or(ctx.Err(), q.Filter.Validate()); err != nil {
		return nil, err
	}
	if q.Match != (rag.TextMatch{}) {
		return nil, fmt.Errorf("phrases, stars and fuzzy words: %w", rag.ErrUnsupported)
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	asked := slices.Compact(slices.Sorted(slices.Values(wordsOf(q.Text))))
	set := w.sets[collection]
	having, length := map[string]int{}, 0 // records with each word; words of all records
	for r := range maps.Values(set) {
		length += r.Length
		for _, word := range asked {
			if r.Words[word] > 0 {
				having[word]++
			}
		}
	}
	var matches []rag.Match
	for id, r := range set {
		score := 0.0
		for _, word := range asked {
			count, rare := float64(r.Words[word]), float64(having[word])
			rarity := math.Log(1 + (float64(len(set))-rare+0.5)/(rare+0.5))
			relative := float64(r.Length) * float64(len(set)) / float64(max(length, 1)) // to the mean length
			score += rarity * count * (k1 + 1) / (count + k1*(1-b+b*relative))
		}
		if score > 0 && q.Filter.Match(r.Meta, r.Validity) {
			matches = append(matches, rag.Match{ID: id, Score: score})
		}
	}
	return best(matches, q.K), nil
}

// wordsOf are the runs of letters and digits of a text, in small letters. Languages without blanks between words would
// need more.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
