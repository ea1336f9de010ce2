package dashboard

// queryComparison is the page of two traces side by side.
type queryComparison struct {
	tryView
	traceComparison
	Rows []comparedHit `json:"rows"`
}

// comparedHit is a passage in the results of both.
type comparedHit struct {
	hitPair
	Passage passage `json:"passage"`
}

// title of the page.
func (c *queryComparison) title(r *request) string { return r.T("query_compare.title") }

// showQueryComparison compares the traces a and b, or those two that were picked from the list: the newer one stands first
// there, and is compared with the older one.
func (s *Server) showQueryComparison(r *request) (any, error) {
	a, b := r.param("a"), r.param("b")
	if picked := r.URL.Query()["id"]; a == "" && len(picked) == 2 {
		a, b = picked[1], picked[0]
	}
	if a == "" || b == "" {
		return nil, invalid(r.T("query.pick_two"))
	}
	first, _, err := s.getTrace(r, a)
	if err != nil {
		return nil, err
	}
	second, tried, err := s.getTrace(r, b)
	if err != nil {
		return nil, err
	}
	c := &queryComparison{traceComparison: compareTraces(first, second)}
	look := r.passages(second.Collection)
	for _, pair := range c.Hits {
		p, err := look.of(pair.ChunkID, pair.URI)
		if err != nil {
			return nil, err
		}
		c.Rows = append(c.Rows, comparedHit{pair, p})
	}
	again := tryFromTrace(second)
	if tried != nil {
		again = tried.form
	}
	again.Against = second.ID
	c.tryView, err = s.viewTry(r, again)
	return c, err
}
