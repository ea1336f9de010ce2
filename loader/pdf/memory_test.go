package pdf

import (
	"bytes"
	"testing"

	"github.com/tetratelabs/wazero"
)

// Memory that grows step by step is never held in more than half of the bound beside the whole, and keeps what is in it.
func TestMemoryGrowsByDoubling(t *testing.T) {
	const page, pages = 64 << 10, 64
	m := &memory{most: pages * page}
	copies := 0
	for n := uint64(1); n <= pages; n++ {
		before := cap(m.bytes)
		b := m.Reallocate(n * page)
		if uint64(len(b)) != n*page || !bytes.Equal(b[len(b)-page:], make([]byte, page)) {
			t.Fatalf("%d pages: %d bytes, or not empty ones", n, len(b))
		}
		if grown := cap(m.bytes); grown != before {
			copies++
			if both := before + grown; both > pages*page*3/2 {
				t.Errorf("%d pages: %d bytes at once", n, both)
			}
		}
		b[len(b)-page] = byte(n)
		for k := range n {
			if b[k*page] != byte(k+1) {
				t.Fatalf("%d pages: page %d is lost", n, k)
			}
		}
		clear(b[(n-1)*page+1:])
	}
	if copies > 7 {
		t.Errorf("%d copies, want one for each doubling", copies)
	}
	if m.Reallocate(pages*page+1) != nil {
		t.Error("it grows beyond the bound")
	}
}

// The engine's runtime takes such memory, up to its limit.
func TestMemoryOfARuntime(t *testing.T) {
	ctx := withMemory(t.Context())
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithMemoryLimitPages(8))
	t.Cleanup(func() { _ = r.Close(ctx) })
	module := []byte("\x00asm\x01\x00\x00\x00" + "\x05\x03\x01\x00\x01" + "\x07\x05\x01\x01m\x02\x00") // one memory of a page, named m
	mod, err := r.Instantiate(ctx, module)
	if err != nil {
		t.Fatal(err)
	}
	mem := mod.Memory()
	mem.WriteByte(7, 42)
	if _, ok := mem.Grow(7); !ok {
		t.Fatal("it does not grow up to its limit")
	}
	if b, ok := mem.ReadByte(7); !ok || b != 42 {
		t.Errorf("what stood there is %d now", b)
	}
	if _, ok := mem.Grow(1); ok {
		t.Error("it grows beyond its limit")
	}
}
