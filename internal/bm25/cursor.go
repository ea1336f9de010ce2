package bm25

// cursor walks a clause's postings in one part, forwards.
type cursor struct {
	list   postings
	weight float64
	first  int // block that the walk has come to
	loaded int // block that is decoded; none: -1
	at     int // place in it
	block  block

	bound    int64 // of a share in the window at hand; 0: no document there has the term
	bounded  int   // block of the bound below
	blockMax int64 // greatest share in that block
}

func (c *cursor) reset(list postings, weight float64) {
	c.list, c.weight = list, weight
	c.first, c.loaded, c.at, c.bounded = 0, -1, 0, -1
}

// window sets the bound for documents from begin to end.
func (c *cursor) window(begin, end uint32, n *norms, lengths []uint32) {
	c.bound = 0
	if c.list.blocks == 1 {
		c.boundShort(begin, end, n, lengths)
		return
	}
	for c.first < c.list.blocks && c.list.last(c.first) < begin {
		c.first++
	}
	for at := c.first; at < c.list.blocks && (at == 0 || c.list.last(at-1)+1 < end); at++ {
		c.bound = max(c.bound, c.maxShare(at, n))
	}
}

// boundShort bounds the window of a list of one block by the documents themselves.
func (c *cursor) boundShort(begin, end uint32, n *norms, lengths []uint32) {
	doc, ok := c.seek(begin)
	for i := c.at; ok && doc < end; {
		c.bound = max(c.bound, leastShare, share(c.weight, c.block.tfs[i], n.of(lengths[doc])))
		if i++; i == c.block.n {
			return
		}
		doc = c.block.docs[i]
	}
}

// leastShare is the least bound of a term that is there: it may count for nothing and still makes a document match.
const leastShare = 1

// maxShare bounds the shares of a block's documents by its impacts.
func (c *cursor) maxShare(at int, n *norms) int64 {
	if c.bounded != at {
		c.bounded, c.blockMax = at, leastShare
		c.list.impacts(at, func(in impact) { c.blockMax = max(c.blockMax, share(c.weight, in.tf, n.of(in.length))) })
	}
	return c.blockMax
}

func (c *cursor) load(at int) {
	if c.loaded != at {
		c.list.decode(at, &c.block)
		c.loaded, c.at = at, 0
	}
}

// seek goes to the first document that is not below the one given; ok is false if there is none.
func (c *cursor) seek(doc uint32) (found uint32, ok bool) {
	for ; c.first < c.list.blocks; c.first++ {
		if c.list.last(c.first) < doc {
			continue
		}
		c.load(c.first)
		docs, at := c.block.docs[:c.block.n], c.at
		for at < len(docs) && docs[at] < doc {
			at++
		}
		c.at = at
		if at < len(docs) {
			return docs[at], true
		}
	}
	return 0, false
}

// shareOf returns the share of the document that seek found.
func (c *cursor) shareOf(norm float64) int64 { return share(c.weight, c.block.tf(c.at), norm) }

// addTo adds the shares of the documents from begin to end, and marks them.
func (c *cursor) addTo(w *window, begin, end uint32, n *norms, lengths []uint32) {
	doc, ok := c.seek(begin)
	for ok && doc < end {
		docs, tfs := c.block.docs[:c.block.n], c.block.counts()
		i := c.at
		for ; i < len(docs) && docs[i] < end; i++ {
			slot := docs[i] - begin
			w.sums[slot] += share(c.weight, tfs[i], n.of(lengths[docs[i]]))
			w.marks[slot/64] |= 1 << (slot % 64)
		}
		c.at = i
		if i < len(docs) {
			return
		}
		c.first++
		doc, ok = c.seek(begin)
	}
}
