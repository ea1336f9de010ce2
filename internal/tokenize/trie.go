package tokenize

import (
	"bytes"
	"slices"
	"strings"
)

// trie finds the vocabulary entries that a text begins with. Nodes are numbered breadth first, so that the children
// of a node stand together and, the root being no child, the node that edge i leads to is i+1.
type trie struct {
	labels []byte   // of each edge
	first  []uint32 // first edge of each node, and the number of edges at the end
	ids    []int32  // of the entry that ends at each node; -1: none
	root   [256]uint32
}

// newTrie makes a trie of entries; that at index i has id i. Empty entries are left out. Of equal entries the last
// counts.
func newTrie(entries []string) *trie {
	order := make([]int32, 0, len(entries))
	size := 1
	for i, e := range entries {
		if e != "" {
			order = append(order, int32(i))
			size += len(e)
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		if c := strings.Compare(entries[a], entries[b]); c != 0 {
			return c
		}
		return int(a - b)
	})
	// A node is the entries that share its prefix: a range of order.
	type group struct{ from, to, depth int }
	queue := make([]group, 0, size/2)
	queue = append(queue, group{0, len(order), 0})
	t := &trie{}
	for n := 0; n < len(queue); n++ {
		g := queue[n]
		id := int32(-1)
		for g.from < g.to && len(entries[order[g.from]]) == g.depth {
			id = order[g.from]
			g.from++
		}
		t.ids = append(t.ids, id)
		t.first = append(t.first, uint32(len(t.labels)))
		for from := g.from; from < g.to; {
			label := entries[order[from]][g.depth]
			to := from + 1
			for to < g.to && entries[order[to]][g.depth] == label {
				to++
			}
			t.labels = append(t.labels, label)
			queue = append(queue, group{from, to, g.depth + 1})
			from = to
		}
	}
	t.first = append(t.first, uint32(len(t.labels)))
	for i, label := range t.labels[:t.first[1]] {
		t.root[label] = uint32(i) + 1
	}
	return t
}

// child returns the node that label leads to from node; 0 if none.
func (t *trie) child(node uint32, label byte) uint32 {
	if node == 0 {
		return t.root[label]
	}
	from := t.first[node]
	if i := bytes.IndexByte(t.labels[from:t.first[node+1]], label); i >= 0 {
		return from + uint32(i) + 1
	}
	return 0
}
