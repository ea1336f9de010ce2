package cite

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Stream cleans a reply while it comes. The pieces that it gives, put together, are what [Clean] makes of the whole,
// however the reply was cut. A citation is given when it is complete.
type Stream struct {
	cleaner cleaner
	pending strings.Builder
	begun   bool // it is known whether the reply is an object
	object  bool // the reply is an object: nothing of it can be shown before all is there
	wait    int  // bytes pending below which looking again is not worth it
}

// NewStream returns a stream for a reply to which there are this many sources.
func NewStream(sources int) *Stream { return &Stream{cleaner: cleaner{sources: sources}} }

// waitShare is the part by which what is pending must grow to be looked at again, so that a line takes time in proportion
// to its length.
const waitShare = 8

// Write takes a piece of the reply and returns what can be shown now.
func (s *Stream) Write(piece string) (shown string) {
	s.pending.WriteString(piece)
	pending := s.pending.String()
	if !s.begun {
		s.begun, s.object = looksLikeObject(pending)
	}
	if !s.begun || s.object || len(pending) < s.wait && !strings.Contains(piece, "\n") {
		return ""
	}
	whole := 0
	for size, known := s.cleaner.ends(pending); known; size, known = s.cleaner.ends(pending[whole:]) {
		shown += s.cleaner.write(pending[whole : whole+size])
		whole += size
	}
	line := pending[whole:]
	n := s.cleaner.settled(line)
	shown += s.cleaner.write(line[:n])
	if whole+n > 0 {
		s.pending.Reset()
		s.pending.WriteString(line[n:])
	}
	s.wait = s.pending.Len() + s.pending.Len()/waitShare // a long line that cannot be settled is not read again for each word
	return shown
}

// Close returns the rest.
func (s *Stream) Close() (shown string) {
	rest := s.pending.String()
	s.pending.Reset()
	if s.object || !s.begun {
		rest = unpack(rest)
	}
	return s.cleaner.write(rest)
}

// Rejected returns the citations that were taken out so far, in order.
func (s *Stream) Rejected() []Rejected { return slices.Clone(s.cleaner.rejected) }

// settled returns how many bytes of a line that goes on can be cleaned now. They end before a blank where no citation,
// code or formula is open, so that what follows cannot change what they mean.
func (c *cleaner) settled(line string) int {
	if c.fence != "" || !c.inLine && !plainStart(line) {
		return 0
	}
	tries := 0
	for at := len(line) - 1; at > 0 && tries < mostTries; at-- {
		if !isBlank(line[at]) || isBlank(line[at-1]) {
			continue
		}
		tries++
		before, _ := utf8.DecodeLastRuneInString(line[:at])
		if (unicode.IsLetter(before) || unicode.IsDigit(before) || strings.ContainsRune(".。!?！？", before)) && !open(line[:at]) {
			return at
		}
	}
	return 0
}

// mostTries is how many blanks are tried, from the end: what is open at all of them is mostly open at those before too.
const mostTries = 24

// plainStart reports whether a line begins with a word, so that it opens no code block, however it goes on.
func plainStart(line string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(line, " \t-*#>|"))
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// open reports whether the beginning of a line ends inside of something.
func open(line string) bool {
	for at := 0; at < len(line); {
		if n := protected(line, at); n > 0 {
			at += n
			continue
		}
		r, size := utf8.DecodeRuneInString(line[at:])
		rest := line[at:]
		switch {
		case r == '`' || r == '$':
			return true
		case strings.ContainsRune(openers, r):
			most := maxMarker
			if r == '(' && at > 0 && strings.ContainsRune(closers, lastRune(line[:at])) {
				most = maxLink
			}
			if len(rest) <= most && depth(rest) > 0 {
				return true
			}
		}
		at += size
	}
	return false
}

// depth is how many brackets a text opens and does not close.
func depth(text string) int {
	n := 0
	for _, r := range text {
		if strings.ContainsRune(openers, r) {
			n++
		} else if strings.ContainsRune(closers, r) {
			n--
		}
	}
	return n
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}
