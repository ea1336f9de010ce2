package tokenize

// frame says which special tokens stand around one text and around two.
type frame struct {
	single, pair template
}

// template is a sequence of slots.
type template []slot

// slot is a place in a [template]: special tokens, or one of the texts.
type slot struct {
	text int     // 1 or 2: that text; 0: ids
	ids  []int32 // special tokens
	kind int32   // segment type
}

// special returns the number of special tokens.
func (t template) special() (n int) {
	for _, s := range t {
		n += len(s.ids)
	}
	return n
}

// join returns the ids of the texts with the special tokens, and the segment type of each.
func (t template) join(first, second []int32) (ids, types []int32) {
	size := t.special() + len(first) + len(second)
	ids, types = make([]int32, 0, size), make([]int32, 0, size)
	for _, s := range t {
		part := s.ids
		switch s.text {
		case 1:
			part = first
		case 2:
			part = second
		}
		ids = append(ids, part...)
		for range part {
			types = append(types, s.kind)
		}
	}
	return ids, types
}

// bertFrame is [CLS] A [SEP] and [CLS] A [SEP] B [SEP]; the second text and its [SEP] are of another segment type.
func bertFrame(class, sep int32) frame {
	open, end := slot{ids: []int32{class}}, slot{ids: []int32{sep}}
	return frame{
		single: template{open, {text: 1}, end},
		pair:   template{open, {text: 1}, end, {text: 2, kind: 1}, {ids: []int32{sep}, kind: 1}},
	}
}

// robertaFrame is <s> A </s> and <s> A </s> </s> B </s>, all of one segment type.
func robertaFrame(class, sep int32) frame {
	open, end := slot{ids: []int32{class}}, slot{ids: []int32{sep}}
	return frame{
		single: template{open, {text: 1}, end},
		pair:   template{open, {text: 1}, end, end, {text: 2}, end},
	}
}
