package hnsw

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/seed-d8745b77/rag/internal/slab"
)

// fileMagic begins a file, in the byte order of the machine that wrote it, as all that follows. The last byte is the
// format's version.
const fileMagic = uint32('h')<<24 | uint32('n')<<16 | uint32('s')<<8 | 1

// header is what a file begins with. Behind it are the nodes, the lists of the lowest layer, those of the higher ones,
// each as in memory, and a checksum.
type header struct {
	Magic, M, Size, Blocks uint32
	Seed, Entry            uint64
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// WriteTo writes the graph, without the vectors, with a checksum at the end; [Read] reads it on machines of the same
// byte order. Changes wait meanwhile.
func (g *Graph) WriteTo(w io.Writer) (int64, error) {
	g.changes.Lock()
	defer g.changes.Unlock()
	n := g.nodes.Load()
	if n == nil {
		return 0, ErrClosed
	}
	sum := crc32.New(castagnoli)
	out := io.MultiWriter(w, sum)
	h := header{fileMagic, uint32(n.m), uint32(n.size.Load()), n.blocks.Load(), g.config.Seed, n.entry.Load()}
	if err := binary.Write(out, binary.NativeEndian, h); err != nil {
		return 0, err
	}
	wrote := int64(binary.Size(h))
	for _, part := range n.parts(h) {
		err := part.rows.Pieces(part.count, func(piece []byte) error {
			k, err := out.Write(piece)
			wrote += int64(k)
			return err
		})
		if err != nil {
			return wrote, err
		}
	}
	return wrote + crc32.Size, binary.Write(w, binary.NativeEndian, sum.Sum32())
}

// part is an array and how many rows of it a file has.
type part struct {
	rows  *slab.Rows
	count int
}

func (n *nodes) parts(h header) []part {
	return []part{{n.info, int(h.Size)}, {n.base, int(h.Size)}, {n.upper, int(h.Blocks)}}
}

// Read reads what [Graph.WriteTo] wrote, for a slab that has the same vectors in the same slots. M and the seed of the
// configuration must be those that the graph was built with. An error may be of the kind [ErrCorrupt].
func Read(r io.Reader, vectors *slab.Slab, c Config) (*Graph, error) {
	g := New(vectors, c)
	sum := crc32.New(castagnoli)
	in := io.TeeReader(r, sum)
	var h header
	if err := binary.Read(in, binary.NativeEndian, &h); err != nil {
		return nil, corrupt(err)
	}
	switch {
	case h.Magic != fileMagic:
		return nil, fmt.Errorf("header %08x: %w", h.Magic, ErrCorrupt)
	case h.M != uint32(g.config.M) || h.Seed != g.config.Seed:
		return nil, fmt.Errorf("graph with M %d and seed %x, want %d and %x", h.M, h.Seed, g.config.M, g.config.Seed)
	case int64(h.Size) > int64(vectors.Len()):
		return nil, fmt.Errorf("graph of %d slots over %d vectors", h.Size, vectors.Len())
	case h.Blocks > slab.MaxRows:
		return nil, fmt.Errorf("%d blocks: %w", h.Blocks, ErrCorrupt)
	}
	n := g.nodes.Load()
	if err := n.read(r, in, sum.Sum32, h); err != nil {
		return nil, errors.Join(err, n.close())
	}
	report := n.checkLinks()
	if len(report.Broken) > 0 {
		return nil, errors.Join(fmt.Errorf("%s: %w", report.Broken[0], ErrCorrupt), n.close())
	}
	g.live.Store(int64(report.Live))
	g.dead.Store(int64(report.Dead))
	return g, nil
}

// read reads what is behind the header: through in, what sum is of, and the checksum itself from r.
func (n *nodes) read(r, in io.Reader, sum func() uint32, h header) error {
	for _, part := range n.parts(h) {
		if err := part.rows.Fill(in, part.count); err != nil {
			return corrupt(err)
		}
	}
	want := sum()
	var got uint32
	if err := binary.Read(r, binary.NativeEndian, &got); err != nil {
		return corrupt(err)
	}
	if got != want {
		return fmt.Errorf("checksum %08x, want %08x: %w", want, got, ErrCorrupt)
	}
	n.size.Store(int64(h.Size))
	n.blocks.Store(h.Blocks)
	n.entry.Store(h.Entry)
	return n.adoptBlocks()
}

// adoptBlocks finds out which blocks are used, after reading; each must belong to one node.
func (n *nodes) adoptBlocks() error {
	var taken bits
	for slot := range uint32(n.size.Load()) {
		node := n.of(slot)
		state := node.state.Load()
		leader := state&(used|follower) == used
		if state != 0 && state&used == 0 || state>>levelShift > maxLevel || state&(1<<levelShift-1)&^(used|dead|follower) != 0 {
			return fmt.Errorf("slot %d has state %x: %w", slot, state, ErrCorrupt)
		}
		if !leader {
			continue
		}
		n.count++
		for block := uint64(node.upper); block < uint64(node.upper)+uint64(node.level()); block++ {
			if block >= uint64(n.blocks.Load()) || !taken.add(uint32(block)) {
				return fmt.Errorf("slot %d has block %d: %w", slot, block, ErrCorrupt)
			}
		}
	}
	for block := range n.blocks.Load() {
		if !taken.has(block) {
			n.free[1] = append(n.free[1], block)
		}
	}
	return nil
}

// corrupt gives an error of reading its kind.
func corrupt(err error) error { return fmt.Errorf("%w: %w", ErrCorrupt, err) }
