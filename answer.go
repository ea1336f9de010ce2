package rag

import "context"

// Answer is what was found out about a question. A refusal is an answer too: Refused is set, and Reason says why.
type Answer struct {
	Question   string
	Collection string
	Intent     string // what a router made of the question: "search", "chat", …; "" without one
	Text       string // with markers [1] to [n], each of which names a source below
	Mode       string // one of the Answer constants: how the text was made

	// Three things that say nothing about one another.
	Refused     bool   // no answer: Text says so, Sources are the nearest there are
	Reliability string // Reliable, ToVerify or NoAnswer: how sure the evidence makes the answer
	NeedsReview bool   // a source cited is not known to be in force

	Reason     string             // of the refusal, or of the reliability where that is not Reliable
	Confidence float64            // estimated chance that the sources answer the question, 0 to 1
	Verified   bool               // every citation was looked at and found to support its sentence
	Citations  []Citation         // in the order in which they stand in Text
	Rejected   []RejectedCitation // markers taken out of the text
	Sources    []AnswerSource     // all passages the answer was made from, by number
	Usage      ChatUsage
	Timings    []Timing // stages in order, milliseconds
	Notes      []Note   // where less was done than was asked
	TraceID    string
	Steps      []AnswerStep // what an agent did; nil without one
}

// Ways in which the text of an answer is made.
const (
	AnswerExtractive = "extractive" // sentences of the sources, word by word
	AnswerGenerated  = "generated"  // by a chat model, from the sources
	AnswerAgent      = "agent"      // by a chat model that searched by itself
	AnswerChat       = "chat"       // no sources: small talk
)

// Values of [Answer].Reliability.
const (
	Reliable = "RELIABLE"
	ToVerify = "TO VERIFY"
	NoAnswer = "NO ANSWER"
)

// AnswerSource is a passage that an answer was made from.
type AnswerSource struct {
	Number int // the n of the marker [n], from 1
	Hit    Hit
}

// Source returns the source of this number; ok is false if there is none.
func (a Answer) Source(number int) (s AnswerSource, ok bool) {
	for _, s := range a.Sources {
		if s.Number == number {
			return s, true
		}
	}
	return AnswerSource{}, false
}

// Outcome is what a trace tells of the answer.
func (a Answer) Outcome() *AnswerTrace {
	out := &AnswerTrace{
		Mode: a.Mode, Reliability: a.Reliability, Refused: a.Refused, Reason: a.Reason, Confidence: a.Confidence,
		Verified: a.Verified, Usage: a.Usage, Text: a.Text,
	}
	for _, c := range a.Citations {
		source, _ := a.Source(c.Marker)
		out.Citations = append(out.Citations, CitationTrace{c.Marker, source.Hit.Chunk.ID, c.Verdict, c.Claim})
	}
	return out
}

// Citation is a marker in the text of an answer.
type Citation struct {
	Marker     int    // its number, of an AnswerSource
	Start, End int    // bytes of Answer.Text: where the marker stands
	Claim      string // the sentence that the marker stands by, without markers
	Quote      string // the sentence of the source that is closest to the claim, word by word
	Verdict    string // VerdictSupported, VerdictUnsupported; "" if it was not looked at
	Reason     string // of the verdict
}

// Verdicts on a citation.
const (
	VerdictSupported   = "supported"
	VerdictUnsupported = "unsupported"
)

// RejectedCitation is a marker that was taken out of the text.
type RejectedCitation struct {
	Marker string // as it was written: "[7]", "【9】"
	Reason string // "there are 4 sources"
}

// Timing is how long a stage of an answer took.
type Timing struct {
	Stage string
	MS    float64 // milliseconds
}

// AnswerStep is something an agent did on the way to its answer.
type AnswerStep struct {
	Action      string  // name of a tool, "answer" or "verify"
	Arguments   string  // as JSON
	Observation string  // the beginning of what came of it
	StartMS     float64 // when it began, from the agent's start
	MS          float64
}

// Claim is a sentence of an answer with the passage that it cites.
type Claim struct {
	Text    string // the sentence, without markers
	Passage string // text of the source
}

// Verdict says whether a passage supports a claim.
type Verdict struct {
	Supported bool
	Reason    string // one sentence
}

// Verifier judges whether passages support what is said of them. Merely mentioning the subject, vagueness and contradiction
// are no support.
type Verifier interface {
	// Verify returns one verdict per claim, in order.
	Verify(ctx context.Context, claims []Claim) ([]Verdict, error)
}
