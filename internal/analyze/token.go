package analyze

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token hands the words of a token to s, and for an identifier or a number the whole beside them:
//
//	snake_case      snakecase + snake, case      HR-LV-26   hrlv26 + hr, lv, 26
//	CrossEntropyLoss, cross_entropy_loss: crossentropyloss + cross, entropy, loss
//	v1.2.3          v1.2.3 + 1.2.3               1,000      1000
//	U.S.            us                           kelp.io    kelp.io + kelp, io
//	l'examen        examen                       Allen's    allen
//	well-known      well, known                  C++        c++
//
// at is the place of its first word. It returns the place behind the last one. A whole stands where its first part does.
func token(t string, at int, s sink) int {
	t, suffix := splitSuffix(t)
	switch {
	case suffix != "":
		s.literal(clip(t+suffix), at, false)
	case !strings.ContainsAny(t, "_.-',"):
		return simple(clip(t), at, s)
	case isAcronym(t):
		s.word(strings.ReplaceAll(t, ".", ""), at, false)
	case isNumeric(t):
		s.literal(clip(number(t)), at, false)
		if !isDigit(t[0]) {
			s.literal(clip(number(t[1:])), at, true)
		}
	default:
		return compound(t, at, s)
	}
	return at + 1
}

func splitSuffix(t string) (word, suffix string) {
	word = strings.TrimRight(t, "+#")
	return word, t[len(word):]
}

// simple hands on a word without connectors: whole, and its parts if it is CamelCase.
func simple(w string, at int, s sink) (next int) {
	s.word(w, at, false)
	next = at
	forCamelParts(w, func(part string) {
		s.word(part, next, true)
		next++
	})
	return max(next, at+1)
}

// compound hands on a token with connectors part by part. The whole is added where the token looks like an
// identifier; plain words with hyphens ("long-term") and lists without blanks ("red,green") are just their words.
func compound(t string, at int, s sink) (next int) {
	t = trimElisions(t)
	var parts []string
	counted := false // one of the parts is a word that counts
	for part := range strings.FieldsFuncSeq(t, func(r rune) bool { return r < utf8.RuneSelf && isConnector(byte(r)) && r != '\'' }) {
		if part = joinApostrophes(part); part != "" {
			parts = append(parts, clip(part))
			counted = counted || !isStopWord(lowerCase(part))
		}
	}
	if whole := identifier(t); whole != "" {
		s.literal(clip(whole), at, counted) // of is_a, all parts are stop words: the whole is the word
	}
	for _, part := range parts {
		at = simple(part, at, s)
	}
	return at
}

// identifier returns the form under which the whole token is found, or "" if it is no identifier. Hyphens and
// underscores fall away, so that cross_entropy, Cross-Entropy and CrossEntropy are one; not between digits, where
// they are part of the number.
func identifier(t string) string {
	if strings.ContainsAny(t, "',") || !looksLikeCode(t) {
		return ""
	}
	var b strings.Builder
	for i := range len(t) {
		if t[i] != '.' && isConnector(t[i]) && !(isDigit(t[i-1]) && isDigit(t[i+1])) {
			continue
		}
		b.WriteByte(t[i])
	}
	return b.String()
}

// looksLikeCode reports whether a token has a dot, an underscore, a digit or a capital inside.
func looksLikeCode(t string) bool {
	for i, r := range t {
		if r == '_' || r == '.' || unicode.IsDigit(r) || i > 0 && unicode.IsUpper(r) {
			return true
		}
	}
	return false
}

// isAcronym reports whether t is single letters with dots between them: U.S, e.g.
func isAcronym(t string) bool {
	wantLetter := true
	for _, r := range t {
		if wantLetter != unicode.IsLetter(r) || !wantLetter && r != '.' {
			return false
		}
		wantLetter = !wantLetter
	}
	return true
}

// isNumeric reports whether t is digits with dots or commas between them, perhaps after a single letter: 1,000,
// 192.168.0.1, v1.2.3.
func isNumeric(t string) bool {
	if unicode.IsLetter(rune(t[0])) {
		t = t[1:]
	}
	for i := range len(t) {
		if !isDigit(t[i]) && t[i] != '.' && t[i] != ',' {
			return false
		}
	}
	return len(t) > 0 && isDigit(t[0])
}

// thousands is the number of digits after a comma that groups digits; after fewer or more it is a decimal comma.
const thousands = 3

// number drops the commas that group thousands and makes the others points.
func number(t string) string {
	if !strings.Contains(t, ",") {
		return t
	}
	var joined strings.Builder // a row of a table may be one such token
	for i, g := range strings.Split(t, ",") {
		digits, _, _ := strings.Cut(g, ".")
		if i > 0 && len(digits) != thousands {
			joined.WriteByte('.')
		}
		joined.WriteString(g)
	}
	return joined.String()
}

// elisions are the French and Italian articles and pronouns that lose their vowel before a word.
var elisions = map[string]bool{
	"l": true, "d": true, "c": true, "j": true, "m": true, "n": true, "s": true, "t": true, "qu": true,
	"jusqu": true, "lorsqu": true, "puisqu": true, "quoiqu": true,
	"un": true, "dell": true, "nell": true, "all": true, "sull": true, "dall": true, "quell": true, "quest": true, "anch": true,
}

// trimElisions drops what stands before apostrophes at the head of a token: l'examen, d'aujourd'hui.
func trimElisions(t string) string {
	for {
		head, rest, found := strings.Cut(t, "'")
		if !found || !elisions[lowerCase(head)] {
			return t
		}
		t = rest
	}
}

// joinApostrophes drops the English genitive and writes contractions as one word: Allen's, don't.
func joinApostrophes(w string) string {
	if !strings.Contains(w, "'") {
		return w
	}
	if head, found := strings.CutSuffix(w, "'s"); found {
		w = head
	} else if head, found := strings.CutSuffix(w, "'S"); found {
		w = head
	}
	return strings.ReplaceAll(w, "'", "")
}

// forCamelParts calls emit for the parts of a CamelCase word that have two letters or more; a word that is not
// CamelCase has none. A capital starts a part after a small letter, and before one if a capital precedes it
// (HTTPServer); a small s after capitals is a plural (DNAs).
func forCamelParts(w string, emit func(string)) {
	runes := []rune(w)
	start, parts := 0, 0
	for i := 1; i <= len(runes); i++ {
		if i < len(runes) && !startsPart(runes, i) {
			continue
		}
		if i == len(runes) && parts == 0 {
			return
		}
		parts++
		if i-start >= 2 {
			emit(string(runes[start:i]))
		}
		start = i
	}
}

func startsPart(w []rune, i int) bool {
	if !unicode.IsUpper(w[i]) {
		return false
	}
	if unicode.IsLower(w[i-1]) {
		return true
	}
	return unicode.IsUpper(w[i-1]) && i+1 < len(w) && unicode.IsLower(w[i+1]) && !(w[i+1] == 's' && i+2 == len(w))
}

// clip cuts a word off after MaxTermLength runes.
func clip(w string) string {
	if len(w) <= MaxTermLength {
		return w
	}
	n := 0
	for i := range w {
		if n == MaxTermLength {
			return w[:i]
		}
		n++
	}
	return w
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
