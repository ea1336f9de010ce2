package slab

// adviseHuge does nothing: the system has no such advice.
func adviseHuge([]byte) {}
