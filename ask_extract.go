package rag

import (
	"cmp"
	"context"
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed-d8745b77/rag/internal/cite"
	"github.com/seed-d8745b77/rag/internal/lang"
)

// How the sentences of an extractive answer are chosen; measured in bench/answers.
const (
	cosineWeight   = 1.0  // of a sentence's similarity to the question beside its coverage
	rankWeight     = 0.5  // of the place of its passage: 1/rank
	furtherShare   = 0.75 // of the best sentence's score that a further one must have
	comparedBest   = 40   // sentences that are embedded: the best by words
	leastQuoted    = 0.4  // of the question that the best sentence must have for the answer to be reliable
	mostSimilarity = 0.8  // share of words above which a sentence says what a better one has said
)

// compareSentences takes the similarity of the sentences to the question, where the embedder knows its language.
func (a *answering) compareSentences(ctx context.Context) error {
	list := a.evidence.sentences
	if a.embedder == nil || len(list) == 0 || a.found.Mode == Sparse || foreign(a.language, a.embedder.Model().Languages) != "" {
		return nil
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(list[j].coverage(a.evidence.weights), list[i].coverage(a.evidence.weights))
	})
	order = order[:min(len(order), comparedBest)]
	texts := make([]string, len(order))
	for k, i := range order {
		if texts[k] = list[i].text; list[i].row {
			texts[k] = list[i].say() // cells mean little without the names of their columns
		}
	}
	question, err := a.questionVector(ctx)
	var vectors [][]float32
	if err == nil {
		vectors, err = a.embedSentences(ctx, texts)
	}
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		a.note(StageEvidence, "", "sentences were compared by words alone: "+err.Error())
		return nil
	}
	for k, i := range order {
		list[i].cosine = dot(question, vectors[k])
	}
	return nil
}

// questionVector is that of the question, which the search has already unless it looked up other words.
func (a *answering) questionVector(ctx context.Context) ([]float32, error) {
	if s := a.search; s != nil {
		if l := s.lookups[0]; l.Text == a.asked() && l.vector != nil {
			return l.vector, nil
		}
	}
	return a.embedLookup(ctx, AsQuestion, a.asked())
}

// embedSentences embeds texts as passages. They are not worth a place in the cache: few are asked about twice.
func (a *answering) embedSentences(ctx context.Context, texts []string) ([][]float32, error) {
	var all [][]float32
	for batch := range slices.Chunk(texts, a.embedder.Model().BatchSize()) {
		vectors, err := a.embedBatch(ctx, AsPassage, batch)
		if err != nil {
			return nil, err
		}
		all = append(all, vectors...)
	}
	return all, nil
}

// extract answers with sentences of the sources, word by word, each with its source.
func (a *answering) extract(ctx context.Context) error {
	span, start := a.begin(StageExtract)
	chosen := a.chooseSentences()
	span.In, span.Out = len(a.evidence.sentences), len(chosen)
	a.end(span, start)
	ans := a.answer
	ans.Mode, ans.Text, ans.Citations, ans.Rejected = AnswerExtractive, "", nil, nil
	if len(chosen) == 0 {
		a.refuse("the passages found have no sentence that could be an answer")
		return ctx.Err()
	}
	a.evidence.quoted = chosen[0].coverage(a.evidence.weights)
	a.numberByUse(chosen)
	var text strings.Builder
	for i, s := range chosen {
		if i > 0 {
			text.WriteString(" ")
			if s.row || chosen[i-1].row {
				text.WriteString("\n")
			}
		}
		said := s.say()
		text.WriteString(said + " ")
		at := text.Len()
		text.WriteString("[" + strconv.Itoa(s.source+1) + "]")
		ans.Citations = append(ans.Citations, Citation{
			Marker: s.source + 1, Start: at, End: text.Len(), Claim: said, Quote: s.text,
			Verdict: VerdictSupported, Reason: "word by word from the source",
		})
	}
	ans.Text, ans.Verified = text.String(), true
	a.yield(AnswerEvent{Text: ans.Text})
	a.judge()
	return ctx.Err()
}

// chooseSentences returns the best sentence, and those nearly as good that say something else. Where the best one answers
// how many, the others do too.
func (a *answering) chooseSentences() []sentence {
	list := slices.Clone(a.evidence.sentences)
	scores := make(map[string]float64, len(list))
	for i := range list {
		scores[list[i].text] = a.sentenceScore(&list[i])
	}
	slices.SortStableFunc(list, func(a, b sentence) int { return cmp.Compare(scores[b.text], scores[a.text]) })
	amount := len(list) > 0 && lang.AsksAmount(a.asked()) && lang.HasAmount(list[0].text)
	var chosen []sentence
	for _, s := range list {
		said := slices.ContainsFunc(chosen, func(c sentence) bool { return cite.Overlap(s.text, c.text) > mostSimilarity })
		switch {
		case len(chosen) == a.config.Answer.Sentences:
			return chosen
		case len(chosen) > 0 && (said || amount && !lang.HasAmount(s.text) || scores[s.text] < furtherShare*scores[chosen[0].text]):
		default:
			chosen = append(chosen, s)
		}
	}
	return chosen
}

func (a *answering) sentenceScore(s *sentence) float64 {
	score := s.coverage(a.evidence.weights) + rankWeight/float64(s.source+1)
	if !math.IsNaN(s.cosine) {
		score += cosineWeight * s.cosine
	}
	return score
}

// numberByUse puts the sources that are quoted first, in the order of quotation, then the best one of each other document
// (who checks an answer wants to see what the others say), and numbers them all anew.
func (a *answering) numberByUse(chosen []sentence) {
	var order []int
	for _, s := range chosen {
		if !slices.Contains(order, s.source) {
			order = append(order, s.source)
		}
	}
	seen := map[string]bool{}
	for _, i := range order {
		seen[a.answer.Sources[i].Hit.Chunk.DocID] = true
	}
	var further []int
	for i, s := range a.answer.Sources {
		switch id := s.Hit.Chunk.DocID; {
		case slices.Contains(order, i):
		case seen[id]:
			further = append(further, i)
		default:
			seen[id] = true
			order = append(order, i)
		}
	}
	order = append(order, further...)
	sources, place := make([]AnswerSource, len(order)), make([]int, len(order))
	for i, old := range order {
		sources[i], place[old] = AnswerSource{i + 1, a.answer.Sources[old].Hit}, i
	}
	a.answer.Sources = sources
	for i := range chosen {
		chosen[i].source = place[chosen[i].source]
	}
}

// say returns the sentence on one line, without citations of its own: they would name sources of this answer. A row of a
// table has the names of the columns before its cells.
func (s *sentence) say() string {
	text := listMark.ReplaceAllString(oneLine(s.text), "")
	if s.row {
		names, cells := cells(s.header), cells(s.text)
		var parts []string
		for i, c := range cells {
			if c != "" && i < len(names) && names[i] != "" && i > 0 {
				c = names[i] + ": " + c
			}
			if c != "" {
				parts = append(parts, c)
			}
		}
		text = oneLine(strings.Join(parts, "; "))
	}
	said, _ := cite.Clean(text, 0)
	return strings.TrimSpace(said)
}

// listMark is what stands before an item of a list or a quotation, and says nothing without the others: "- ", "1. ", "b) ",
// "3、", "- [x] ", "> ". A sign that a word follows without a blank belongs to it: "-5 °C", "**Note**".
var listMark = regexp.MustCompile(`^(?:(?:[-*+>|–—]|\(?[0-9]{1,3}[.)]|\(?(?:[a-zA-Z]|[ivx]{2,4})\)) +|[•·◦▪‣●○■□] *|[0-9一二三四五六七八九十]{1,3}、|[（(][0-9一二三四五六七八九十]{1,3}[）)])*(?:\[[ xX]\] )?`)

// cells returns the cells of a row of a Markdown table.
func cells(row string) []string {
	row = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(row), "|"), "|")
	list := strings.Split(strings.ReplaceAll(row, `\|`, "\x00"), "|")
	for i := range list {
		list[i] = strings.TrimSpace(strings.ReplaceAll(list[i], "\x00", "|"))
	}
	return list
}

// errNoReply is what a chat model that says nothing is answered with.
var errNoReply = errors.New("the chat model said nothing")

// oneLine returns a text on one line, without control characters and tags.
func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.Map(printable, lineEnds.Replace(s))), " ")
}

// lineEnds are what some program takes for the end of a line.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// printable drops control characters and tags.
func printable(r rune) rune {
	if r != '\t' && r != '\n' && unicode.IsControl(r) || r >= 0xE0000 && r <= 0xE007F {
		return -1
	}
	return r
}
