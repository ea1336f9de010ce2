package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/cite"
	"github.com/seed-d8745b77/rag/internal/prompt"
)

// judge makes the answer of a candidate: citations in one form, each with the sentence it stands by and a verdict. It
// returns what is to be corrected; nothing is hidden if it is not.
func (r *run) judge(ctx context.Context, candidate string, round int) []string {
	a := r.answer
	a.Mode, a.Refused, a.Reason, a.Verified = rag.AnswerAgent, false, "", false
	a.Sources = r.table.sources
	if reason, refused := refusal(candidate); refused {
		r.refuse(reason)
		return nil
	}
	start := r.config.Now()
	a.Text, a.Rejected = readCitations(candidate, len(r.table.sources))
	r.step("answer", "{}", a.Text, start)
	a.Citations = r.citations(a.Text)
	problems := r.verify(ctx, round)
	for _, rejected := range a.Rejected {
		problems = append(problems, fmt.Sprintf("%s names no source: %s", rejected.Marker, rejected.Reason))
	}
	uncited := uncitedSentences(a.Text)
	for _, sentence := range uncited {
		problems = append(problems, fmt.Sprintf("%q cites no source", prompt.Visible(sentence)))
	}
	r.grade(len(uncited))
	return problems
}

// longestReason is how many bytes of a verifier's reason a model is told: it can hold words of a passage.
const longestReason = 300

func readCitations(candidate string, sources int) (string, []rag.RejectedCitation) {
	text, rejected := cite.Clean(candidate, sources)
	var out []rag.RejectedCitation
	for _, x := range rejected {
		out = append(out, rag.RejectedCitation{Marker: x.Marker, Reason: x.Reason})
	}
	return strings.TrimSpace(text), out
}

// citations reads the markers of a cleaned text.
func (r *run) citations(text string) []rag.Citation {
	var out []rag.Citation
	markers := cite.Markers(text)
	claims := cite.Claims(text, markers)
	listed := cite.Listed(text, markers, r.table.names())
	for i, m := range markers {
		s, ok := r.table.source(m.Number)
		if !ok || listed[i] {
			continue // Clean has taken those out that there are not, and a list of sources claims nothing
		}
		claim, passage := claims[i], s.Hit.Chunk.Text
		quote := cite.Closest(claim, passage)
		out = append(out, rag.Citation{Marker: m.Number, Start: m.Start, End: m.End, Claim: claim, Quote: passage[quote.Start:quote.End]})
	}
	return out
}

// verify has every citation judged, and returns those that nothing supports. A verifier that fails leaves them without a
// verdict, and the answer says so.
func (r *run) verify(ctx context.Context, round int) []string {
	a := r.answer
	if len(a.Citations) == 0 {
		return nil
	}
	if r.config.Verifier == nil {
		r.note(rag.Note{Stage: stageVerify, Reason: "the citations were not looked at: there is no verifier"})
		return nil
	}
	if !r.began(stageVerify) {
		return nil
	}
	start := r.config.Now()
	claims := make([]rag.Claim, len(a.Citations))
	for i, c := range a.Citations {
		claims[i] = rag.Claim{Text: c.Claim, Passage: evidence(&r.table.sources[c.Marker-1].Hit.Chunk)}
	}
	verdicts, err := r.config.Verifier.Verify(ctx, claims)
	if err == nil && len(verdicts) != len(claims) {
		err = fmt.Errorf("the verifier gave %d verdicts for %d claims: %w", len(verdicts), len(claims), rag.ErrInvalid)
	}
	if err != nil {
		r.noteStop("the citations were not looked at", r.whyNot(ctx, err))
		return nil
	}
	var problems, seen []string
	for i, v := range verdicts {
		c := &a.Citations[i]
		c.Verdict, c.Reason = rag.VerdictUnsupported, v.Reason
		if v.Supported {
			c.Verdict = rag.VerdictSupported
		} else {
			problems = append(problems, fmt.Sprintf("[%d] does not support %q: %q", c.Marker, prompt.Visible(c.Claim), prompt.Line(v.Reason, longestReason)))
		}
		seen = append(seen, fmt.Sprintf("[%d] %s: %s", c.Marker, c.Verdict, v.Reason))
	}
	r.step(stageVerify, fmt.Sprintf(`{"round":%d}`, round), strings.Join(seen, "; "), start)
	return problems
}

// shortSentence is how many words, or characters of a script without blanks, a sentence has that need not be cited: "Yes."
const shortSentence = 5

// uncitedSentences are the sentences of a text that state something and have no citation. One that ends in a colon or a
// question mark only leads to others.
func uncitedSentences(text string) []string {
	markers := cite.Markers(text)
	var out []string
	for _, s := range cite.Sentences(text) {
		sentence := strings.TrimSpace(text[s.Start:s.End])
		cited := slices.ContainsFunc(markers, func(m cite.Marker) bool { return s.Start <= m.Start && m.Start < s.End })
		if !cited && len(splitTalk(sentence)) >= shortSentence && !strings.HasSuffix(sentence, ":") && !strings.HasSuffix(sentence, "：") && !strings.HasSuffix(sentence, "?") {
			out = append(out, sentence)
		}
	}
	return out
}

// grade says how far the answer can be relied on: as far as each citation was looked at and supports its sentence, and no
// sentence is without.
func (r *run) grade(uncited int) {
	a := r.answer
	supported := 0
	for _, c := range a.Citations {
		if c.Verdict == rag.VerdictSupported {
			supported++
		}
		a.NeedsReview = a.NeedsReview || needsReview(r.table.sources[c.Marker-1].Hit.Status)
	}
	a.Verified = supported > 0 && supported == len(a.Citations)
	a.Reliability, a.Reason, a.Confidence = rag.ToVerify, "", 0
	switch total := len(a.Citations); {
	case total == 0:
		a.Reason = "it cites no source"
	case a.Verified && uncited == 0:
		a.Reliability, a.Confidence = rag.Reliable, 1
	case a.Verified:
		a.Confidence = float64(total) / float64(total+uncited)
		a.Reason = fmt.Sprintf("sentences without a source: %d", uncited)
	case supported == 0 && a.Citations[0].Verdict == "":
		a.Reason = "its citations were not looked at"
	default:
		a.Confidence = float64(supported) / float64(total)
		a.Reason = fmt.Sprintf("%d of %d citations are not supported by their source", total-supported, total)
	}
}

// refuse makes the answer a refusal. What was found is given with it.
func (r *run) refuse(reason string) {
	a := r.answer
	a.Mode, a.Refused, a.Reason, a.Reliability = rag.AnswerAgent, true, reason, rag.NoAnswer
	a.Text, a.Sources, a.Citations, a.Rejected = speak(r.question).unknown, r.table.sources, nil, nil
	a.Verified, a.NeedsReview, a.Confidence = false, false, 0
}

// refusals begin a reply that is no answer, folded.
var refusals = []string{"no answer", "i don't know", "i do not know", "je ne sais pas", "ich weiss es nicht", "das weiss ich nicht", "no lo se", "我不知道", "无法回答"}

// refusal reports whether a model says that it has no answer, and why.
func refusal(candidate string) (reason string, refused bool) {
	folded := readText(strings.TrimLeft(candidate, " *_#\"'")).folded
	for _, opening := range refusals {
		if strings.HasPrefix(folded, opening) && len(cite.Markers(candidate)) == 0 {
			_, reason, ok := strings.Cut(candidate, ":")
			if reason = strings.TrimSpace(reason); !ok || reason == "" || opening != "no answer" {
				reason = "the agent found no answer in the documents"
			}
			return reason, true
		}
	}
	if strings.TrimSpace(candidate) == "" {
		return "the model gave an empty answer", true
	}
	return "", false
}

// needsReview reports whether a source is not known to be in force, where that was asked.
func needsReview(status string) bool { return status != "" && status != rag.StatusCurrent }
