package rag

import "strconv"

// distinct writes two numbers that differ so that they are seen to: with two decimals, or as many more as that takes.
func distinct(x, y float64) (string, string) {
	for digits := 2; ; digits++ {
		a, b := strconv.FormatFloat(x, 'f', digits, 64), strconv.FormatFloat(y, 'f', digits, 64)
		if a != b || x == y || digits == mostDigits {
			return a, b
		}
	}
}

// mostDigits tell any two numbers from 0.01 to 1 apart.
const mostDigits = 17

// phrase is how a refusal is worded, in the language of the question where it is known here, else in English.
func (a *answering) phrase() string {
	if p := refusalPhrases[a.language]; p != "" {
		return p
	}
	return refusalPhrases["en"]
}

// refusalPhrases by BCP 47 primary tag.
var refusalPhrases = map[string]string{
	"en": "I don't know.",
	"fr": "Je ne sais pas.",
	"zh": "我不知道。",
	"de": "Ich weiß es nicht.",
	"es": "No lo sé.",
	"it": "Non lo so.",
	"pt": "Não sei.",
	"nl": "Ik weet het niet.",
	"ja": "わかりません。",
	"ko": "모르겠습니다.",
	"ru": "Я не знаю.",
}

// languageNames tells a chat model, in English, which language to answer in.
var languageNames = map[string]string{
	"en": "English", "fr": "French", "zh": "Chinese", "de": "German", "es": "Spanish", "it": "Italian", "pt": "Portuguese",
	"nl": "Dutch", "ja": "Japanese", "ko": "Korean", "ru": "Russian", "uk": "Ukrainian", "el": "Greek", "ar": "Arabic",
	"fa": "Persian", "ur": "Urdu", "he": "Hebrew", "hi": "Hindi", "th": "Thai",
}
