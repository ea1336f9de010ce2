package dashboard

import (
	"github.com/seed-d8745b77/rag"
)

// target is what somebody misses in a result: one of its fields is set.
type target struct {
	Chunk    string `json:"chunk,omitempty"`    // ID of a passage
	Text     string `json:"text,omitempty"`     // words of it
	Document string `json:"document,omitempty"` // URI, or its end
}

// explanationView is what became of passages in a search.
type explanationView struct {
	tryView
	Explanations []explained `json:"explanations"` // none: nothing was asked yet
}

// explained is what became of one passage.
type explained struct {
	*rag.Explanation
	Passage passage `json:"passage"`
}

// title of the page.
func (*explanationView) title(r *request) string { return r.T("query_explain.title") }

// showExplanation runs the question of the URL, and follows a passage through it.
func (s *Server) showExplanation(r *request) (any, error) {
	f := readTryForm(r.URL.Query())
	v := &explanationView{Explanations: []explained{}}
	var err error
	if v.tryView, err = s.viewTry(r, f); err != nil {
		return nil, err
	}
	v.Target = target{r.param("chunk"), r.param("text"), r.param("document")}
	if f.Question == "" || v.Target == (target{}) {
		return v, nil
	}
	q, err := f.query()
	if err != nil {
		return nil, err
	}
	x, err := s.eng.Explain(r.Context(), q, rag.ExplainTarget{ChunkID: v.Target.Chunk, Text: v.Target.Text, URI: v.Target.Document, Answer: f.Answer})
	if err != nil {
		return nil, err
	}
	p, err := r.passages(x.Collection).of(x.ChunkID, x.URI)
	v.Explanations = append(v.Explanations, explained{x, p})
	return v, err
}
