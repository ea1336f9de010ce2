// Package gse adds the words of a Chinese dictionary to the word index, with github.com/go-ego/gse:
//
//	index, err := gse.Open(dir, sparse.BM25Config{})
//
// or, in a configuration, the sparse index "bm25-gse" after a blank import. Everything else is as sparse.OpenBM25 has
// it. Words of three characters and more are terms beside the pairs of characters, so that nothing is lost that pairs
// find, and a passage with the whole word goes before one with its pieces. The README says what that costs.
package gse

import (
	"fmt"
	"strings"
	"sync"

	"github.com/go-ego/gse"

	"github.com/seed-d8745b77/rag/sparse"
)

// fingerprint names the dictionary: gse's simplified and traditional Chinese, as of the version that go.mod requires.
const fingerprint = "gse/0.80.3/zh"

// Segmenter cuts Chinese into words. It is safe for concurrent use.
type Segmenter struct{ seg gse.Segmenter }

var _ sparse.Segmenter = (*Segmenter)(nil)

// New returns a segmenter. All share one dictionary, which is read when the first is made.
func New() (*Segmenter, error) { return load() }

var load = sync.OnceValues(func() (*Segmenter, error) {
	s := &Segmenter{}
	s.seg.SkipLog = true
	if err := s.seg.LoadDictEmbed("zh"); err != nil {
		return nil, fmt.Errorf("gse: read the dictionary: %w", err)
	}
	return s, nil
})

// Fingerprint names the segmenter and its dictionary.
func (s *Segmenter) Fingerprint() string { return fingerprint }

// Segment returns the words of a run of Han characters: those of the likeliest way to cut it, by the frequencies of
// the dictionary alone. Names that it does not know fall apart into characters, always in the same way.
func (s *Segmenter) Segment(run string) []string {
	words := s.seg.Cut(run)
	if strings.Join(words, "") != run {
		return []string{run} // it drops or changes characters that it does not know; a run is better than a gap
	}
	return words
}

// Open is sparse.OpenBM25 with this segmenter. The index's fingerprint names it: a collection that was built without
// it, or with it, is refused by the other.
func Open(dir string, c sparse.BM25Config) (*sparse.BM25, error) {
	s, err := New()
	if err != nil {
		return nil, err
	}
	c.Segmenter = s
	return sparse.OpenBM25(dir, c)
}
