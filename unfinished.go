package rag

// Runs that change a collection's indexes. While one is under way its name stands in the collection's header; if it is
// there afterwards, the run was cut short.
const (
	RunIngest  = "ingest"
	RunDelete  = "delete"
	RunReindex = "reindex"
	RunCopy    = "copy"
)

// begin marks the header before the first write of a run. What an earlier one left unfinished keeps its name.
func (h *Header) begin(run string) {
	if !h.Dirty {
		h.Dirty, h.Run = true, run
	}
}

// settle takes the mark away: the indexes hold what the catalog says.
func (h *Header) settle() { h.Dirty, h.Run, h.Pending, h.Touched = false, "", nil, nil }
