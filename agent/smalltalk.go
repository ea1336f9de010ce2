package agent

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// phrases of small talk, folded: a question that consists of nothing else is no question. English, French, German, Spanish,
// Chinese. What only accompanies them stands in fillers.
var greetings = []string{
	"hi", "hello", "hey", "hiya", "good morning", "good afternoon", "good evening", "good day", "good night", "greetings", "how are you", "how are you doing", "how is it going", "what is up", "nice to meet you",
	"thanks", "thank you", "thx", "ty", "cheers", "many thanks", "that helped", "that helps", "great", "perfect", "nice", "cool", "awesome", "well done", "good job",
	"bye", "goodbye", "see you", "see you later", "have a nice day", "ok", "okay", "lol", "haha", "sorry", "no problem", "never mind",
	"bonjour", "salut", "bonsoir", "coucou", "bonne nuit", "bonne journee", "ca va", "comment ca va", "comment allez vous", "comment vas tu", "merci", "merci beaucoup", "au revoir", "a bientot", "d accord", "super", "parfait",
	"hallo", "guten tag", "guten morgen", "guten abend", "moin", "servus", "gruss dich", "wie geht s", "wie geht es dir", "danke", "danke schon", "vielen dank", "tschuss", "auf wiedersehen", "bis bald", "alles klar",
	"hola", "buenos dias", "buenas tardes", "buenas noches", "que tal", "como estas", "gracias", "muchas gracias", "adios", "hasta luego", "vale",
	"你好", "您好", "大家好", "哈喽", "嗨", "早", "早上好", "上午好", "中午好", "下午好", "晚上好", "晚安", "在吗", "在么", "在不在", "最近怎么样", "谢谢", "谢谢你", "谢谢您", "多谢", "感谢", "非常感谢", "辛苦了",
	"再见", "拜拜", "回头见", "好的", "好", "嗯", "嗯嗯", "明白了", "知道了", "哈哈", "太好了", "很好", "不客气", "对不起", "没事",
}

// fillers say nothing without a greeting.
var fillers = []string{
	"there", "all", "everyone", "everybody", "friend", "bot", "assistant", "again", "very much", "so much", "a lot", "much", "really", "you too", "for your help", "for the help", "for that", "for now", "and", "then", "that was", "very helpful", "helpful", "please", "that s all", "i see", "got it", "to you",
	"a tous", "tout le monde", "beaucoup", "bien", "pour votre aide", "pour ton aide", "et", "zusammen", "sehr", "fur die hilfe", "und", "dir", "ihnen", "por la ayuda", "por tu ayuda", "a todos", "mucho", "y",
	"啊", "呀", "吧", "了", "哦", "呢", "你的帮助", "您的帮助", "帮忙", "朋友",
}

// metaQuestions ask about the assistant itself.
var metaQuestions = []string{
	"what can you do", "what can you do for me", "what can you help me with", "what do you do", "what do you know", "what can i ask", "what can i ask you", "how do you work", "how does this work", "how do i use this", "how can i use you", "who are you", "what are you", "what is your name", "are you a robot", "are you a bot", "are you human", "are you an ai", "are you there", "help", "help me", "can you help me", "can you help",
	"que peux tu faire", "que pouvez vous faire", "que sais tu faire", "que savez vous faire", "qui es tu", "qui etes vous", "comment tu t appelles", "comment t appelles tu", "tu es qui", "aide", "aide moi", "aidez moi", "peux tu m aider", "pouvez vous m aider", "comment ca marche",
	"was kannst du", "was konnen sie", "was kannst du tun", "was kannst du fur mich tun", "wer bist du", "wer sind sie", "wie heisst du", "hilfe", "hilf mir", "kannst du mir helfen", "konnen sie mir helfen", "wie funktioniert das",
	"que puedes hacer", "que sabes hacer", "quien eres", "quien es usted", "como te llamas", "ayuda", "ayudame", "puedes ayudarme", "como funciona",
	"你是谁", "您是谁", "你是什么", "你叫什么", "你叫什么名字", "你能做什么", "你能干什么", "你会做什么", "你会什么", "你可以做什么", "你有什么功能", "能帮我吗", "你能帮我吗", "帮助", "帮帮我", "怎么用", "如何使用", "你是机器人吗", "介绍一下你自己", "自我介绍",
}

// requests are for something that no document holds.
var requests = regexp.MustCompile(`^(?:please )?(?:(?:can|could) you )?(?:write|compose|make up|sing)(?: me| us)? (?:a |an |another |some )?(?:short |funny |little )?(?:poem|limerick|haiku|joke|story|song|rap|rhyme|tale|poetry)\b` +
	`|^(?:please )?(?:(?:can|could) you )?tell (?:me |us )?(?:a |another |some )(?:funny |good )?(?:joke|story)|^(?:please )?translate .+ (?:in)?to [a-z]+(?: please)?$|^can you play ` +
	`|^(?:raconte|ecris|compose|chante)(?:z)?(?: moi| nous)? (?:une|un|des) (?:blague|histoire|poeme|chanson)|^tradui(?:s|sez|re) .+ en [a-z]+$` +
	`|^(?:erzahl|schreib|sing)(?:e|en sie)?(?: mir| uns)? (?:einen|ein|eine) (?:witz|gedicht|geschichte|lied)|^cuenta(?:me)? un (?:chiste|cuento)|^escribe(?:me)? un poema` +
	`|^(?:请|麻烦)?(?:给我|为我|帮我)?(?:讲|说|写|唱)(?:一?个|一?首|一?篇)?(?:笑话|故事|诗|歌|段子)|^你会.{1,8}吗$|^把.+翻译成`)

// smallTalk are all phrases of the rule layer by their first word.
var smallTalk = phraseTable()

type phrase struct {
	words []string
	kind  talk
}

// talk is a kind of small talk.
type talk int

const (
	noTalk talk = iota
	filler
	greeting
	meta
)

func phraseTable() map[string][]phrase {
	table := map[string][]phrase{}
	for _, list := range []struct {
		kind    talk
		phrases []string
	}{{meta, metaQuestions}, {greeting, greetings}, {filler, fillers}} {
		for _, p := range list.phrases {
			words := splitTalk(p)
			table[words[0]] = append(table[words[0]], phrase{words, list.kind})
		}
	}
	return table
}

// splitTalk cuts folded text into words, and scripts without blanks into characters.
func splitTalk(folded string) []string {
	var out []string
	for _, field := range strings.FieldsFunc(folded, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		start := 0
		for i, r := range field {
			if isUnspaced(r) {
				if start < i {
					out = append(out, field[start:i])
				}
				out = append(out, string(r))
				start = i + len(string(r))
			}
		}
		if start < len(field) {
			out = append(out, field[start:])
		}
	}
	return out
}

// longestTalk is how many words small talk has at most: longer text has something to say.
const longestTalk = 16

// classifyTalk says whether a question is nothing but small talk, and of which kind.
func classifyTalk(folded string) talk {
	words := splitTalk(folded)
	if len(words) > 3*longestTalk {
		return noTalk
	}
	if requests.MatchString(strings.TrimSpace(strings.Join(strings.FieldsFunc(folded, isPause), " "))) {
		return greeting
	}
	if len(words) == 0 || len(words) > longestTalk {
		return noTalk
	}
	// kinds[i] is the kind of the first i words, if phrases make them up.
	kinds := make([]talk, len(words)+1)
	kinds[0] = filler
	for at := range words {
		for _, p := range smallTalk[words[at]] {
			if end := at + len(p.words); kinds[at] != noTalk && end <= len(words) && slices.Equal(words[at:end], p.words) {
				kinds[end] = max(kinds[end], kinds[at], p.kind)
			}
		}
	}
	if kind := kinds[len(words)]; kind > filler {
		return kind
	}
	return noTalk
}

// isPause cuts words where requests are looked for.
func isPause(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune(".,;:!?-'\"。，！？、", r)
}
