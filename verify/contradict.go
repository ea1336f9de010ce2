package verify

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/analyze"
	"github.com/seed-d8745b77/rag/internal/cite"
)

// statement is a claim with its passage, and what both have of numbers and names.
type statement struct {
	rag.Claim
	of, in factSet // of the claim, in the passage
}

// contradiction says in what a claim differs from the sentences of the passage that have its words; "" if in nothing that is
// seen here.
func (t *statement) contradiction(sentences string) string {
	if lack := t.of.lackingIn(numbers(sentences)); lack != "" {
		return "what it says of this does not have " + lack
	}
	if why := t.misplaced(); why != "" {
		return why
	}
	c, s := analyze.Fold(t.Text), analyze.Fold(sentences)
	if (negations(c)+negations(about(sentences, c)))%2 != 0 {
		return "one of them is negated and the other is not"
	}
	for _, pair := range opposites {
		for _, side := range [][2]*regexp.Regexp{{pair[0], pair[1]}, {pair[1], pair[0]}} {
			if side[0].MatchString(c) && !side[1].MatchString(c) && side[1].MatchString(s) && !side[0].MatchString(s) {
				return "they say opposite things"
			}
		}
	}
	if reversed(c, s, t.of.names) {
		return "the names have changed places"
	}
	return ""
}

// about are the clauses of sentences, folded, that have a word of the folded claim: what others negate is not said of it.
func about(sentences, claim string) string {
	words := content(claim)
	var out []string
	for _, clause := range partEnd.Split(sentences, -1) { // before folding, which makes commas of one kind
		clause = analyze.Fold(clause)
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(clause, w) }) {
			out = append(out, clause)
		}
	}
	return strings.Join(out, " , ")
}

// content are the words of a folded text that say something; of Chinese, pairs of characters.
func content(folded string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(folded, func(r rune) bool { return !isWordRune(r) }) {
		if !isASCII(w) && strings.ContainsFunc(w, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
			runes := []rune(w)
			for i := 0; i+1 < len(runes); i++ {
				out = append(out, string(runes[i:i+2]))
			}
		} else if len(w) > shortWord && !functionWords[w] {
			out = append(out, w)
		}
	}
	return out
}

// negating are words that negate; those that only look so are taken out first.
var (
	harmless = regexp.MustCompile(`not only|no later than|no more than|no less than|not less than|not more than|non seulement|pas seulement|ne \S+ que |不同|不仅|不但|不少于|不超过|不晚于|非常|无论|不论|除非|不过`)
	negating = regexp.MustCompile(`\b(?:not|no|never|none|nobody|nothing|neither|cannot|without|unable|[a-z]+n't|pas|jamais|aucune?|sans|ni|nicht|keine?[nmrs]?|nie|ohne|nunca|sin|ningun[oa]?|forbidden|prohibited|banned|interdite?s?|verboten|prohibid[oa])\b|不|没|無|无|未|禁止|莫`)
)

// negations counts negations. French has two words for one.
func negations(folded string) int {
	return len(negating.FindAllString(harmless.ReplaceAllString(folded, " "), -1))
}

// opposites are pairs of words of which a claim and its source must not have one each.
var opposites = func() [][2]*regexp.Regexp {
	var out [][2]*regexp.Regexp
	for _, pair := range [][2]string{
		{`before|avant|vor|antes|之前|以前`, `after|apres|nach|despues|之后|以后`},
		{`more than|over|above|exceeds?|plus de|mehr als|mas de|超过|高于|多于`, `less than|under|below|fewer than|moins de|weniger als|menos de|低于|少于|不足`},
		{`at least|minimum|au moins|mindestens|al menos|至少|最少|不少于`, `at most|maximum|up to|no more than|au plus|hochstens|como maximo|最多|至多|不超过`},
		{`increas\w*|rises?|rose|grows?|grew|augment\w*|steig\w*|aument\w*|增加|上升|提高`, `decreas\w*|falls?|fell|shrinks?|reduc\w*|diminu\w*|sink\w*|dismin\w*|减少|下降|降低`},
		{`allowed|permitted|may|autorisee?s?|erlaubt|允许|可以`, `forbidden|prohibited|banned|interdite?s?|verboten|禁止|不得`},
		{`required|mandatory|compulsory|must|obligatoire|必须|必填`, `optional|voluntary|facultati\w*|可选|自愿`},
		{`always|toujours|immer|siempre|总是`, `never|jamais|nie|nunca|从不`},
		{`all|every|each|tous|toutes|alle|todos|所有|全部`, `some|certains|certaines|einige|algunos|部分|有些`},
		{`first|premiere?|erste[rn]?|第一`, `last|derniere?|letzte[rn]?|最后`},
		{`faster|plus rapide|schneller|更快`, `slower|plus lente?|langsamer|更慢`},
		{`monthly|par mois|per month|monatlich|每月`, `yearly|annually|per year|par an|jahrlich|每年`},
		{`included|inclus\w*|eingeschlossen|包括|包含`, `excluded|exclu\w*|ausgeschlossen|排除|不包括`},
		{`paid|remunere\w*|bezahlt|带薪`, `unpaid|non remunere\w*|unbezahlt|无薪`},
		{`accept\w*|approv\w*|批准|接受`, `reject\w*|refus\w*|declin\w*|拒绝`},
	} {
		out = append(out, [2]*regexp.Regexp{wholeWords(pair[0]), wholeWords(pair[1])})
	}
	return out
}()

// wholeWords matches the alternatives as whole words; those of Chinese as they stand.
func wholeWords(alternatives string) *regexp.Regexp {
	var spaced, unspaced []string
	for a := range strings.SplitSeq(alternatives, "|") {
		if isASCII(a) {
			spaced = append(spaced, a)
		} else {
			unspaced = append(unspaced, a)
		}
	}
	form := `\b(?:` + strings.Join(spaced, "|") + `)\b`
	if len(unspaced) > 0 {
		form += "|" + strings.Join(unspaced, "|")
	}
	return regexp.MustCompile(form)
}

// passive turns the order of names round.
var passive = regexp.MustCompile(`\b(?:by|par|von|por)\b|被|由`)

// reversed reports whether two names of the claim stand in the other order in the sentences, where neither is passive.
func reversed(claim, sentences string, names []string) bool {
	if passive.MatchString(claim) != passive.MatchString(sentences) {
		return false
	}
	for i := range names {
		for _, later := range names[i+1:] {
			a, b := strings.Index(sentences, names[i]), strings.Index(sentences, later)
			once := strings.Count(sentences, names[i]) == 1 && strings.Count(sentences, later) == 1
			if names[i] != later && once && a > b && b >= 0 && !listed(sentences[b:a]) {
				return true
			}
		}
	}
	return false
}

// listed reports whether nothing but "and" or a comma stands between two names: their order says nothing.
func listed(between string) bool {
	words := strings.FieldsFunc(between, func(r rune) bool { return r == ' ' || r == ',' })
	return len(words) <= 2 || slices.ContainsFunc(words[1:], func(w string) bool {
		return w == "and" || w == "or" || w == "et" || w == "ou" || w == "und" || w == "oder"
	}) && len(words) <= 4
}

// parts of a text that each say something of their own: sentences, and in them clauses between commas and conjunctions.
var partEnd = regexp.MustCompile(`[,;，；、|]\s|[，；、|]|\s(?:and|et|und|y|but|mais|aber|while|whereas|otherwise|tandis que|alors que|während|mientras)\s|和|而`)

// misplaced looks at passages that give several numbers: what the claim says of a number must be said in the clause with
// that number, and not in a clause with another one.
func (t *statement) misplaced() string {
	for _, number := range t.of.numbers {
		var own, others string
		for _, at := range cite.Sentences(t.Passage) {
			sentence := t.Passage[at.Start:at.End]
			given := numbers(sentence)
			if !slices.Contains(given, number) {
				if len(given) > 0 || t.names(sentence) { // it has a number of its own, or speaks of whom the claim names
					others += " " + sentence
				}
				continue
			}
			mine, theirs := clauses(sentence, number, t.of)
			own, others = own+" "+mine, others+" "+theirs
		}
		if own == "" {
			continue
		}
		other := otherName(t.of.names, own, analyze.Fold(others))
		own, others = analyze.Fold(own), analyze.Fold(others)
		if other || elsewhere(t.Text, own, others, len(t.of.numbers) == 1) {
			return "the number " + number + " is said of something else"
		}
	}
	return ""
}

// otherName reports whether the clause with the number names somebody else, and a clause with another number the claim's.
func otherName(claimed []string, own, others string) bool {
	of := names(strings.TrimSpace(own))
	return !slices.ContainsFunc(claimed, func(n string) bool { return slices.Contains(of, n) }) && len(of) > 0 &&
		slices.ContainsFunc(claimed, func(n string) bool { return strings.Contains(others, n) })
}

// elsewhere reports whether words of the claim stand with other numbers and not with its own: one of them, if the claim has
// one number; else all that are found.
func elsewhere(claim, own, others string, one bool) bool {
	here, there := 0, 0
	for _, w := range content(analyze.Fold(claim)) {
		switch {
		case strings.Contains(own, w):
			here++
		case strings.Contains(others, w):
			there++
		}
	}
	return there > 0 && (one || here == 0)
}

// names reports whether a sentence has a name that the claim and the passage have.
func (t *statement) names(sentence string) bool {
	return slices.ContainsFunc(names(sentence), func(n string) bool { return slices.Contains(t.of.names, n) && slices.Contains(t.in.names, n) })
}

// clauses cuts a sentence into the part that says something with a number and the parts with other numbers. Of these, what
// stands before the number may be the subject of all, unless the clause with the number has a subject of its own: a name that
// the claim has not, or none of the claim's words.
func clauses(sentence, number string, of factSet) (own, others string) {
	var rest []string
	for _, clause := range partEnd.Split(sentence, -1) {
		switch given := numbers(clause); {
		case slices.Contains(given, number):
			own += " " + clause
		case len(given) > 0:
			rest = append(rest, clause)
		}
	}
	whole := slices.ContainsFunc(names(strings.TrimSpace(own)), func(n string) bool { return !slices.Contains(of.names, n) })
	for _, clause := range rest {
		if !whole {
			clause = afterNumber(clause)
		}
		others += " " + clause
	}
	return own, others
}

func isWordRune(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= 0x80 }

func afterNumber(clause string) string {
	if at := numeral.FindStringIndex(clause); at != nil {
		return clause[at[1]:]
	}
	return clause
}
