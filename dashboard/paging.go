package dashboard

// pageSize is the number of rows of a page.
const pageSize = 50

// pager leads to the pages before and behind one of a list by cursors: a page begins behind the last row of the one before, so
// none is counted off from the first. A URL of "" is no page.
type pager struct {
	First string `json:"first,omitempty"` // URL of the first page; "" on it
	Next  string `json:"next,omitempty"`  // URL of the next page; "" on the last
}

// pagerAfter makes the pager of a page whose cursor is the parameter "after" of the request; last is the cursor of its last row.
func (r *request) pagerAfter(last string, more bool) pager {
	var p pager
	if r.param("after") != "" {
		p.First = r.here("after", "")
	}
	if more {
		p.Next = r.here("after", last)
	}
	return p
}
