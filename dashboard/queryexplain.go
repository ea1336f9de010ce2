package dashboard

import (
	"strconv"

	"github.com/seed-d8745b77/rag"
)

// target is what somebody misses in a result: one of its fields is set.
type target struct {
	Chunk    string `json:"chunk,omitempty"`    // ID of a passage
	Text     string `json:"text,omitempty"`     // words of it
	Document string `json:"document,omitempty"` // URI, or its end
}

// explanationView is what became of a passage in a search.
type explanationView struct {
	tryView
	Explanation *rag.Explanation `json:"explanation"` // nil: nothing was asked yet
	Passage     passage          `json:"passage"`
	Retry       string           `json:"-"` // address of the form with the changes made; "": there are none that the form can make
	Others      []passageFate    `json:"-"` // the passages of its document, where that was asked for
}

// passageFate is what became of one passage of a document.
type passageFate struct {
	rag.PassageFate
	Passage passage
}

// title of the page.
func (*explanationView) title(r *request) string { return r.T("query_explain.title") }

// showExplanation runs the question of the URL, and follows a passage through it; of a document, the one that came furthest.
func (s *Server) showExplanation(r *request) (any, error) {
	f := readTryForm(r.URL.Query())
	v := &explanationView{}
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
	v.Explanation, err = s.eng.Explain(r.Context(), q, rag.ExplainTarget{
		ChunkID: v.Target.Chunk, Text: v.Target.Text, URI: v.Target.Document, Answer: f.Answer && ownHand(r),
	})
	if err != nil {
		return nil, err
	}
	if again, ok := f.with(v.Explanation.Remedies, q); ok {
		v.Retry = withQuery(queryPath, again.values()) + "#try"
	}
	look := r.passages(v.Explanation.Collection)
	if v.Passage, err = look.of(v.Explanation.ChunkID, v.Explanation.URI); err != nil {
		return nil, err
	}
	for _, fate := range v.Explanation.Passages {
		p, err := look.of(fate.ChunkID, v.Explanation.URI)
		if err != nil {
			return nil, err
		}
		v.Others = append(v.Others, passageFate{fate, p})
	}
	return v, nil
}

// with returns the form with changes to its query made; ok is false where it has no field for one, or there is none.
func (f tryForm) with(changes []rag.Remedy, q rag.Query) (again tryForm, ok bool) {
	for _, c := range changes {
		switch c.Setting {
		case rag.RemedyTopK, rag.RemedyFilter, rag.RemedyMode:
			c.Apply(&q)
		default:
			return f, false
		}
	}
	if q.TopK > maxTriedTopK {
		return f, false
	}
	if q.TopK > 0 {
		f.TopK = strconv.Itoa(q.TopK)
	}
	if f.Mode, f.Filter = string(q.Mode), ""; !q.Filter.IsZero() {
		f.Filter = q.Filter.String()
	}
	return f, len(changes) > 0
}

// ownHand reports whether no other site made a request, as far as the browser tells. An explanation that follows a passage
// into an answer may cost a chat model's time, and is a page with an address all the same.
func ownHand(r *request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "" || site == "none" || site == "same-origin"
}
