package tokenize

import (
	"encoding/json"
	"fmt"

	"github.com/seed-d8745b77/rag/internal/strict"
)

// file is the part of a tokenizer.json that says how text becomes ids.
type file struct {
	AddedTokens []struct {
		ID         int32  `json:"id"`
		Content    string `json:"content"`
		SingleWord bool   `json:"single_word"`
		LStrip     bool   `json:"lstrip"`
		RStrip     bool   `json:"rstrip"`
		Normalized bool   `json:"normalized"`
	} `json:"added_tokens"`
	Normalizer    *fileNormalizer    `json:"normalizer"`
	PreTokenizer  *filePreTokenizer  `json:"pre_tokenizer"`
	PostProcessor *filePostProcessor `json:"post_processor"`
	Model         fileModel          `json:"model"`
}

type fileNormalizer struct {
	Type string `json:"type"`
	// BertNormalizer
	CleanText    bool  `json:"clean_text"`
	ChineseChars bool  `json:"handle_chinese_chars"`
	StripAccents *bool `json:"strip_accents"` // null: as Lowercase
	Lowercase    bool  `json:"lowercase"`
	// Sequence
	Normalizers []fileNormalizer `json:"normalizers"`
	// Precompiled
	Charsmap []byte `json:"precompiled_charsmap"`
	// Replace
	Pattern struct {
		Regex string `json:"Regex"`
	} `json:"pattern"`
	Content string `json:"content"`
}

type filePreTokenizer struct {
	Type string `json:"type"`
	// Sequence
	PreTokenizers []filePreTokenizer `json:"pretokenizers"`
	// Metaspace
	Replacement   string `json:"replacement"`
	PrefixSpace   *bool  `json:"add_prefix_space"` // before prepend_scheme came
	PrependScheme string `json:"prepend_scheme"`
	Split         *bool  `json:"split"` // null: yes
}

type fileModel struct {
	Type         string          `json:"type"` // "" in old files: by the other fields
	Vocab        json.RawMessage `json:"vocab"`
	Unknown      string          `json:"unk_token"`                 // WordPiece
	Prefix       string          `json:"continuing_subword_prefix"` // WordPiece
	Longest      int             `json:"max_input_chars_per_word"`  // WordPiece
	UnknownID    *int32          `json:"unk_id"`                    // Unigram
	ByteFallback bool            `json:"byte_fallback"`             // Unigram
}

func readFile(tokenizerJSON []byte) (*file, error) {
	var f file
	if err := strict.Unmarshal(tokenizerJSON, &f); err != nil {
		return nil, fmt.Errorf("read tokenizer.json: %w", err)
	}
	return &f, nil
}

// Parse reads a tokenizer.json by Hugging Face with a WordPiece or a Unigram model. It refuses, and names, what it
// does not do exactly as `tokenizers` does. The limits and the padding that the file may set are left to the caller.
func Parse(tokenizerJSON []byte) (Tokenizer, error) {
	f, err := readFile(tokenizerJSON)
	if err != nil {
		return nil, err
	}
	tokens, err := f.addedTokens()
	if err != nil {
		return nil, err
	}
	frame, err := f.frame()
	if err != nil {
		return nil, err
	}
	var n normalizer
	var m model
	var vocabulary []string
	switch f.Model.kind() {
	case "WordPiece":
		n, m, vocabulary, err = f.wordPiece()
	case "Unigram":
		n, m, vocabulary, err = f.unigram()
	default:
		err = fmt.Errorf("tokenizer.json: model %q: only WordPiece and Unigram are known", f.Model.Type)
	}
	if err != nil {
		return nil, err
	}
	if err := checkIDs(tokens, vocabulary); err != nil {
		return nil, err
	}
	return newPipeline(n, m, frame, tokens), nil
}

// checkIDs refuses added tokens with other ids than `tokenizers` gives them: that of the entry of the vocabulary, or
// else the next one after it.
func checkIDs(tokens []addedToken, vocabulary []string) error {
	texts := make(map[string]bool, len(tokens))
	for _, t := range tokens {
		texts[t.text] = true
	}
	ids := make(map[string]int32, len(tokens))
	for i, entry := range vocabulary {
		if texts[entry] {
			ids[entry] = int32(i)
		}
	}
	next := int32(len(vocabulary))
	for _, t := range tokens {
		want, ok := ids[t.text]
		if !ok {
			want, ids[t.text] = next, next
			next++
		}
		if t.id != want {
			return fmt.Errorf("tokenizer.json: added token %q has the id %d, by the vocabulary it is %d", t.text, t.id, want)
		}
	}
	return nil
}

func (m *fileModel) kind() string {
	switch {
	case m.Type != "":
		return m.Type
	case m.Prefix != "":
		return "WordPiece"
	case m.UnknownID != nil:
		return "Unigram"
	}
	return ""
}

func (f *file) addedTokens() ([]addedToken, error) {
	var tokens []addedToken
	for _, t := range f.AddedTokens {
		if t.SingleWord {
			return nil, fmt.Errorf("tokenizer.json: added token %q is found as a whole word only (single_word): not known", t.Content)
		}
		tokens = append(tokens, addedToken{text: t.Content, id: t.ID, eatsLeft: t.LStrip, eatsRight: t.RStrip, normalized: t.Normalized})
	}
	return tokens, nil
}

func (f *file) wordPiece() (normalizer, model, []string, error) {
	n, m := f.Normalizer, f.Model
	if n == nil || n.Type != "BertNormalizer" {
		return nil, nil, nil, fmt.Errorf("tokenizer.json: WordPiece with normalizer %s: only BertNormalizer is known", n.name())
	}
	if p := f.PreTokenizer; p == nil || p.Type != "BertPreTokenizer" {
		return nil, nil, nil, fmt.Errorf("tokenizer.json: WordPiece with pre-tokenizer %s: only BertPreTokenizer is known", p.name())
	}
	vocabulary, err := wordVocabulary(m.Vocab)
	if err != nil {
		return nil, nil, nil, err
	}
	pieces := newWordPieces(vocabulary, m.Unknown, m.Prefix, m.Longest)
	if pieces.unknown < 0 {
		return nil, nil, nil, fmt.Errorf("tokenizer.json: the unknown token %q is not in the vocabulary", m.Unknown)
	}
	strip := n.Lowercase
	if n.StripAccents != nil {
		strip = *n.StripAccents
	}
	return bertNormalizer{clean: n.CleanText, ideographs: n.ChineseChars, stripAccents: strip, lowercase: n.Lowercase}, pieces, vocabulary, nil
}

func (f *file) unigram() (normalizer, model, []string, error) {
	n, err := f.Normalizer.precompiled()
	if err != nil {
		return nil, nil, nil, err
	}
	words, err := f.PreTokenizer.metaspace()
	if err != nil {
		return nil, nil, nil, err
	}
	if f.Model.UnknownID == nil {
		return nil, nil, nil, fmt.Errorf("tokenizer.json: Unigram without an unknown token (unk_id)")
	}
	pieces, scores, err := scoredVocabulary(f.Model.Vocab)
	if err != nil {
		return nil, nil, nil, err
	}
	m, err := newUnigram(pieces, scores, *f.Model.UnknownID, f.Model.ByteFallback, words)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("tokenizer.json: %w", err)
	}
	return n, m, pieces, nil
}

// precompiled accepts nothing, Precompiled, the shortening of spaces, and the two in this order.
func (n *fileNormalizer) precompiled() (p precompiled, err error) {
	for _, step := range n.steps() {
		switch {
		case step.Type == "Precompiled" && p.charsmap == nil && p.spaces == "":
			if p.charsmap, err = parseCharsmap(step.Charsmap); err != nil {
				return p, fmt.Errorf("tokenizer.json: %w", err)
			}
		case step.Type == "Replace" && step.Pattern.Regex == " {2,}" && (step.Content == " " || step.Content == wordMark) && p.spaces == "":
			p.spaces = step.Content
		default:
			return p, fmt.Errorf("tokenizer.json: Unigram with normalizer %s: only Precompiled, then Replace of / {2,}/ is known", n.name())
		}
	}
	return p, nil
}

// steps lists the normalizers of a sequence, or the one.
func (n *fileNormalizer) steps() []fileNormalizer {
	if n == nil {
		return nil
	}
	if n.Type == "Sequence" {
		return n.Normalizers
	}
	return []fileNormalizer{*n}
}

func (n *fileNormalizer) name() string {
	if n == nil {
		return "none"
	}
	name := fmt.Sprintf("%q", n.Type)
	for _, step := range n.Normalizers {
		name += fmt.Sprintf(" %q", step.Type)
	}
	return name
}

// metaspace accepts Metaspace, alone or after WhitespaceSplit.
func (p *filePreTokenizer) metaspace() (metaspace, error) {
	refused := fmt.Errorf("tokenizer.json: Unigram with pre-tokenizer %s: only Metaspace, or WhitespaceSplit and then Metaspace, is known", p.name())
	if p == nil {
		return metaspace{}, refused
	}
	steps := []filePreTokenizer{*p}
	if p.Type == "Sequence" {
		steps = p.PreTokenizers
	}
	var m metaspace
	if len(steps) == 2 && steps[0].Type == "WhitespaceSplit" {
		m.splitSpace = true
		steps = steps[1:]
	}
	if len(steps) != 1 || steps[0].Type != "Metaspace" || steps[0].Replacement != wordMark {
		return m, refused
	}
	last := steps[0]
	switch scheme := last.PrependScheme; {
	case scheme == "always", scheme == "" && (last.PrefixSpace == nil || *last.PrefixSpace):
		m.prepend = true
	case scheme == "never", scheme == "":
	default:
		return m, fmt.Errorf("tokenizer.json: Metaspace with prepend_scheme %q: only always and never are known", scheme)
	}
	m.split = last.Split == nil || *last.Split
	return m, nil
}

func (p *filePreTokenizer) name() string {
	if p == nil {
		return "none"
	}
	name := fmt.Sprintf("%q", p.Type)
	for _, step := range p.PreTokenizers {
		name += fmt.Sprintf(" %q", step.Type)
	}
	return name
}
