package ragtest

import (
	"io"
	"testing"
)

// trial is a provider that keeps its data in a folder, and how to open it again.
type trial[P any] struct {
	*testing.T
	traits
	opener func(t *testing.T, dir string) P
	dir    string
	it     P
}

// onTrial opens the provider in an empty folder, and closes it when the test ends.
func onTrial[P any](t *testing.T, open func(t *testing.T, dir string) P, with traits) *trial[P] {
	tr := &trial[P]{T: t, traits: with, opener: open, dir: t.TempDir()}
	tr.open()
	t.Cleanup(tr.close)
	return tr
}

func (tr *trial[P]) open() { tr.it = tr.opener(tr.T, tr.dir) }

func (tr *trial[P]) close() {
	if c, ok := any(tr.it).(io.Closer); ok {
		if err := c.Close(); err != nil {
			tr.Errorf("close: %v", err)
		}
	}
}

// reopen closes the provider and opens it again; a volatile one stays as it is.
func (tr *trial[P]) reopen() {
	tr.Helper()
	if tr.volatile {
		return
	}
	tr.close()
	tr.open()
}
