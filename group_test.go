package rag

// SetGroupDocs makes an ingest write this many documents in a transaction at most, until it is set back.
func SetGroupDocs(n int) (back func()) {
	before := groupDocs
	groupDocs = n
	return func() { groupDocs = before }
}
