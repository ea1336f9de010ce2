package rag

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag/internal/cite"
	"github.com/seed-d8745b77/rag/internal/lang"
)

// evidenceFeatures are what an answer's confidence is estimated from, in the order in which a [Calibration] weighs them.
// The score of a fusion is none of them: it tells ranks, not relevance.
var evidenceFeatures = []string{
	"coverage",        // share of the question's words, by rarity, that the best passage has
	"joint_coverage",  // that the best passages have together
	"sentence",        // that the best sentence has, with its headings
	"missing",         // rarity of the rarest word that none of them has, as a share of all
	"words_margin",    // how far the best passage by words is ahead of the next: 1 less the ratio of their scores
	"unnamed",         // 1 if the question names a code or a year that none of them has
	"cosine",          // of the nearest passage
	"cosine_margin",   // how much nearer it is than the others on the mean
	"agreement",       // whether words and meaning put the first passage first: mean of 1/place in the two lanes, 0 if one did not find it
	"reranker",        // score of the first passage
	"reranker_margin", // how much it is above the others' mean
}

// EvidenceFeatures names what an answer's confidence is estimated from, in the order in which a [Calibration] weighs it. A
// trace has their values in the details of StageEvidence.
func EvidenceFeatures() []string { return slices.Clone(evidenceFeatures) }

// wordFeatures is how many of them, the first ones, need no dense lane.
const wordFeatures = 6

// evidencePassages is how many passages the evidence is taken from, the best ones: an answer seldom needs more.
const evidencePassages = 5

// evidence is what the passages found say about whether they hold an answer.
type evidence struct {
	values    []float64 // of the features; NaN where the search does not have one
	sentences []sentence
	weights   []float64 // of the question's words
	unnamed   []string  // codes and years of the question that no passage has
	quoted    float64   // share of the question's words that the best sentence of an extractive answer has, with its headings
}

// weighEvidence looks at the passages found and estimates from them how likely they are to hold an answer.
func (a *answering) weighEvidence(ctx context.Context) error {
	span, start := a.begin(StageEvidence)
	defer a.end(span, start)
	hits := make([]*Hit, min(len(a.answer.Sources), evidencePassages))
	var recs []TextRecord
	for i := range hits {
		hits[i] = &a.answer.Sources[i].Hit
		c := &hits[i].Chunk
		recs = append(recs, TextRecord{Text: c.Title + "\n" + c.IndexText(), Language: c.Language})
	}
	a.evidence.sentences = findSentences(hits)
	for i := range a.evidence.sentences {
		s := &a.evidence.sentences[i]
		c := &hits[s.source].Chunk
		recs = append(recs, TextRecord{Text: s.text, Language: c.Language}, TextRecord{Text: s.around(c), Language: c.Language})
	}
	coverage, err := a.cover(ctx, recs)
	if err != nil {
		return err
	}
	a.evidence.weights = coverage.Weights
	a.evidence.unnamed = unnamed(a.asked(), recs[:len(hits)])
	for i := range a.evidence.sentences {
		at := len(hits) + 2*i
		a.evidence.sentences[i].found, a.evidence.sentences[i].near = coverage.Found[at], coverage.Found[at+1]
	}
	if err := a.compareSentences(ctx); err != nil {
		return err
	}
	a.evidence.values = a.features(hits, coverage.Found[:len(hits)])
	calibration := a.calibration(ctx)
	if len(hits) > 0 && len(coverage.Weights) > 0 { // "What can you do?" asks for nothing that a passage could have
		a.answer.Confidence = calibration.Confidence(a.evidence.values)
	}
	span.In, span.Out = len(hits), len(a.evidence.sentences)
	span.Detail["confidence"] = a.answer.Confidence
	for i, name := range evidenceFeatures {
		if v := a.evidence.values[i]; !math.IsNaN(v) {
			span.Detail[name] = v
		}
	}
	return nil
}

// refusal says why there is no answer, "" if there is one.
func (a *answering) refusal() string {
	least := a.config.Answer.RefuseBelow
	switch {
	case len(a.answer.Sources) == 0:
		return "no passage was found"
	case a.answer.Confidence < least:
		low, least := distinct(a.answer.Confidence, least)
		return fmt.Sprintf("the passages found hardly answer it: confidence %s, %s is needed (answer.refuse_below)", low, least)
	}
	return ""
}

// features computes what evidenceFeatures names. found tells which words each passage has.
func (a *answering) features(hits []*Hit, found [][]bool) []float64 {
	weights := a.evidence.weights
	joint := make([]bool, len(weights))
	best, sentenceBest := 0.0, 0.0
	for _, f := range found {
		best = max(best, share(weights, f))
		for w := range joint {
			joint[w] = joint[w] || f[w]
		}
	}
	for i := range a.evidence.sentences {
		sentenceBest = max(sentenceBest, a.evidence.sentences[i].coverage(weights))
	}
	missing, total := 0.0, 0.0
	for w, weight := range weights {
		if total += weight; !joint[w] {
			missing = max(missing, weight)
		}
	}
	if total > 0 {
		missing /= total
	}
	nameless := 0.0
	if len(a.evidence.unnamed) > 0 {
		nameless = 1
	}
	cosine, cosineMargin := topAndMargin(hits, StageDense)
	reranker, rerankerMargin := topAndMargin(hits, StageRerank)
	return []float64{
		best, share(weights, joint), sentenceBest, missing, a.wordsMargin(hits), nameless,
		cosine, cosineMargin, a.agreement(hits), reranker, rerankerMargin,
	}
}

// wordsMargin is how far the best of the passages by words is ahead of the next, 0 to 1; NaN where words were not looked up.
func (a *answering) wordsMargin(hits []*Hit) float64 {
	if a.found.Mode == Dense {
		return math.NaN()
	}
	first, second := 0.0, 0.0
	for _, h := range hits {
		if r, ok := h.RankAt(StageSparse); ok {
			first, second = max(first, r.Score), max(second, min(first, r.Score))
		}
	}
	if first <= 0 {
		return 0
	}
	return 1 - second/first
}

// agreement is the mean of 1/place that the two lanes give the first passage; NaN where there are no two.
func (a *answering) agreement(hits []*Hit) float64 {
	if a.found.Mode != Hybrid || !slices.ContainsFunc(hits, func(h *Hit) bool { _, ok := h.RankAt(StageDense); return ok }) {
		return math.NaN()
	}
	dense, byMeaning := hits[0].RankAt(StageDense)
	words, byWords := hits[0].RankAt(StageSparse)
	if !byMeaning || !byWords {
		return 0
	}
	return (1/float64(dense.Position) + 1/float64(words.Position)) / 2
}

// topAndMargin returns the greatest score that a stage gave one of the hits, and how much it is above the others' mean;
// NaN where the stage saw none.
func topAndMargin(hits []*Hit, stage string) (top, margin float64) {
	var scores []float64
	for _, h := range hits {
		if r, ok := h.RankAt(stage); ok {
			scores = append(scores, r.Score)
		}
	}
	if len(scores) == 0 {
		return math.NaN(), math.NaN()
	}
	top = slices.Max(scores)
	if len(scores) == 1 {
		return top, math.NaN()
	}
	sum := -top
	for _, s := range scores {
		sum += s
	}
	return top, top - sum/float64(len(scores)-1)
}

// share is the part of the words, by weight, that was found; 0 of no words.
func share(weights []float64, found []bool) float64 {
	have, all := 0.0, 0.0
	for w, weight := range weights {
		if all += weight; found[w] {
			have += weight
		}
	}
	if all == 0 {
		return 0
	}
	return have / all
}

// cover tells which words of the question the texts have. An index that cannot gets its words compared here, all of one
// weight.
func (a *answering) cover(ctx context.Context, recs []TextRecord) (Coverage, error) {
	question := lang.Content(a.asked(), a.language)
	c, ok := a.sparse.(Coverer)
	if !ok {
		return coverByWords(question, recs), nil
	}
	h, err := a.header(ctx)
	if err != nil {
		return Coverage{}, err
	}
	coverage, err := c.Cover(ctx, indexName(a.answer.Collection, h.Generation), question, recs)
	if err == nil && len(coverage.Found) != len(recs) {
		err = fmt.Errorf("the index looked at %d texts of %d: %w", len(coverage.Found), len(recs), ErrInvalid)
	}
	if err != nil {
		return Coverage{}, &StageError{Stage: StageEvidence, Err: err}
	}
	return coverage, nil
}

// header is that of the collection as the search found it or, of hits that were given, as it is now; zero if there is none.
func (a *answering) header(ctx context.Context) (Header, error) {
	if a.search != nil {
		return a.search.stored.Header, nil
	}
	h, _, err := a.readHeader(ctx, a.answer.Collection)
	return h, err
}

// coverByWords compares words by their beginnings.
func coverByWords(question string, recs []TextRecord) Coverage {
	place := map[string]int{}
	var c Coverage
	for m := range eachWord(question) {
		if _, known := place[m.term]; !known {
			place[m.term] = len(place)
			c.Weights = append(c.Weights, 1)
		}
	}
	for _, r := range recs {
		found := make([]bool, len(place))
		for m := range eachWord(r.Text) {
			if w, ok := place[m.term]; ok {
				found[w] = true
			}
		}
		c.Found = append(c.Found, found)
	}
	return c
}

// sentence is a sentence of one of the passages.
type sentence struct {
	source     int // index of the source
	start, end int // bytes of the passage
	text       string
	row        bool   // it is a row of a table
	header     string // the table's first row
	found      []bool // words of the question that it has
	near       []bool // that stand around it: in headings, in the table's first row
	cosine     float64
}

// nearWeight is what a word of the question counts that stands in a sentence's headings and not in itself.
const nearWeight = 0.5

// coverage is the share of the question that the sentence covers.
func (s *sentence) coverage(weights []float64) float64 {
	sum, all := 0.0, 0.0
	for w, weight := range weights {
		all += weight
		switch {
		case s.found[w]:
			sum += weight
		case s.near[w]:
			sum += nearWeight * weight
		}
	}
	if all == 0 {
		return 0
	}
	return sum / all
}

// around is what a sentence is said under.
func (s *sentence) around(c *Chunk) string {
	return strings.Join(append([]string{c.Title, s.header}, c.Headings...), "\n")
}

// findSentences lists the sentences of the passages that can be an answer: no headings, and each text once.
func findSentences(hits []*Hit) []sentence {
	var all []sentence
	seen := map[string]bool{}
	for i, h := range hits {
		text, header := h.Chunk.Text, ""
		for _, span := range withAnswers(text, cite.Sentences(text)) {
			s := sentence{source: i, start: span.Start, end: span.End, text: text[span.Start:span.End], cosine: math.NaN()}
			if !strings.HasPrefix(s.text, "|") {
				header = ""
			} else if s.row = header != ""; !s.row {
				header = s.text // says nothing by itself
				continue
			} else {
				s.header = header
			}
			if key := strings.Join(strings.Fields(s.text), " "); !seen[key] && says(&s) {
				seen[key] = true
				all = append(all, s)
			}
		}
	}
	return all
}

// withAnswers joins each question of a text with the sentence behind it, as in lists of frequent questions: the question has
// the words that are asked for, and says nothing.
func withAnswers(text string, spans []cite.Span) []cite.Span {
	var joined []cite.Span
	for i := 0; i < len(spans); i++ {
		span := spans[i]
		if i+1 < len(spans) && isQuestion(text[span.Start:span.End]) && answers(text[spans[i+1].Start:spans[i+1].End]) {
			i++
			span.End = spans[i].End
		}
		joined = append(joined, span)
	}
	return joined
}

func isQuestion(sentence string) bool {
	sentence = strings.TrimRight(sentence, "*_\"'”’»） )")
	return !strings.HasPrefix(sentence, "|") && (strings.HasSuffix(sentence, "?") || strings.HasSuffix(sentence, "？"))
}

// answers reports whether a sentence behind a question can be its answer: it is a sentence, and no other question.
func answers(sentence string) bool {
	return !isQuestion(sentence) && !strings.HasPrefix(sentence, "#") && !strings.HasPrefix(sentence, "|") && !strings.HasPrefix(sentence, "```")
}

// says reports whether a sentence can say something: it is no heading, and has a few words.
func says(s *sentence) bool {
	if strings.HasPrefix(s.text, "#") || strings.HasPrefix(s.text, "```") || s.row && strings.Trim(s.text, "|-: ") == "" {
		return false
	}
	words := 0
	for range eachWord(s.text) {
		words++
	}
	return words >= leastWords
}

// leastWords is how many words say something: "one letter" answers nothing without its question.
const leastWords = 3
