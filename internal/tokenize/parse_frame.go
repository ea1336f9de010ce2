package tokenize

import (
	"encoding/json"
	"fmt"
)

// filePostProcessor says which special tokens a model wants around texts.
type filePostProcessor struct {
	Type string `json:"type"`
	// TemplateProcessing
	Single        []fileSlot `json:"single"`
	Pair          []fileSlot `json:"pair"`
	SpecialTokens map[string]struct {
		IDs []int32 `json:"ids"`
	} `json:"special_tokens"`
	// BertProcessing and RobertaProcessing: ["[SEP]", 102]
	Sep   specialToken `json:"sep"`
	Class specialToken `json:"cls"`
}

type fileSlot struct {
	SpecialToken *fileSlotContent `json:"SpecialToken"`
	Sequence     *fileSlotContent `json:"Sequence"`
}

type fileSlotContent struct {
	ID   string `json:"id"`
	Type int32  `json:"type_id"`
}

// specialToken is an id that stands with its text in an array.
type specialToken struct{ id int32 }

// UnmarshalJSON implements [json.Unmarshaler].
func (t *specialToken) UnmarshalJSON(raw []byte) error {
	var text string
	return json.Unmarshal(raw, &[]any{&text, &t.id})
}

func (f *file) frame() (frame, error) {
	p := f.PostProcessor
	if p == nil {
		return frame{single: template{{text: 1}}, pair: template{{text: 1}, {text: 2, kind: 1}}}, nil
	}
	switch p.Type {
	case "BertProcessing":
		return bertFrame(p.Class.id, p.Sep.id), nil
	case "RobertaProcessing":
		return robertaFrame(p.Class.id, p.Sep.id), nil
	case "TemplateProcessing":
		single, err := p.template(p.Single)
		if err != nil {
			return frame{}, err
		}
		pair, err := p.template(p.Pair)
		return frame{single: single, pair: pair}, err
	}
	return frame{}, fmt.Errorf("tokenizer.json: post-processor %q: only TemplateProcessing, BertProcessing and RobertaProcessing are known", p.Type)
}

func (p *filePostProcessor) template(slots []fileSlot) (template, error) {
	var t template
	for _, s := range slots {
		switch {
		case s.Sequence != nil && s.Sequence.ID == "A":
			t = append(t, slot{text: 1, kind: s.Sequence.Type})
		case s.Sequence != nil && s.Sequence.ID == "B":
			t = append(t, slot{text: 2, kind: s.Sequence.Type})
		case s.SpecialToken != nil:
			token, ok := p.SpecialTokens[s.SpecialToken.ID]
			if !ok {
				return nil, fmt.Errorf("tokenizer.json: post-processor names the token %q and gives no id", s.SpecialToken.ID)
			}
			t = append(t, slot{ids: token.IDs, kind: s.SpecialToken.Type})
		default:
			return nil, fmt.Errorf("tokenizer.json: post-processor has a part that is neither a text nor a special token")
		}
	}
	return t, nil
}
