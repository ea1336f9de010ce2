package hnsw

// choose returns up to m of some candidates for the links of a node, all with their scores to it, best first
// (Algorithm 4): those that are nearer to the node than to each one chosen before, so that the links lead in different
// directions. The result is valid until the next call.
func (w *worker) choose(candidates []key, m int) []key {
	w.chosen, w.spare = w.chosen[:0], w.spare[:0]
	if len(candidates) <= 1 {
		return candidates
	}
	for _, c := range candidates {
		if len(w.chosen) == m {
			break
		}
		if w.crowded(c) {
			w.spare = append(w.spare, c)
		} else {
			w.chosen = append(w.chosen, c)
		}
	}
	return w.chosen
}

// crowdStep is how many vectors are compared before looking whether one of them decides: what the kernels take at once.
const crowdStep = 4

// crowded reports whether one of those chosen is nearer to a candidate than the node is that chooses.
func (w *worker) crowded(c key) bool {
	w.vectors.PrepareSlot(c.slot(), &w.query)
	score := c.score()
	for rest := w.chosen; len(rest) > 0; {
		step := rest[:min(crowdStep, len(rest))]
		rest = rest[len(step):]
		w.slots = w.slots[:0]
		for _, k := range step {
			w.slots = append(w.slots, k.slot())
		}
		for _, s := range w.score(&w.query) {
			if s > score {
				return true
			}
		}
	}
	return false
}
