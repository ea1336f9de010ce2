package boltkv

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// errNotOurs is a database whose writer did not keep a list of free pages: a setting that is never used here, and with
// which opening would write.
var errNotOurs = errors.New("no list of free pages")

// maxDepth bounds the tree: with two keys a page, 64 levels would hold more pages than a file can have.
const maxDepth = 64

// pageError says which page is wrong and how.
type pageError struct {
	id  uint64
	why string
}

func (e pageError) Error() string { return fmt.Sprintf("page %d: %s", e.id, e.why) }

func wrong(id uint64, format string, a ...any) error { return pageError{id, fmt.Sprintf(format, a...)} }

// walker follows the pages of a database from its root and checks what bbolt takes for granted: page numbers, types,
// bounds and key order, that no page is used twice, and that every page is either used or free.
type walker struct {
	r    io.ReaderAt
	m    meta
	used []uint64             // bit set by page number; free pages count as used
	left uint64               // pages not yet seen
	bufs [maxDepth + 1][]byte // one page per level: keys of a branch are needed while its children are read
}

func newWalker(r io.ReaderAt, m meta) *walker {
	return &walker{r: r, m: m, used: make([]uint64, m.pages/64+1), left: m.pages - min(m.pages, firstDataPage)}
}

// mark claims the pages [id, id+n).
func (w *walker) mark(id, n uint64) error {
	if id < firstDataPage || id >= w.m.pages || n > w.m.pages-id {
		return wrong(id, "outside of the database's %d pages", w.m.pages)
	}
	for i := id; i < id+n; i++ {
		if w.used[i/64]&(1<<(i%64)) != 0 {
			return wrong(i, "is used twice")
		}
		w.used[i/64] |= 1 << (i % 64)
	}
	w.left -= n
	return nil
}

// page reads a page with its overflow into the buffer of a level and claims it.
func (w *walker) page(id uint64, depth int) ([]byte, error) {
	if id >= w.m.pages {
		return nil, wrong(id, "outside of the database's %d pages", w.m.pages)
	}
	buf, err := w.read(id, 1, depth)
	if err != nil {
		return nil, err
	}
	if got := native.Uint64(buf); got != id {
		return nil, wrong(id, "says it is page %d", got)
	}
	n := uint64(native.Uint32(buf[12:])) + 1
	if err := w.mark(id, n); err != nil {
		return nil, err
	}
	if n > 1 {
		return w.read(id, int(n), depth)
	}
	return buf, nil
}

func (w *walker) read(id uint64, n, depth int) ([]byte, error) {
	size := n * w.m.pageSize
	w.bufs[depth] = slices.Grow(w.bufs[depth][:0], size)[:size]
	_, err := w.r.ReadAt(w.bufs[depth], int64(id)*int64(w.m.pageSize))
	if errors.Is(err, io.EOF) {
		return nil, wrong(id, "lies behind the end of the file")
	}
	return w.bufs[depth], err
}

// freelist checks the list of free pages and claims them.
func (w *walker) freelist() error {
	id := w.m.freelist
	if id == noFreelist {
		return errNotOurs
	}
	buf, err := w.page(id, 0)
	if err != nil {
		return err
	}
	if flags := native.Uint16(buf[8:]); flags != flagFreelist {
		return wrong(id, "is of type %#x, not a list of free pages", flags)
	}
	count, ids := uint64(native.Uint16(buf[10:])), buf[pageHeaderLen:]
	if count == countInElement {
		count, ids = native.Uint64(ids), ids[8:]
	}
	if count > uint64(len(ids))/8 {
		return wrong(id, "lists %d free pages in %d bytes", count, len(ids))
	}
	for i := range count {
		if err := w.mark(native.Uint64(ids[8*i:]), 1); err != nil {
			return err
		}
	}
	return nil
}

// all checks every page. It follows freelist.
func (w *walker) all() error {
	if err := w.tree(w.m.root, 0, nil); err != nil {
		return err
	}
	if w.left != 0 {
		return wrong(w.m.root, "%d pages are neither used nor free", w.left)
	}
	return nil
}

// tree checks the tree under a page; from is the least key it may hold.
func (w *walker) tree(id uint64, depth int, from []byte) error {
	if depth > maxDepth {
		return wrong(id, "lies %d levels deep", depth)
	}
	page, err := w.page(id, depth)
	if err != nil {
		return err
	}
	switch flags := native.Uint16(page[8:]); flags {
	case flagBranch:
		return w.branch(id, page, depth, from)
	case flagLeaf:
		return w.leaf(id, page, depth, from)
	default:
		return wrong(id, "is of type %#x, neither branch nor leaf", flags)
	}
}

// elementLen is the size of a page's element header: branch {pos, ksize uint32, pgid uint64}, leaf {flags, pos, ksize,
// vsize uint32}. pos counts from the element's own start. Keys and values follow the headers without a gap, in order.
const elementLen = 16

// elements reads the elements of a page one by one.
type elements struct {
	id    uint64
	page  []byte
	n     int
	start int    // where the next key must be
	last  []byte // key before
}

func newElements(id uint64, page, from []byte) (*elements, error) {
	n := int(native.Uint16(page[10:]))
	start := pageHeaderLen + n*elementLen
	if start > len(page) {
		return nil, wrong(id, "%d entries do not fit in", n)
	}
	return &elements{id: id, page: page, n: n, start: start, last: from}, nil
}

// header returns the i-th element header.
func (e *elements) header(i int) []byte { return e.page[pageHeaderLen+i*elementLen:] }

// take checks the place and order of the i-th element and returns its key and value.
func (e *elements) take(i int, pos, ksize, vsize uint32) (key, value []byte, err error) {
	end := uint64(e.start) + uint64(ksize) + uint64(vsize)
	if uint64(pageHeaderLen+i*elementLen)+uint64(pos) != uint64(e.start) || end > uint64(len(e.page)) {
		return nil, nil, wrong(e.id, "entry %d lies in the wrong place", i)
	}
	key, value = e.page[e.start:e.start+int(ksize)], e.page[e.start+int(ksize):int(end)]
	if c := bytes.Compare(key, e.last); c < 0 || i > 0 && c == 0 {
		return nil, nil, wrong(e.id, "entry %d is out of order", i)
	}
	e.start, e.last = int(end), key
	return key, value, nil
}

func (w *walker) branch(id uint64, page []byte, depth int, from []byte) error {
	e, err := newElements(id, page, from)
	if err != nil {
		return err
	}
	if e.n == 0 {
		return wrong(id, "is a branch without children")
	}
	for i := range e.n {
		h := e.header(i)
		key, _, err := e.take(i, native.Uint32(h), native.Uint32(h[4:]), 0)
		if err != nil {
			return err
		}
		if err := w.tree(native.Uint64(h[8:]), depth+1, key); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) leaf(id uint64, page []byte, depth int, from []byte) error {
	e, err := newElements(id, page, from)
	if err != nil {
		return err
	}
	if e.n == 0 && native.Uint32(page[12:]) > 0 {
		return wrong(id, "spans several pages but holds nothing")
	}
	for i := range e.n {
		h := e.header(i)
		_, value, err := e.take(i, native.Uint32(h[4:]), native.Uint32(h[8:]), native.Uint32(h[12:]))
		if err != nil {
			return err
		}
		if native.Uint32(h)&flagBucket != 0 {
			if err := w.bucket(id, value, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

// bucketLen is the header of a bucket entry: root page uint64, sequence uint64. Root 0 means that the bucket is small and
// its one leaf page follows.
const bucketLen = 16

func (w *walker) bucket(id uint64, value []byte, depth int) error {
	if len(value) < bucketLen {
		return wrong(id, "holds a bucket of %d bytes", len(value))
	}
	if root := native.Uint64(value); root != 0 {
		return w.tree(root, depth+1, nil)
	}
	inline := value[bucketLen:]
	if len(inline) < pageHeaderLen || native.Uint16(inline[8:]) != flagLeaf {
		return wrong(id, "holds a bucket that is no leaf")
	}
	return w.leaf(id, inline, depth, nil)
}
