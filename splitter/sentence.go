package splitter

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// sentence is a stretch of a paragraph up to the next one, with the blank space between.
type sentence struct {
	length int
	before class // bySentence, or byLine where the sentence begins a line of a text that is not wrapped
}

// sentences cuts a paragraph into sentences; their lengths sum up to that of the text. No sentence ends inside a
// link or a code span.
func sentences(text string) []sentence {
	var all []sentence
	start, before := 0, bySentence
	kept, lineStart := keptWhole(text), byLine
	if isWrapped(text) {
		lineStart = bySentence
	}
	for pos := 0; pos < len(text); {
		r, n := utf8.DecodeRuneInString(text[pos:])
		pos += n
		if !endsSentence(r) {
			continue
		}
		for len(kept) > 0 && kept[0][1] < pos {
			kept = kept[1:]
		}
		if len(kept) > 0 && kept[0][0] < pos && pos < kept[0][1] {
			pos = kept[0][1]
			continue
		}
		end := pos + closersLength(text[pos:])
		next, ok := nextSentence(text[:end], text[end:], start, pos-n, r)
		if !ok {
			continue
		}
		next += end
		all = append(all, sentence{next - start, before})
		before = bySentence
		if strings.Contains(text[end:next], "\n") {
			before = lineStart
		}
		start, pos = next, next
	}
	if start < len(text) {
		all = append(all, sentence{len(text) - start, before})
	}
	return all
}

// keptInline are the spans of Markdown that a sentence never ends in: code, and links and images with their target.
var keptInline = regexp.MustCompile("`[^`\n]+`" + `|!?\[[^\[\]\n]*\]\([^()\n]*\)|<[a-z]+:[^<>\s]*>`)

// keptWhole returns the spans of text that are kept whole, ascending.
func keptWhole(text string) [][]int {
	if !strings.ContainsAny(text, "`[<") {
		return nil
	}
	return keptInline.FindAllStringIndex(text, -1)
}

// isWrapped reports whether the lines of a paragraph are broken at a width: most of them end inside a sentence.
// Otherwise each line is a paragraph of its own.
func isWrapped(text string) bool {
	lines, inside := 0, 0
	for rest := text; ; {
		line, after, more := strings.Cut(rest, "\n")
		if !more {
			return 2*inside > lines
		}
		line = strings.TrimRight(line, " \t\"')]}*_”’»」』）】》")
		if last, _ := utf8.DecodeLastRuneInString(line); !endsSentence(last) {
			inside++
		}
		lines++
		rest = after
	}
}

func endsSentence(r rune) bool {
	switch r {
	case '.', '!', '?', '…', '。', '！', '？', '；', '｡':
		return true
	}
	return false
}

// needsBlank reports whether a sentence that this character ends is set off by blank space: in scripts written
// without blanks it is not.
func needsBlank(r rune) bool { return r < 0x3000 }

// closersLength returns the length of the marks that close a sentence after its end: quotes, brackets, more ends.
func closersLength(s string) int {
	for i, r := range s {
		if !endsSentence(r) && !strings.ContainsRune("\"')]}*_”’»」』）】》", r) {
			return i
		}
	}
	return len(s)
}

// nextSentence decides whether a sentence ends. before is the text up to the end with its closers, after what follows;
// the sentence began at start, and its end mark stands at mark. It returns the length of the blank space between.
func nextSentence(before, after string, start, mark int, r rune) (int, bool) {
	rest := strings.TrimLeftFunc(after, unicode.IsSpace)
	gap := len(after) - len(rest)
	if rest == "" {
		return 0, false
	}
	if needsBlank(r) && gap == 0 {
		return 0, false
	}
	if gap == 0 && !breaksGrapheme(before, rest) {
		return 0, false
	}
	if r == '.' && isAbbreviation(before[start:mark], rest) {
		return 0, false
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, "\"'([*_`“‘«「『（"))
	if needsBlank(r) && unicode.IsLower(first) && r != '!' && r != '?' {
		return 0, false
	}
	return gap, true
}

// breaksGrapheme reports whether a grapheme ends between the two texts.
func breaksGrapheme(before, after string) bool {
	_, n := utf8.DecodeLastRuneInString(before)
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(before[len(before)-n:]+after[:min(len(after), utf8.UTFMax)], -1)
	return len(cluster) == n
}

// Words whose full stop ends no sentence: before a number for those in numbered, everywhere for those in titles.
var (
	titles   = wordSet("dr mr mrs ms prof rev hon st gen col sgt lt capt vs fig figs eq eqs cf approx resp e.g i.e viz z.b d.h bzw vgl ca ed eds trans")
	numbered = wordSet("no nos nr vol ch sec art p pp par para app ver v abs tab ref refs jan feb mar apr jun jul aug sep sept oct nov dec")
)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// isAbbreviation reports whether the full stop after sentence belongs to its last word: a title, a number's name, an
// initial, or the number of a list item.
func isAbbreviation(sentence, rest string) bool {
	word := sentence[strings.LastIndexFunc(sentence, unicode.IsSpace)+1:]
	word = strings.TrimLeft(word, "\"'([*_“‘«")
	if r, n := utf8.DecodeRuneInString(word); n > 0 && n == len(word) && unicode.IsUpper(r) && r != 'I' {
		return true
	}
	word = strings.ToLower(word)
	if titles[word] {
		return true
	}
	digit, _ := utf8.DecodeRuneInString(rest)
	if numbered[word] && unicode.IsDigit(digit) {
		return true
	}
	number := strings.TrimSpace(sentence)
	return number == word && strings.Trim(word, "0123456789") == ""
}
