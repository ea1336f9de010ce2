package cli

import (
	"io"
	"sync"

	"github.com/seed-d8745b77/rag/config"
	"github.com/seed-d8745b77/rag/internal/secret"
)

// hiding is a stream that passes on what is written to it without secrets. What a run says besides its results goes through
// one: logs, notes, errors and the stacks of panics. A secret is found within one Write, which is a line or more.
type hiding struct {
	to      io.Writer
	secrets *secrets
}

// Write reports that all was written where all but the secrets was.
func (h hiding) Write(p []byte) (int, error) {
	if _, err := io.WriteString(h.to, h.secrets.hide(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// secrets are those that a run has come to know. It is safe for concurrent use; the zero value knows what secrets look
// like, but none.
type secrets struct {
	mu     sync.Mutex
	values []string
	masker secret.Masker
	files  []func(string) string // for each configuration that was read
}

func (s *secrets) hide(text string) string {
	s.mu.Lock()
	masker, files := s.masker, s.files
	s.mu.Unlock()
	for _, hide := range files {
		text = hide(text)
	}
	return masker.Hide(text)
}

// add notes values that must not be told.
func (s *secrets) add(values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values = append(s.values, values...)
	s.masker = secret.NewMasker(s.values)
}

// addFrom notes what a configuration hides.
func (s *secrets) addFrom(loaded config.Loaded) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files = append(s.files[:len(s.files):len(s.files)], loaded.Hider())
}

// noted is getenv for keys: whoever asks for one makes it known.
func (s *secrets) noted(getenv func(string) string) func(string) string {
	return func(name string) string {
		value := getenv(name)
		s.add(value)
		return value
	}
}
