package splitter

// hashedStart is the number of bytes of a unit that decide first: an edit further on moves no cut.
const hashedStart = 40

// rank returns a number whose order tells nothing of the order of texts, for the unit text[start:end]: the upper half is
// the hash of how the unit begins, the lower half that of the whole and of what follows, which decides between lines
// that all begin alike and between lines that are the same.
func rank(text string, start, end int) uint64 {
	return hashStart(text[start:end])&^(1<<32-1) | hashText(text[start:min(len(text), end+hashedStart)])>>32
}

// hashStart is the rank of a place inside a sentence or word: the hash of what follows there, whatever unit it is in.
// A word alone would not do, since the same few come again and again: all their places would be equally good.
func hashStart(s string) uint64 { return hashText(s[:min(len(s), hashedStart)]) }

// The multipliers of MurmurHash3's finalizer. The hash must be the same in every process, for ever.
const (
	mixA = 0xff51afd7ed558ccd
	mixB = 0xc4ceb9fe1a85ec53
)

// hashText reads eight bytes at a time, since at every character inside a long word it is asked for the next forty.
func hashText(s string) uint64 {
	h := uint64(len(s)) * mixB
	for ; len(s) >= 8; s = s[8:] {
		h = mix(h ^ (uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56))
	}
	rest := uint64(0)
	for i := range len(s) {
		rest |= uint64(s[i]) << (8 * i)
	}
	h = mix(h ^ rest)
	h *= mixB
	return h ^ h>>33
}

// mix spreads every bit over those below the middle and above itself.
func mix(h uint64) uint64 {
	h = (h ^ h>>33) * mixA
	return h ^ h>>29
}
