package hnsw

// spread says how much nearer a candidate must be to one chosen before than to the node, to be left out: by its distance,
// one less the cosine. A little more than 1 keeps a few longer links, so that a search needs fewer steps for the same
// recall, and deletions leave more ways around (S. J. Subramanya et al., "DiskANN", NeurIPS 2019, α of Algorithm 2).
const spread = 1.1

// choose returns up to m of some candidates for the links of a node, all with their scores to it, best first
// (Algorithm 4): those that are not crowded by one chosen before, so that the links lead in different directions. The
// result is valid until the next call.
func (w *worker) choose(candidates []key, m int) []key {
	w.chosen = w.chosen[:0]
	for _, c := range candidates {
		if len(w.chosen) == m {
			break
		}
		if !w.crowded(c) {
			w.chosen = append(w.chosen, c)
		}
	}
	return w.chosen
}

// crowdStep is how many vectors are compared before looking whether one of them decides: what the kernels take at once.
const crowdStep = 4

// crowded reports whether one of those chosen is too near to a candidate.
func (w *worker) crowded(c key) bool {
	w.vectors.PrepareSlot(c.slot(), &w.query)
	limit := 1 - (1-c.score())/spread
	for rest := w.chosen; len(rest) > 0; {
		step := rest[:min(crowdStep, len(rest))]
		rest = rest[len(step):]
		w.slots = w.slots[:0]
		for _, k := range step {
			w.slots = append(w.slots, k.slot())
		}
		for _, s := range w.score(&w.query) {
			if s > limit {
				return true
			}
		}
	}
	return false
}
