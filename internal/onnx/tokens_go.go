//go:build !ORT && !ALL

package onnx

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/sugarme/tokenizer"
	"github.com/sugarme/tokenizer/pretrained"
)

// libraryName is the tokenizer that hugot has for its backend in Go.
const libraryName = "sugarme"

// sugarme is that tokenizer. It panics on some texts, and its authors promise nothing about concurrent use.
type sugarme struct {
	mu  sync.Mutex
	tok *tokenizer.Tokenizer
}

func newLibrary(tokenizerJSON []byte) (lib library, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic in the tokenizer: %v: %w", r, ErrUnsupported)
		}
	}()
	tok, err := pretrained.FromReader(bytes.NewReader(tokenizerJSON))
	if err != nil {
		return nil, fmt.Errorf("%v: %w", err, ErrUnsupported)
	}
	tok.WithTruncation(nil)
	tok.WithPadding(nil)
	return &sugarme{tok: tok}, nil
}

func (s *sugarme) ids(text string, special bool) (ids []int32, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic in the tokenizer: %v", r)
		}
	}()
	encoding, err := s.tok.EncodeSingle(text, special)
	if err != nil {
		return nil, fmt.Errorf("tokenize: %w", err)
	}
	ids = make([]int32, len(encoding.Ids))
	for i, id := range encoding.Ids {
		ids[i] = int32(id)
	}
	return ids, nil
}

func (s *sugarme) name(id int32) string {
	name, _ := s.tok.IdToToken(int(id))
	return name
}

func (s *sugarme) close() error { return nil }
