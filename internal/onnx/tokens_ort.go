//go:build ORT || ALL

package onnx

import (
	"encoding/json"
	"fmt"

	"github.com/daulet/tokenizers"
)

// libraryName is the tokenizer that hugot has for ONNX Runtime: Hugging Face's own, in Rust.
const libraryName = "huggingface"

// huggingface is that tokenizer.
type huggingface struct{ tok *tokenizers.Tokenizer }

func newLibrary(tokenizerJSON []byte) (library, error) {
	var file map[string]json.RawMessage
	if err := json.Unmarshal(tokenizerJSON, &file); err != nil {
		return nil, err
	}
	file["truncation"], file["padding"] = json.RawMessage("null"), json.RawMessage("null")
	plain, err := json.Marshal(file)
	if err != nil {
		return nil, err
	}
	tok, err := tokenizers.FromBytes(plain)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", err, ErrUnsupported)
	}
	return huggingface{tok}, nil
}

func (h huggingface) ids(text string, special bool) ([]int32, error) {
	found, _ := h.tok.Encode(text, special)
	ids := make([]int32, len(found))
	for i, id := range found {
		ids[i] = int32(id)
	}
	return ids, nil
}

func (h huggingface) name(id int32) string { return h.tok.Decode([]uint32{uint32(id)}, false) }

func (h huggingface) close() error { return h.tok.Close() }
