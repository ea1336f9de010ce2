package lang

import (
	"slices"
	"strings"
)

// Content returns a question without the words that ask, which its answer does not have: function words, and the words of
// everyday questions. All words of a language that is not known here stay. A question
// that only asks, such as "What can you do?", has none left.
func Content(question, tag string) string {
	if tag == "zh" {
		return chineseAsking.Replace(question)
	}
	l := slices.Index(tags[:], tag)
	if tag == "" {
		l = int(en)
	}
	if l < 0 {
		return question
	}
	return withoutFunctionWords(question, language(l))
}

// punctuation stands around words.
const punctuation = "?!.,;:()\"«»“”？！。，；："

// Keywords returns the words of [Content], without the punctuation around them.
func Keywords(question, tag string) []string {
	var words []string
	for word := range strings.FieldsSeq(Content(question, tag)) {
		if word = strings.Trim(word, punctuation); word != "" {
			words = append(words, word)
		}
	}
	return words
}

// withoutFunctionWords leaves the words of a language's lists out.
func withoutFunctionWords(question string, l language) string {
	var kept []string
	for field := range strings.FieldsSeq(strings.NewReplacer("’", "'", "ʼ", "'").Replace(question)) {
		word := strings.ToLower(strings.Trim(field, punctuation))
		if at := strings.IndexByte(word, '\''); at >= 0 && l == fr { // l'examen
			if isFunction(word[:at+1], l) {
				word = word[at+1:]
				field = field[strings.IndexByte(field, '\'')+1:]
			}
		}
		if word, _, _ = strings.Cut(word, "'s"); word != "" && !isFunction(word, l) {
			kept = append(kept, field)
		}
	}
	return strings.Join(kept, " ")
}

// isFunction reports whether a word in lower case is in one of the language's lists.
func isFunction(word string, l language) bool {
	return slices.ContainsFunc(vocabulary[word], func(e evidence) bool { return e.language == l })
}

// chineseAsking takes the words out by which a Chinese question asks, longest first.
var chineseAsking = func() *strings.Replacer {
	words := strings.Fields(`为什么 是不是 有没有 能不能 可不可以 会不会 要不要 需不需要 多长时间 什么时候 怎么样 请问 什么 怎么 怎样 如何 多少 多久
		多长 多大 几个 几次 几封 几天 哪些 哪个 哪里 哪儿 哪一 哪种 哪年 是否 可以 能否 一下 的话 吗 呢 吧 啊 了 的 我 你 您 请`)
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, w := range words {
		pairs = append(pairs, w, " ")
	}
	return strings.NewReplacer(pairs...)
}()
