package rewrite

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/seed-d8745b77/rag"
)

// mostTerms is how many key words of an earlier question are added to a follow-up: more would be looked up in place of
// what is asked.
const mostTerms = 6

// followUp returns a follow-up with the key words of the question that began its subject, in the order they stand there;
// "" if the question stands for itself, or nothing can be added.
func followUp(question string, turns []rag.ChatMessage) string {
	if !pointsBack(question) {
		return ""
	}
	var terms []string
	for i := len(turns) - 1; i >= 0; i-- {
		if turns[i].Role != rag.RoleUser {
			continue
		}
		terms = append(terms, keyTerms(turns[i].Text)...)
		if !pointsBack(turns[i].Text) { // a question of its own began the subject
			break
		}
	}
	if terms = distinctTerms(question, terms); len(terms) == 0 {
		return ""
	}
	return question + " " + strings.Join(terms[:min(len(terms), mostTerms)], " ")
}

// pointsBack reports whether a question leans on what was said before: it begins as one that goes on, or a pronoun stands
// in it for something that the question itself does not name.
func pointsBack(question string) bool {
	lower := strings.ToLower(strings.TrimSpace(question))
	for _, opening := range openings {
		if rest, ok := strings.CutPrefix(lower, opening); ok && (strings.HasSuffix(opening, " ") || isHan(opening) || !startsWithLetter(rest)) {
			return true
		}
	}
	for _, p := range hanPronouns {
		if strings.Contains(lower, p) {
			return true
		}
	}
	named, clause := false, false // a key word stands before; and a clause ends behind it
	for _, field := range strings.Fields(empty.ReplaceAllString(lower, "$1")) {
		for _, w := range wordsOf(field) {
			switch {
			case possessives[w] && !named, pronouns[w] && !clause:
				return true
			case joins[w]:
				clause = clause || named
			case isKey(w):
				named = true
			}
		}
		clause = clause || named && strings.ContainsAny(field, ",;:")
	}
	return false
}

// openings are the beginnings of questions that go on with a subject.
var openings = []string{
	"and ", "what about", "how about", "what if", "why not", "also ", "then ", "but ", "so ",
	"et ", "qu'en est-il", "mais ", "und ", "was ist mit", "wie ist es mit", "aber ", "y ", "pero ", "qué pasa con", "e ", "ma ", "mas ",
	"那", "还有", "還有", "如果", "为什么不",
}

// pronouns stand for something said before, in English, French, German, Spanish, Italian, Portuguese and Dutch. Those that
// are more often an article, a conjunction or mean nothing ("that", "il", "es", "het") are left out.
var pronouns = wordSet(`it they them theirs this these those he him she hers ones
elle ils elles ça cela ceci celui celle ceux celles lui
er ihn ihm dies diese dieser dieses davon dafür damit dazu
eso esto esos esas ello él ella ellos ellas
esso essa essi questo questa quello quella loro
isso isto ele ela eles elas
hij zij ze deze ervan`)

// possessives may belong to anything named before them in the question.
var possessives = wordSet(`its their his her leur leurs ihre ihrer ihren su sus suo sua suoi seu seus suas`)

// joins begin another clause, which may lean on the one before.
var joins = wordSet(`and or but if when because which who et ou mais si quand qui und oder wenn y o pero cuando e ed ma se quando en of maar als`)

// empty matches an "it" that stands for nothing ("is it possible to …").
var empty = regexp.MustCompile(`\bit(\s+(?:possible|allowed|permitted|necessary|required|legal|true|ok|okay|better|takes?)\b)`)

// hanPronouns are those of Chinese that point back.
var hanPronouns = []string{"它", "他们", "她们", "这个", "這個", "那个", "那個", "这些", "那些", "其", "上述", "前者", "后者"}

// keyTerms returns the words of a question that say what it is about, as they are written.
func keyTerms(text string) []string {
	var terms []string
	for _, w := range wordsOf(hanPhrases.Replace(text)) {
		if isKey(strings.ToLower(w)) {
			terms = append(terms, w)
		}
	}
	return terms
}

// isKey reports whether a word, in lower case, says what a question is about.
func isKey(word string) bool {
	return !stopWords[word] && !pronouns[word] && !possessives[word] && !joins[word] && (isHan(word) || len(word) > 1)
}

// distinctTerms returns the terms that do not stand in the question, each once.
func distinctTerms(question string, terms []string) []string {
	seen := map[string]bool{}
	for _, w := range wordsOf(question) {
		seen[strings.ToLower(w)] = true
	}
	var out []string
	for _, t := range terms {
		if key := strings.ToLower(t); !seen[key] {
			seen[key] = true
			out = append(out, t)
		}
	}
	return out
}

// wordsOf cuts a text into words. In Chinese and Japanese a word is what stands between the characters that serve as stop
// words.
func wordsOf(text string) []string {
	var words []string
	start, han := -1, false
	end := func(at int) {
		if start >= 0 {
			words = append(words, text[start:at])
		}
		start = -1
	}
	for i, r := range text {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r), strings.ContainsRune(hanStops, r):
			end(i)
		case start < 0 || isHanRune(r) != han:
			end(i)
			start, han = i, isHanRune(r)
		}
	}
	end(len(text))
	return words
}

// hanStops are characters of Chinese that are hardly part of a word.
const hanStops = "的了吗嗎呢吧啊是和与與或我你您几幾"

// hanPhrases are the words of Chinese questions that say nothing of their subject; of two that begin alike the longer
// comes first. The characters of most are part of other words.
var hanPhrases = strings.NewReplacer("请问", " ", "請問", " ", "为什么", " ", "為什麼", " ", "什么", " ", "什麼", " ", "怎么样", " ",
	"怎么", " ", "怎麼", " ", "怎样", " ", "如何", " ", "多少", " ", "多久", " ", "哪些", " ", "哪里", " ", "可以", " ", "能不能", " ", "有没有", " ", "有几", " ", "还有", " ")

func isHanRune(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }

func isHan(text string) bool { return strings.ContainsFunc(text, isHanRune) }

func startsWithLetter(text string) bool {
	for _, r := range text {
		return unicode.IsLetter(r)
	}
	return false
}

// stopWords are the function words of questions.
var stopWords = wordSet(`a about all also am an and any are as at be because been being but by can could did do does doing for from
get give had has have having how i if in into is just know like make may me might more most much many must my need no not of on or our out
please say shall should so some such take tell than the then to up us use want was we were what when where which while who whom why
will with would you your does long often
à au aux avec ce ces cet cette comme comment combien dans de des du en est et être faire faut il je la le les mais me moi ne nous on
ou où par pas peut plus pour pourquoi quand que quel quelle quelles quels qu qui quoi sans se si sont sur un une vous y a
aber als am an auch auf aus bei bin bis das dass dem den der die doch ein eine einem einen einer eines für gibt hat habe haben
hier ich im in ist kann können man mein mit muss nach nicht noch nur oder sind so über um und uns unter vom von vor wann warum
was welche welcher welches wenn wer werden wie wir wird wo zu zum zur
al como con cómo cuál cuáles cuándo cuánto cuántos cuántas cuál de del dónde donde el en es está están hay la las lo los me mi no
o para pero por puede puedo que qué quién se sin sobre son tiene un una y yo
che chi come con cosa da dal della di dove e è gli ha ho i il in io la le lo mi non per perché più quale quali quando quanto sono un una
ao as com da das do dos e em é eu há na no não nas nos o os ou para por posso qual quais quando quanto que quem são se ser um uma
aan als bij de een en er geen had heb heeft hoe hoeveel ik in is kan mag met mijn moet naar niet of om op over te van voor waar waarom
wanneer wat welke wie wordt zijn`)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}
