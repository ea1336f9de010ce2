package analyze

// isStopWord reports whether a word in lower case is one of Lucene's 33 English stop words. Other languages have
// none: their frequent words weigh little by themselves, and lists for all would drop words of one another.
func isStopWord(word string) bool {
	switch word {
	case "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not",
		"of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with":
		return true
	}
	return false
}
