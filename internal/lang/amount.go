package lang

import (
	"regexp"
	"strings"
	"unicode"
)

// asksAmount is how questions ask for a number, in the languages that are known here.
var asksAmount = regexp.MustCompile(`(?i)(?:^|[^\pL])(?:how\s+(?:many|much)|wie\s*viele?[nrs]?|combien|cu[áa]nt[oa]s?|quant[oaie]s?|hoeveel)(?:$|[^\pL])|多少|几(?:个|天|次|年|月|周|小时|分钟|封|人|份)`)

// AsksAmount reports whether a question asks how many there are of something, or how much.
func AsksAmount(question string) bool { return asksAmount.MatchString(question) }

// numberWords are numbers in words; one, which is an article too in most languages, is none.
var numberWords = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(`
		zero none two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million half once twice
		null keine zwei drei vier fünf sechs sieben acht neun zehn elf zwölf fünfzehn zwanzig dreißig vierzig fünfzig hundert tausend million halbe halben einmal zweimal
		zéro aucun aucune deux trois quatre cinq six sept huit neuf dix onze douze quinze vingt trente quarante cinquante cent mille demi
		cero ninguno ninguna dos tres cuatro cinco seis siete ocho nueve diez once doce quince veinte treinta cuarenta cincuenta cien ciento mil medio media
		nenhum nenhuma dois duas três oito nove dez doze vinte trinta cem metade meio meia
		nessuno nessuna due tre quattro cinque sei sette otto nove dieci dodici venti trenta cento mezzo mezza
		nul geen twee drie vier vijf zes zeven acht negen tien twaalf twintig dertig honderd duizend halve`) {
		set[w] = true
	}
	return set
}()

// HasAmount reports whether a text has a number, in digits or in words.
func HasAmount(text string) bool {
	if strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsNumber(r) || strings.ContainsRune("零一二三四五六七八九十百千万两半", r)
	}) {
		return true
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if numberWords[strings.ToLower(word)] {
			return true
		}
	}
	return false
}
