//go:build unix

package boltkv_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag/internal/boltkv"
)

// Opening a pipe waits for a writer, for ever where none comes.
func TestAPipeInPlaceOfTheDatabaseIsRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, boltkv.FileName)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
	got := make(chan error, 1)
	go func() {
		_, err := boltkv.Open(dir)
		got <- err
	}()
	var err error
	select {
	case err = <-got:
	case <-time.After(5 * time.Second): // let the goroutine end, and fail below
		if w, open := os.OpenFile(path, os.O_WRONLY, 0); open == nil {
			_ = w.Close()
		}
		err = <-got
		t.Error("Open waited for the pipe's other end")
	}
	if err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("got %v, want that it is no regular file", err)
	}
}
