package tokenize

import (
	"encoding/json"
	"fmt"
)

// ParseVocabulary reads the vocabulary of a tokenizer.json by Hugging Face, ordered by id. It refuses a tokenizer
// that [WordPiece] would not be equal to: another model, or BERT's with other settings than those of uncased models.
func ParseVocabulary(tokenizerJSON []byte) ([]string, error) {
	var file struct {
		Normalizer struct {
			Type         string `json:"type"`
			CleanText    bool   `json:"clean_text"`
			ChineseChars bool   `json:"handle_chinese_chars"`
			StripAccents *bool  `json:"strip_accents"` // null: as Lowercase
			Lowercase    bool   `json:"lowercase"`
		} `json:"normalizer"`
		PreTokenizer struct {
			Type string `json:"type"`
		} `json:"pre_tokenizer"`
		Model struct {
			Type    string           `json:"type"`
			Prefix  string           `json:"continuing_subword_prefix"`
			Longest int              `json:"max_input_chars_per_word"`
			Vocab   map[string]int32 `json:"vocab"`
		} `json:"model"`
	}
	if err := json.Unmarshal(tokenizerJSON, &file); err != nil {
		return nil, fmt.Errorf("read tokenizer.json: %w", err)
	}
	n, m := file.Normalizer, file.Model
	uncased := n.Type == "BertNormalizer" && n.CleanText && n.ChineseChars && n.Lowercase && (n.StripAccents == nil || *n.StripAccents)
	if !uncased || file.PreTokenizer.Type != "BertPreTokenizer" {
		return nil, fmt.Errorf("tokenizer.json: normalizer %q with pre-tokenizer %q: only those of uncased BERT models are known", n.Type, file.PreTokenizer.Type)
	}
	if (m.Type != "" && m.Type != "WordPiece") || m.Prefix != continuing || m.Longest != maxWordRunes {
		return nil, fmt.Errorf("tokenizer.json: model %q with prefix %q and words of up to %d characters: want WordPiece, %q, %d", m.Type, m.Prefix, m.Longest, continuing, maxWordRunes)
	}
	vocabulary := make([]string, len(m.Vocab))
	for entry, id := range m.Vocab {
		if id < 0 || int(id) >= len(vocabulary) || vocabulary[id] != "" {
			return nil, fmt.Errorf("tokenizer.json: ids of the vocabulary are not 0 to %d, each once: %q has %d", len(vocabulary)-1, entry, id)
		}
		vocabulary[id] = entry
	}
	return vocabulary, nil
}
