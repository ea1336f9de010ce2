package hnsw

import (
	"math"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/seed-d8745b77/rag/internal/slab"
)

// nodes is the memory of a graph: lists of links in arrays by slot, without a pointer. Words that a search reads are
// read and written atomically, so that it needs no lock; a list that it meets half written leads to nodes all the same.
//
// Slots with equal vectors form one node: the first is its leader, which has the links, and the others are in a chain
// behind it. A thousand equal vectors linked to each other would be an island that no search leaves.
type nodes struct {
	m      int
	info   *slab.Rows    // by slot: a node
	base   *slab.Rows    // by slot: the links of the lowest layer, 2m words
	upper  *slab.Rows    // by block: the links of a higher layer, m words
	size   atomic.Int64  // slots that there is memory for
	blocks atomic.Uint32 // blocks used or free
	entry  atomic.Uint64 // where searches start: level<<32 | slot+1; 0 in an empty graph

	count int                    // leaders, dead ones among them
	free  [maxLevel + 1][]uint32 // runs of free blocks by length: the first of each
}

// node is what is known of a slot, besides its links. Links and slots are kept as slot+1, so that 0 is none.
type node struct {
	upper uint32        // first of as many blocks as the level says, for layers 1, 2, …; it is set before a link leads here
	next  atomic.Uint32 // in the chain of equal vectors
	state atomic.Uint32 // 0 if the slot is free, else a level above these bits:
}

const (
	used       = 1 << iota
	dead       // deleted, not freed yet
	follower   // in a chain behind a leader
	levelShift = 8
)

func (n *node) alive() bool  { return n.state.Load()&(used|dead) == used }
func (n *node) leader() bool { return n.state.Load()&(used|follower) == used }
func (n *node) level() int   { return int(n.state.Load() >> levelShift) }

const (
	wordSize = 4
	infoSize = int(unsafe.Sizeof(node{}))
)

func newNodes(m int) *nodes {
	return &nodes{m: m, info: slab.NewRows(infoSize), base: slab.NewRows(2 * m * wordSize), upper: slab.NewRows(m * wordSize)}
}

func (n *nodes) bytes() int64 {
	return n.size.Load()*int64(infoSize+2*n.m*wordSize) + int64(n.blocks.Load())*int64(n.m*wordSize)
}

func (n *nodes) close() error {
	var first error
	for _, rows := range []*slab.Rows{n.info, n.base, n.upper} {
		if err := rows.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// grow makes room for slots below size.
func (n *nodes) grow(size int) error {
	if int64(size) <= n.size.Load() {
		return nil
	}
	if err := n.info.Grow(size); err != nil {
		return err
	}
	if err := n.base.Grow(size); err != nil {
		return err
	}
	n.size.Store(int64(size))
	return nil
}

// of returns what is known of a slot, which there must be memory for.
func (n *nodes) of(slot uint32) *node { return (*node)(n.info.Row(slot)) }

// links returns the list of a leader on a layer, up to its level: links from the front, then zeros.
func (n *nodes) links(slot uint32, layer int) []atomic.Uint32 {
	if layer == 0 {
		return unsafe.Slice((*atomic.Uint32)(n.base.Row(slot)), 2*n.m)
	}
	return unsafe.Slice((*atomic.Uint32)(n.upper.Row(n.of(slot).upper+uint32(layer-1))), n.m)
}

// width is how many links a list of a layer holds.
func (n *nodes) width(layer int) int {
	if layer == 0 {
		return 2 * n.m
	}
	return n.m
}

// neighbours appends the slots that a list leads to.
func (n *nodes) neighbours(slot uint32, layer int, out []uint32) []uint32 {
	list := n.links(slot, layer)
	for i := range list {
		link := list[i].Load()
		if link == 0 {
			break
		}
		out = append(out, link-1)
	}
	return out
}

// setLinks writes a list.
func (n *nodes) setLinks(slot uint32, layer int, to []key) {
	list := n.links(slot, layer)
	for i := range list {
		if i < len(to) {
			list[i].Store(to[i].slot() + 1)
		} else {
			list[i].Store(0)
		}
	}
}

// top returns where searches start, and the highest layer.
func (n *nodes) top() (slot uint32, level int, ok bool) {
	e := n.entry.Load()
	return uint32(e) - 1, int(e >> 32), e != 0
}

func (n *nodes) setTop(slot uint32, level int) { n.entry.Store(uint64(level)<<32 | uint64(slot+1)) }

// claim makes a free slot a leader without links.
func (n *nodes) claim(slot uint32, level int) error {
	node := n.of(slot)
	if level > 0 {
		first, err := n.takeBlocks(level)
		if err != nil {
			return err
		}
		node.upper = first
	}
	node.next.Store(0)
	node.state.Store(used | uint32(level)<<levelShift)
	for layer := range level + 1 {
		n.setLinks(slot, layer, nil)
	}
	n.count++
	return nil
}

// follow puts a free slot behind the leader whose vector it has.
func (n *nodes) follow(slot, leader uint32) {
	node, head := n.of(slot), n.of(leader)
	node.next.Store(head.next.Load())
	node.state.Store(used | follower)
	head.next.Store(slot + 1)
}

// release frees a slot that nothing leads to.
func (n *nodes) release(slot uint32) {
	node := n.of(slot)
	if node.leader() {
		if level := node.level(); level > 0 {
			n.free[level] = append(n.free[level], node.upper)
		}
		n.count--
	}
	node.upper = 0
	node.next.Store(0)
	node.state.Store(0)
}

// takeBlocks returns the first of a run of blocks.
func (n *nodes) takeBlocks(length int) (uint32, error) {
	if runs := n.free[length]; len(runs) > 0 {
		n.free[length] = runs[:len(runs)-1]
		return runs[len(runs)-1], nil
	}
	first := n.blocks.Load()
	if err := n.upper.Grow(int(first) + length); err != nil {
		return 0, err
	}
	n.blocks.Store(first + uint32(length))
	return first, nil
}

// levelOf returns a slot's level: exponentially distributed, 1/m of the slots of a layer are on the next. It depends on
// nothing but the slot and the seed, so that the order of additions does not matter to it.
func levelOf(slot uint32, seed uint64, m int) int {
	// The finaliser of SplitMix64 (G. Steele et al., "Fast splittable pseudorandom number generators", 2014).
	z := seed + (uint64(slot)+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	uniform := (float64(z>>11) + 1) / (1 << 53) // above 0, up to 1
	return min(maxLevel, int(-math.Log(uniform)/math.Log(float64(m))))
}

// leaders returns the slots that have links, in order, if keep says so.
func (n *nodes) leaders(keep func(slot uint32) bool) []uint32 {
	var all []uint32
	for slot := range uint32(n.size.Load()) {
		if n.of(slot).leader() && keep(slot) {
			all = append(all, slot)
		}
	}
	return slices.Clip(all)
}
