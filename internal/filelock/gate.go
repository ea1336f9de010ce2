package filelock

import (
	"fmt"
	"os"
	"time"

	"github.com/seed-d8745b77/rag/internal/datafile"
)

// gateRetry is the pause between two tries to pass a gate: what goes through it lasts milliseconds.
const gateRetry = time.Millisecond

// Gate is a file by which one process keeps others off for moments: it passes alone, or together with those that share.
// It is not safe for concurrent use.
type Gate struct{ file *os.File }

// OpenGate opens the gate, and makes its file where there is none.
func OpenGate(path string) (*Gate, error) {
	f, err := datafile.OpenFile(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	return &Gate{f}, nil
}

// FindGate opens a gate that is there, for reading: Pass can only share it then. Nothing is made or changed.
func FindGate(path string) (*Gate, error) {
	f, err := datafile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	return &Gate{f}, nil
}

// Pass waits for the gate, alone or shared, until patience is over. Call leave when through; without a pass it does nothing.
// On systems without such locks everybody passes.
func (g *Gate) Pass(shared bool, patience time.Duration) (leave func(), passed bool) {
	if held, err := waitLock(g.file, shared, gateRetry, patience); held || err != nil {
		return func() {}, false
	}
	return func() { _ = unlock(g.file) }, true // closing the file unlocks it in any case
}

// Close closes the gate's file.
func (g *Gate) Close() error { return g.file.Close() }
