package pdf

import (
	"context"
	"runtime/debug"

	"github.com/tetratelabs/wazero/experimental"
)

// memoryStep is the least memory of an instance for which it is made sure, when it grows, that nothing else of the kind
// waits for the collector, in bytes. Real files stay below.
const memoryStep = 128 << 20

// withMemory has instances grow their memory by doubling it. The engine is given larger memory by copying, so that for
// a moment there are two of them: half of the bound and all of it at worst. As a slice grows, by a quarter, there would be
// nearly two of the largest, and many smaller ones that wait for the collector.
func withMemory(ctx context.Context) context.Context {
	return experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(func(least, most uint64) experimental.LinearMemory {
		return &memory{most: most, bytes: make([]byte, 0, least)}
	}))
}

// memory is that of one instance. It stays on Go's heap: a stopped instance may look at it for a moment after Free.
type memory struct {
	most  uint64
	bytes []byte
}

// Reallocate returns the memory with a new size, which is never below the old one.
func (m *memory) Reallocate(size uint64) []byte {
	if size > m.most {
		return nil
	}
	if size > uint64(cap(m.bytes)) {
		if size >= memoryStep {
			debug.FreeOSMemory()
		}
		grown := make([]byte, len(m.bytes), min(m.most, powerOfTwo(size)))
		copy(grown, m.bytes)
		m.bytes = grown
	}
	m.bytes = m.bytes[:size]
	return m.bytes
}

// Free lets the collector have the memory.
func (m *memory) Free() { m.bytes = nil }

// powerOfTwo is the least one that is not below n.
func powerOfTwo(n uint64) uint64 {
	p := uint64(1)
	for p < n {
		p *= 2
	}
	return p
}
