package tokenize

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// ParseVocabulary reads the vocabulary of a tokenizer.json by Hugging Face, ordered by id. It refuses a tokenizer
// that [NewWordPiece] would not be equal to: another model, or BERT's with other settings than those of uncased models.
func ParseVocabulary(tokenizerJSON []byte) ([]string, error) {
	f, err := readFile(tokenizerJSON)
	if err != nil {
		return nil, err
	}
	n, m := f.Normalizer, f.Model
	uncased := n != nil && n.Type == "BertNormalizer" && n.CleanText && n.ChineseChars && n.Lowercase && (n.StripAccents == nil || *n.StripAccents)
	if !uncased || f.PreTokenizer == nil || f.PreTokenizer.Type != "BertPreTokenizer" {
		return nil, fmt.Errorf("tokenizer.json: another normalizer or pre-tokenizer than those of uncased BERT models")
	}
	if (m.Type != "" && m.Type != "WordPiece") || m.Prefix != continuing || m.Longest != maxWordRunes {
		return nil, fmt.Errorf("tokenizer.json: model %q with prefix %q and words of up to %d characters: want WordPiece, %q, %d", m.Type, m.Prefix, m.Longest, continuing, maxWordRunes)
	}
	return wordVocabulary(m.Vocab)
}

// wordVocabulary reads {"entry": id, …}; the ids must be 0 to n-1.
func wordVocabulary(raw []byte) ([]string, error) {
	var ids map[string]int32
	if err := json.Unmarshal(raw, &ids); err != nil {
		return nil, fmt.Errorf("tokenizer.json: vocabulary: %w", err)
	}
	vocabulary := make([]string, len(ids))
	for entry, id := range ids {
		if id < 0 || int(id) >= len(vocabulary) || vocabulary[id] != "" {
			return nil, fmt.Errorf("tokenizer.json: ids of the vocabulary are not 0 to %d, each once: %q has %d", len(vocabulary)-1, entry, id)
		}
		vocabulary[id] = entry
	}
	return vocabulary, nil
}

// scoredVocabulary reads [["entry", score], …], where the index is the id. The vocabularies of multilingual models
// have hundreds of thousands of entries: this takes a tenth of the time of package json with a type for an entry.
func scoredVocabulary(raw []byte) (pieces []string, scores []float64, err error) {
	s := scanner{raw: raw}
	s.expect('[')
	for first := true; s.err == nil && !s.skip(']'); first = false {
		if !first {
			s.expect(',')
		}
		s.expect('[')
		pieces = append(pieces, s.text())
		s.expect(',')
		scores = append(scores, s.number())
		s.expect(']')
	}
	if s.err != nil {
		return nil, nil, fmt.Errorf("tokenizer.json: vocabulary: %w", s.err)
	}
	return pieces, scores, nil
}

// scanner reads JSON that is known to be valid. After an error it reads nothing.
type scanner struct {
	raw []byte
	at  int
	err error
}

// skip passes white space and then b, if it is there.
func (s *scanner) skip(b byte) bool {
	for s.at < len(s.raw) && (s.raw[s.at] == ' ' || s.raw[s.at] == '\n' || s.raw[s.at] == '\t' || s.raw[s.at] == '\r') {
		s.at++
	}
	if s.at < len(s.raw) && s.raw[s.at] == b {
		s.at++
		return true
	}
	return false
}

func (s *scanner) expect(b byte) {
	if s.err == nil && !s.skip(b) {
		s.err = fmt.Errorf("want %q at byte %d", b, s.at)
	}
}

func (s *scanner) text() string {
	s.expect('"')
	if s.err != nil {
		return ""
	}
	from, escaped := s.at, false
	for s.at < len(s.raw) && s.raw[s.at] != '"' {
		if s.raw[s.at] == '\\' {
			escaped = true
			s.at++
		}
		s.at++
	}
	if s.at >= len(s.raw) {
		s.err = fmt.Errorf("string at byte %d has no end", from)
		return ""
	}
	s.at++
	if !escaped {
		return string(s.raw[from : s.at-1])
	}
	var text string
	s.err = json.Unmarshal(s.raw[from-1:s.at], &text)
	return text
}

func (s *scanner) number() float64 {
	s.skip(' ')
	from := s.at
	for s.at < len(s.raw) && s.raw[s.at] != ']' && s.raw[s.at] > ' ' {
		s.at++
	}
	if s.err != nil {
		return 0
	}
	v, err := strconv.ParseFloat(string(s.raw[from:s.at]), 64)
	if err != nil {
		s.err = err
	}
	return v
}
