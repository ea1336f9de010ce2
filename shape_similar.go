package rag

import (
	"context"
	"hash/fnv"
	"slices"
	"strings"
)

// phraseWords is the length of the phrases by which near-duplicates are found: the four-word shingles of Broder and
// others, "Syntactic clustering of the Web", 1997, for which Manning, Raghavan and Schütze, "Introduction to Information
// Retrieval", section 19.6, take texts that share 0.9 of them for near-duplicates.
//
// Phrases, and not vectors: two passages that differ in nothing but a number or a "not" have nearly one vector, and say
// different things.
const phraseWords = 4

// twin returns the first of the hits that the chunk is a near-duplicate of, or nil.
func (s *search) twin(c *Chunk, hits []Hit) (twin *Hit, alike float64) {
	mine := s.phrases(c)
	for i := range hits {
		other := s.phrases(&hits[i].Chunk)
		small, large := min(len(mine), len(other)), max(len(mine), len(other))
		if float64(small) < s.shaping.collapse*float64(large) {
			continue // even if one has all of the other's
		}
		if alike := jaccard(mine, other); alike >= s.shaping.collapse {
			return &hits[i], alike
		}
	}
	return nil, 0
}

// phrases returns the chunk's phrases, and remembers them for this search.
func (s *search) phrases(c *Chunk) []uint64 {
	if have, ok := s.phrasesOf[c.ID]; ok {
		return have
	}
	made := shingles(c.Text, phraseWords)
	s.phrasesOf[c.ID] = made
	return made
}

// shingles returns the hashes of the runs of n words of a text, sorted, each once. Case, punctuation and white space do
// not matter; a text of fewer words is one run, and one of none is taken as it stands.
func shingles(text string, n int) []uint64 {
	var words []string
	for m := range eachWord(text) {
		words = append(words, strings.ToLower(text[m.start:m.end]))
	}
	if len(words) == 0 {
		words = []string{strings.TrimSpace(text)}
	}
	n = min(n, len(words))
	hashes := make([]uint64, 0, len(words)-n+1)
	for i := range len(words) - n + 1 {
		h := fnv.New64a()
		for _, w := range words[i : i+n] {
			_, _ = h.Write([]byte(w)) // never fails, see hash.Hash
			_, _ = h.Write([]byte{0})
		}
		hashes = append(hashes, h.Sum64())
	}
	slices.Sort(hashes)
	return slices.Compact(hashes)
}

// jaccard returns what part of the elements of two sorted sets is in both.
func jaccard(a, b []uint64) float64 {
	both := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			both, i, j = both+1, i+1, j+1
		}
	}
	return float64(both) / float64(max(1, len(a)+len(b)-both))
}

// diversify puts first the hits of maximal marginal relevance (Carbonell and Goldstein, "The use of MMR, diversity-based
// reranking", SIGIR 1998): one after the other the hit for which (1-d)·relevance − d·(largest similarity to one chosen
// before) is largest, where d is the diversity. Relevance is the score, stretched to [0, 1] over the hits. That value, which
// never rises, becomes the score of the hits; those that are not chosen stay behind and are cut.
func (s *search) diversify(ctx context.Context, span *Span, hits []Hit) []Hit {
	if len(hits) == 0 {
		return hits
	}
	alike := s.similarity(ctx, span, hits)
	relevance := make([]float64, len(hits))
	for i := range hits {
		relevance[i] = hits[i].Score
	}
	relevance = stretch(relevance)
	d := s.shaping.diversity
	nearest := make([]float64, len(hits)) // largest similarity to one chosen
	taken := make([]bool, len(hits))
	chosen := make([]Hit, 0, s.q.TopK)
	for len(chosen) < min(len(hits), s.q.TopK) {
		best, bestValue := -1, 0.0
		for i := range hits {
			if value := (1-d)*relevance[i] - d*nearest[i]; !taken[i] && (best < 0 || value > bestValue) {
				best, bestValue = i, value
			}
		}
		taken[best] = true
		h := hits[best]
		h.Score = bestValue
		chosen = append(chosen, h)
		for i := range hits {
			if !taken[i] {
				nearest[i] = max(nearest[i], alike(i, best))
			}
		}
	}
	for i, h := range hits {
		if !taken[i] {
			s.fell[h.Chunk.ID] = "diversity prefers hits that are less like each other"
		}
	}
	return chosen
}

// similarity returns how alike two of the hits are, from 0 to 1: by the cosine of their stored vectors, or by the words
// they share where there is no vector for each.
func (s *search) similarity(ctx context.Context, span *Span, hits []Hit) func(i, j int) float64 {
	if vectors := s.storedVectors(ctx, hits); vectors != nil {
		span.Detail["similarity"] = "vectors"
		return func(i, j int) float64 { return max(0, dot(vectors[i], vectors[j])) }
	}
	span.Detail["similarity"] = "words"
	words := make([][]uint64, len(hits))
	for i := range hits {
		words[i] = shingles(hits[i].Chunk.Text, 1)
	}
	return func(i, j int) float64 { return jaccard(words[i], words[j]) }
}

// storedVectors returns the vectors of the hits; nil if the store does not give one for each.
func (s *search) storedVectors(ctx context.Context, hits []Hit) [][]float32 {
	r, ok := s.vectors.(VectorReader)
	if !ok {
		return nil
	}
	ids := make([]string, len(hits))
	for i := range hits {
		ids[i] = hits[i].Chunk.ID
	}
	vectors, err := r.Vectors(ctx, s.index, ids)
	if err != nil {
		s.result.Notes = append(s.result.Notes, Note{StageShape, "passages were compared by words: " + err.Error()})
		return nil
	}
	if slices.ContainsFunc(vectors, func(v []float32) bool { return v == nil }) {
		return nil
	}
	return vectors
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i := range min(len(a), len(b)) {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
