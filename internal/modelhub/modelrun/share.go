package modelrun

import (
	"runtime"
	"sync"
	"weak"

	"github.com/seed-d8745b77/rag/internal/encoder"
	"github.com/seed-d8745b77/rag/internal/tokenize"
)

// parts are what models on one folder have in common: most of the memory, and of the time that loading takes.
type parts struct {
	words tokenize.Tokenizer
	load  func() (*encoder.Model, error) // reads the weights at its first call
}

// sharing keeps the parts that are in use, each once for the process. It does not hold them: what no model refers to
// any more is gone.
type sharing struct {
	mu   sync.Mutex
	used map[string]weak.Pointer[parts]
}

// shared has the parts of this process by folder and content.
var shared sharing

// get returns the parts under a key, made by open if there are none.
func (s *sharing) get(key string, open func() (*parts, error)) (*parts, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.used[key].Value(); p != nil {
		return p, nil
	}
	p, err := open()
	if err != nil {
		return nil, err
	}
	if s.used == nil {
		s.used = map[string]weak.Pointer[parts]{}
	}
	s.used[key] = weak.Make(p)
	runtime.AddCleanup(p, s.forget, key)
	return p, nil
}

// forget removes a key whose parts are gone, unless others have taken their place.
func (s *sharing) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used[key].Value() == nil {
		delete(s.used, key)
	}
}
