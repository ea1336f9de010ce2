package loader

import (
	"strconv"
	"strings"
)

// formatNumber writes a counter in one of Word's number formats; one not known here is decimal.
func formatNumber(n int, format string) string {
	if signs, ok := countingSigns[format]; ok {
		return countedSign(n, []rune(signs))
	}
	switch format {
	case "lowerLetter":
		return strings.ToLower(letters(n))
	case "upperLetter":
		return letters(n)
	case "lowerRoman":
		return strings.ToLower(roman(n))
	case "upperRoman":
		return roman(n)
	case "decimalZero":
		if n < 10 {
			return "0" + strconv.Itoa(n)
		}
	case "chineseCounting", "chineseCountingThousand", "taiwaneseCounting", "taiwaneseCountingThousand", "japaneseCounting", "ideographDigital":
		return chinese(n)
	case "none":
		return ""
	}
	return strconv.Itoa(n)
}

// countingSigns are the formats that count with a row of signs.
var countingSigns = map[string]string{
	"decimalEnclosedCircle":        "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳",
	"decimalEnclosedCircleChinese": "①②③④⑤⑥⑦⑧⑨⑩",
	"ideographTraditional":         "甲乙丙丁戊己庚辛壬癸",
	"ideographZodiac":              "子丑寅卯辰巳午未申酉戌亥",
	"ganada":                       "가나다라마바사아자차카타파하",
	"aiueoFullWidth":               "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン",
	"irohaFullWidth":               "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセスン",
	"russianLower":                 "абвгдежзиклмнопрстуфхцчшщыэюя",
	"russianUpper":                 "АБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЫЭЮЯ",
}

// countedSign is the n-th sign; a number beyond the row is decimal.
func countedSign(n int, signs []rune) string {
	if n < 1 || n > len(signs) {
		return strconv.Itoa(n)
	}
	return string(signs[n-1])
}

// maxLetters bounds the letters of a label: Word repeats one, "AAA" for 53.
const maxLetters = 30

func letters(n int) string {
	if n < 1 || (n-1)/26 >= maxLetters {
		return strconv.Itoa(n)
	}
	return strings.Repeat(string(rune('A'+(n-1)%26)), (n-1)/26+1)
}

func roman(n int) string {
	if n < 1 || n > 3999 {
		return strconv.Itoa(n)
	}
	values := []int{1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1}
	signs := []string{"M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"}
	var b strings.Builder
	for i, v := range values {
		for n >= v {
			b.WriteString(signs[i])
			n -= v
		}
	}
	return b.String()
}

// chinese writes 1 to 99; larger numbers are decimal.
func chinese(n int) string {
	digits := []rune("〇一二三四五六七八九")
	if n < 1 || n > 99 {
		return strconv.Itoa(n)
	}
	out := ""
	if n >= 20 {
		out = string(digits[n/10])
	}
	if n >= 10 {
		out += "十"
	}
	if n%10 > 0 {
		out += string(digits[n%10])
	}
	return out
}
