package dashboard

import (
	"slices"

	"github.com/seed-d8745b77/rag"
)

// answerView is an answer as far as it is known: whole if it was just tried, else what its trace keeps.
type answerView struct {
	Mode        string         `json:"mode"`
	Text        string         `json:"text,omitempty"`
	Pieces      []answerPiece  `json:"-"` // the text, cut at its citations; nil: they are not known
	Reliability string         `json:"reliability"`
	Refused     bool           `json:"refused"`
	Reason      string         `json:"reason,omitempty"`
	Confidence  float64        `json:"confidence"`
	Verified    bool           `json:"verified"`
	NeedsReview bool           `json:"needs_review,omitempty"`
	Citations   []citationView `json:"citations"`
	Rejected    []string       `json:"rejected,omitempty"` // markers that were taken out of the text
}

// answerPiece is a part of an answer's text: a marker, or what stands between two.
type answerPiece struct {
	Text    string
	Marker  int // 0: none
	ChunkID string
	Verdict string
}

// citationView is a citation.
type citationView struct {
	Marker  int     `json:"marker"`
	Claim   string  `json:"claim,omitempty"`
	Quote   string  `json:"quote,omitempty"`
	Verdict string  `json:"verdict,omitempty"` // "": it was not looked at
	Reason  string  `json:"reason,omitempty"`
	Passage passage `json:"passage"`
}

// Kind is that of the badge of the verdict.
func (c citationView) Kind() string {
	switch c.Verdict {
	case rag.VerdictSupported:
		return "ok"
	case rag.VerdictUnsupported:
		return "bad"
	}
	return "off"
}

// Kind is that of the badge of the reliability.
func (a answerView) Kind() string {
	switch a.Reliability {
	case rag.Reliable:
		return "ok"
	case rag.NoAnswer:
		return "bad"
	}
	return "warn"
}

// viewAnswer shows the answer of a trace; nil if there is none.
func (s *Server) viewAnswer(look *passages, t *rag.Trace, tried *tried) (*answerView, error) {
	if tried != nil && tried.answer != nil {
		return viewWhole(look, tried.answer)
	}
	if t.Answer == nil {
		return nil, nil
	}
	a := t.Answer
	v := &answerView{Mode: a.Mode, Text: a.Text, Reliability: a.Reliability, Refused: a.Refused, Reason: a.Reason, Confidence: a.Confidence, Verified: a.Verified, Citations: []citationView{}}
	for _, c := range a.Citations {
		p, err := look.of(c.ChunkID, "")
		if err != nil {
			return nil, err
		}
		v.Citations = append(v.Citations, citationView{Marker: c.Marker, Claim: c.Claim, Verdict: c.Verdict, Passage: p})
	}
	return v, nil
}

// viewWhole shows an answer with its text cut at the citations.
func viewWhole(look *passages, a *rag.Answer) (*answerView, error) {
	v := &answerView{
		Mode: a.Mode, Text: a.Text, Reliability: a.Reliability, Refused: a.Refused, Reason: a.Reason, Confidence: a.Confidence,
		Verified: a.Verified, NeedsReview: a.NeedsReview, Citations: []citationView{},
	}
	for _, r := range a.Rejected {
		v.Rejected = append(v.Rejected, r.Marker+": "+r.Reason)
	}
	at := 0
	for _, c := range a.Citations {
		source, ok := a.Source(c.Marker)
		if !ok || c.Start < at || c.End > len(a.Text) {
			continue
		}
		p, err := look.of(source.Hit.Chunk.ID, source.Hit.Chunk.URI)
		if err != nil {
			return nil, err
		}
		v.Citations = append(v.Citations, citationView{c.Marker, c.Claim, c.Quote, c.Verdict, c.Reason, p})
		v.Pieces = append(v.Pieces, answerPiece{Text: a.Text[at:c.Start]}, answerPiece{a.Text[c.Start:c.End], c.Marker, source.Hit.Chunk.ID, c.Verdict})
		at = c.End
	}
	v.Pieces = append(v.Pieces, answerPiece{Text: a.Text[at:]})
	v.Pieces = slices.DeleteFunc(v.Pieces, func(p answerPiece) bool { return p.Text == "" })
	return v, nil
}
