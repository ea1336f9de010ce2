package bm25

// postings is a term's list as it stands in a segment. The zero value is the empty list.
type postings struct {
	count  int    // of postings
	docs   uint64 // of the segment: documents are below it
	blocks int
	table  string // of more than one block: last document and end of each
	data   string // from the first block on, to the end of the segment
	bad    bool   // the bytes are no list
}

// openPostings reads the head of a list; rest goes on to the end of the segment.
func openPostings(rest string, docs int) postings {
	r := reader{s: rest}
	count := r.number()
	if r.bad || count > uint64(docs) {
		return postings{bad: true}
	}
	p := postings{count: int(count), docs: uint64(docs), blocks: blocksOf(int(count)), data: r.s}
	if p.blocks > 1 {
		if len(r.s) < p.blocks*tableEntry {
			return postings{bad: true}
		}
		p.table, p.data = r.s[:p.blocks*tableEntry], r.s[p.blocks*tableEntry:]
	}
	return p
}

// last returns the last document of a block; of the only block, the last there can be.
func (p *postings) last(block int) uint32 {
	if p.table == "" {
		return uint32(p.docs - 1)
	}
	return u32(p.table, block*tableEntry)
}

// begin returns the bytes of a block and what follows, and the least document it can have.
func (p *postings) begin(block int) (s string, next uint32) {
	if block == 0 {
		return p.data, 0
	}
	at := u32(p.table, (block-1)*tableEntry+4)
	return p.data[min(int(at), len(p.data)):], p.last(block-1) + 1
}

// impacts calls fn for the impacts of a block of a list that has several.
func (p *postings) impacts(block int, fn func(impact)) {
	s, _ := p.begin(block)
	r := reader{s: s}
	r = reader{s: r.text()}
	var in impact
	for r.s != "" {
		in.tf += uint32(r.number())
		in.length += uint32(r.number())
		fn(in)
	}
}

// block is a decoded block. Counts are decoded when they are first asked for.
type block struct {
	n      int // postings in it; 0 if the bytes are damaged
	docs   [blockSize]uint32
	tfs    [blockSize]uint32
	packed string // the counts; "" if they are decoded
	width  int    // of a count
}

// decode reads a block.
func (p *postings) decode(at int, b *block) {
	b.n, b.packed = 0, ""
	s, next := p.begin(at)
	if p.blocks > 1 { // pass over the impacts
		r := reader{s: s}
		r.text()
		s = r.s
	}
	if n := min(p.count-at*blockSize, blockSize); n < blockSize {
		p.decodeShort(s, next, n, b)
		return
	}
	if len(s) < 2 {
		return
	}
	gapWidth, tfWidth := int(s[0]), int(s[1])
	s = s[2:]
	if gapWidth > 32 || tfWidth > 32 || len(s) < packedSize(gapWidth)+packedSize(tfWidth)+padding {
		return
	}
	unpack(&b.docs, s, gapWidth)
	doc := uint64(next)
	for i, gap := range b.docs {
		doc += uint64(gap)
		b.docs[i] = uint32(doc)
		doc++
	}
	if doc <= p.docs {
		b.n, b.packed, b.width = blockSize, s[packedSize(gapWidth):], tfWidth
	}
}

func (p *postings) decodeShort(s string, least uint32, n int, b *block) {
	doc, at := uint64(least), 0
	for i := range n {
		head, next := varint(s, at)
		if next == 0 {
			return
		}
		tf := uint64(1)
		if head&1 == 0 {
			if tf, next = varint(s, next); next == 0 {
				return
			}
		}
		if doc += head >> 1; doc >= p.docs {
			return
		}
		b.docs[i], b.tfs[i] = uint32(doc), uint32(tf)
		doc, at = doc+1, next
	}
	b.n = n
}

// counts decodes the counts.
func (b *block) counts() *[blockSize]uint32 {
	if b.packed != "" {
		unpack(&b.tfs, b.packed, b.width)
		for i := range b.tfs {
			b.tfs[i]++
		}
		b.packed = ""
	}
	return &b.tfs
}

// tf returns one count without decoding the others.
func (b *block) tf(i int) uint32 {
	if b.packed == "" {
		return b.tfs[i]
	}
	bit := i * b.width
	return uint32(u64(b.packed, bit>>3)>>(bit&7)&(1<<b.width-1)) + 1
}

// each calls fn with every posting, in order.
func (p *postings) each(b *block, fn func(posting)) {
	for at := range p.blocks {
		p.decode(at, b)
		tfs := b.counts()
		for i, doc := range b.docs[:b.n] {
			fn(posting{doc, tfs[i]})
		}
	}
}
