package verify

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed-d8745b77/rag/internal/analyze"
)

// factSet is what must stand in a passage as it stands in a claim.
type factSet struct {
	numbers []string // as plain decimal numbers, in order
	names   []string // folded, in order; also identifiers with digits
}

var (
	numeral     = regexp.MustCompile(`\d+(?:[.,'  ]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,:]\d+)*`)
	groupedForm = regexp.MustCompile(`^\d{1,3}(?:[.,'  ]\d{3})+`)
	nameForm    = regexp.MustCompile(`[\p{L}\p{N}]+(?:[-_./][\p{L}\p{N}]+)*`)
	isoDate     = regexp.MustCompile(`\b(\d{4})-(\d{2})-(\d{2})\b`)
	identifier  = regexp.MustCompile(`[A-Za-z]+[-_./]?\d[\w-]*|\d+[A-Za-z]{3,}\w*`)
	hanNumeral  = regexp.MustCompile(`[一二三四五六七八九十百两]+`)
	hanCounted  = regexp.MustCompile(`^(?:个|年|月|日|天|周|小时|分钟|次|封|名|人|元|门|份|章|条|项|倍|成|级|号|岁|位)`)
)

// facts reads numbers, dates and names of a text.
func facts(text string) factSet { return factSet{numbers(text), names(text)} }

// numbers are the numbers of a text in one form, those of dates too.
func numbers(text string) []string {
	var out []string
	plain := isoDate.ReplaceAllString(text, "$1 $2 $3")
	plain = identifier.ReplaceAllString(plain, " ") // FS-4 is a name
	for _, m := range numeral.FindAllString(plain, -1) {
		out = append(out, number(m))
	}
	for word := range strings.FieldsFuncSeq(analyze.Fold(plain), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if n, ok := numberWords[word]; ok {
			out = append(out, n)
		}
	}
	for _, at := range hanNumeral.FindAllStringIndex(plain, -1) {
		if n := hanNumber(plain[at[0]:at[1]]); n > 0 && hanCounted.MatchString(plain[at[1]:]) {
			out = append(out, strconv.Itoa(n))
		}
	}
	return out
}

// number writes a number in one form: "1,200.50" and "1 200,5" are "1200.5", "05" is "5".
func number(s string) string {
	grouped := groupedForm.FindString(s)
	if grouped != "" {
		s = strings.NewReplacer(".", "", ",", "", "'", "", " ", "", " ", "").Replace(grouped) + s[len(grouped):]
	}
	s = strings.ReplaceAll(s, ",", ".")
	if strings.Contains(s, ":") || strings.Count(s, ".") > 1 {
		return s
	}
	if x, err := strconv.ParseFloat(s, 64); err == nil {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return s
}

// numberWords are numbers in words, and months, folded. "One" and its like are mostly articles.
var numberWords = func() map[string]string {
	words := map[string]string{}
	for _, list := range []string{
		"two three four five six seven eight nine ten eleven twelve",
		"deux trois quatre cinq six sept huit neuf dix onze douze",
		"zwei drei vier funf sechs sieben acht neun zehn elf zwolf",
		"dos tres cuatro cinco seis siete ocho nueve diez once doce",
	} {
		for i, w := range strings.Fields(list) {
			words[w] = strconv.Itoa(i + 2)
		}
	}
	for _, list := range []string{
		"january february march april - june july august september october november december",
		"janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
		"januar februar marz april mai juni juli august september oktober november dezember",
		"enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
	} {
		for i, w := range strings.Fields(list) {
			words[w] = strconv.Itoa(i + 1)
		}
	}
	for i, w := range strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety") {
		words[w] = strconv.Itoa(10 * (i + 2))
	}
	delete(words, "-")
	delete(words, "march") // to walk
	delete(words, "once")  // Spanish for eleven, and an English word
	return words
}()

// hanNumber reads a Chinese numeral below a thousand; 0 if it is none.
func hanNumber(s string) int {
	digits := map[rune]int{'一': 1, '二': 2, '两': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9}
	total, digit := 0, 0
	for _, r := range s {
		switch r {
		case '十':
			total, digit = total+10*max(digit, 1), 0
		case '百':
			total, digit = total+100*max(digit, 1), 0
		default:
			digit = digits[r]
		}
	}
	return total + digit
}

// names are words in capitals that do not begin a sentence, words of capitals alone, and words with digits in them.
func names(text string) []string {
	var out []string
	german := strings.Contains(text, " der ") || strings.Contains(text, " und ") || strings.Contains(text, " ist ")
	previous := 0
	places := nameForm.FindAllStringIndex(text, -1)
	for i, at := range places {
		w := text[at[0]:at[1]]
		begins := strings.TrimSpace(text[previous:at[0]]) != "" && strings.ContainsAny(text[previous:at[0]], ".!?:\n•-") || previous == 0
		previous = at[1]
		capital, letters, digits := unicode.IsUpper([]rune(w)[0]), strings.ContainsFunc(w, unicode.IsLetter), strings.ContainsFunc(w, unicode.IsDigit)
		acronym := len(w) > 1 && letters && w == strings.ToUpper(w) && w != strings.ToLower(w)
		folded := analyze.Fold(w)
		if begins && i+1 < len(places) { // "Anna Keller" begins a name too, "The Office" does not
			next := text[places[i+1][0]:places[i+1][1]]
			begins = places[i+1][0] != at[1]+1 || !unicode.IsUpper([]rune(next)[0]) || openers[folded]
		}
		if _, number := numberWords[folded]; number || folded == "march" {
			continue
		}
		if letters && digits && isASCII(w) || acronym || capital && !begins && !german && len(w) > 1 {
			out = append(out, folded)
		}
	}
	return out
}

// openers begin a sentence before a name.
var openers = setOf(`the a an in on at by for from of to with under during after before when if all every each both most our their his her its this that these those only
	le la les un une des du au aux dans sur en par pour avec selon pendant apres avant chaque tous toutes el los las por para con`)

// strangers returns the first run of two Chinese characters or more of which a passage has none: it names something else.
func strangers(claim, passage string) string {
	var run []rune
	for _, r := range claim + "." {
		if unicode.Is(unicode.Han, r) && !strings.ContainsRune(passage, r) && !strings.ContainsRune(hanFunction, r) {
			run = append(run, r)
			continue
		}
		if len(run) > 1 {
			return string(run)
		}
		run = run[:0]
	}
	return ""
}

// hanFunction are characters of words that say nothing of a subject.
const hanFunction = "的了是在有和与及或可以能够会应需要将被把对于从到由为等也都就而但其这那该每各一个并且如果因根据按照规定大约左右共必须已经还只才则所之请吗呢不没无未二三四五六七八九十百两"

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// lackingIn names the first number that is not among those of a text; "" if all are.
func (f factSet) lackingIn(numbers []string) string {
	for _, n := range f.numbers {
		if !slices.Contains(numbers, n) {
			return "the number " + n
		}
	}
	return ""
}

// unnamed returns the first name of a claim that a text does not have in any form; "" if it has all.
func unnamed(claim []string, folded string) string {
	for _, n := range claim {
		stem := n
		if len(n) > 4 {
			stem = strings.TrimSuffix(strings.TrimSuffix(n, "s"), "'")
		}
		if !strings.Contains(folded, stem) {
			return n
		}
	}
	return ""
}
