package rag

import "encoding/json"

// answerJSON is the documented form of an answer; keys are stable.
type answerJSON struct {
	Question    string             `json:"question"`
	Intent      string             `json:"intent"`
	Answer      string             `json:"answer"`
	Mode        string             `json:"mode"`
	Refused     bool               `json:"refused"`
	Reason      string             `json:"reason"`
	Reliability string             `json:"reliability"`
	NeedsReview bool               `json:"needs_review"`
	Confidence  float64            `json:"confidence"`
	Verified    bool               `json:"verified"`
	Citations   []citationJSON     `json:"citations"`
	Rejected    []rejectedJSON     `json:"citations_rejected"`
	Sources     []answerSourceJSON `json:"sources"`
	Usage       ChatUsage          `json:"usage"`
	Timings     []timingJSON       `json:"timings"`
	TraceID     string             `json:"trace_id"`
	Notes       []Note             `json:"notes"`
	Steps       []answerStepJSON   `json:"steps,omitempty"`
}

type citationJSON struct {
	Marker  int    `json:"marker"`
	ChunkID string `json:"chunk_id"`
	URI     string `json:"uri"`
	Title   string `json:"title"`
	Page    *int   `json:"page"` // null if the format has no pages
	Quote   string `json:"quote"`
	Verdict string `json:"verdict"` // "" if it was not looked at
	Reason  string `json:"reason"`
}

type rejectedJSON struct {
	Marker string `json:"marker"`
	Reason string `json:"reason"`
}

type answerSourceJSON struct {
	Number   int      `json:"number"`
	ChunkID  string   `json:"chunk_id"`
	URI      string   `json:"uri"`
	Title    string   `json:"title"`
	Headings []string `json:"headings"`
	Page     *int     `json:"page"`
	Status   *string  `json:"status"` // null without a validity policy
	Score    float64  `json:"score"`
	Text     string   `json:"text"`
}

type timingJSON struct {
	Stage string  `json:"stage"`
	MS    float64 `json:"ms"`
}

type answerStepJSON struct {
	Action      string  `json:"action"`
	Arguments   string  `json:"args"`
	Observation string  `json:"observation"`
	MS          float64 `json:"ms"`
}

// MarshalJSON writes the object that `rag ask --json` prints. Lists are never null.
func (a Answer) MarshalJSON() ([]byte, error) {
	out := answerJSON{
		Question: a.Question, Intent: a.Intent, Answer: a.Text, Mode: a.Mode, Refused: a.Refused, Reason: a.Reason,
		Reliability: a.Reliability, NeedsReview: a.NeedsReview, Confidence: a.Confidence, Verified: a.Verified,
		Citations: make([]citationJSON, len(a.Citations)), Rejected: make([]rejectedJSON, len(a.Rejected)),
		Sources: make([]answerSourceJSON, len(a.Sources)), Usage: a.Usage, Timings: make([]timingJSON, len(a.Timings)),
		TraceID: a.TraceID, Notes: append([]Note{}, a.Notes...),
	}
	for i, c := range a.Citations {
		s, _ := a.Source(c.Marker)
		p := &s.Hit.Chunk
		out.Citations[i] = citationJSON{c.Marker, p.ID, p.URI, p.Title, jsonPage(p.Page), c.Quote, c.Verdict, c.Reason}
	}
	for i, r := range a.Rejected {
		out.Rejected[i] = rejectedJSON(r)
	}
	for i := range a.Sources {
		h := a.Sources[i].Hit.toJSON(i + 1)
		out.Sources[i] = answerSourceJSON{a.Sources[i].Number, h.ChunkID, h.URI, h.Title, h.Headings, h.Page, h.Status, h.Score, h.Text}
	}
	for i, t := range a.Timings {
		out.Timings[i] = timingJSON(t)
	}
	for _, s := range a.Steps {
		out.Steps = append(out.Steps, answerStepJSON{s.Action, s.Arguments, s.Observation, s.MS})
	}
	return json.Marshal(out)
}
