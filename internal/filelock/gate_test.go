package filelock_test

import (
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag/internal/filelock"
)

func TestGateIsPassedAloneOrShared(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" && runtime.GOOS != "windows" {
		t.Skip("no locks here")
	}
	path := filepath.Join(t.TempDir(), "GATE")
	if _, err := filelock.FindGate(path); err == nil {
		t.Fatal("a gate that is not there was found")
	}
	gates := make([]*filelock.Gate, 3)
	for i := range gates {
		open := filelock.FindGate
		if i == 0 {
			open = filelock.OpenGate
		}
		g, err := open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		gates[i] = g
	}
	writer, one, two := gates[0], gates[1], gates[2]

	leave, ok := one.Pass(true, 0)
	if !ok {
		t.Fatal("nobody is there, and a reader cannot pass")
	}
	leaveTwo, ok := two.Pass(true, 0)
	if !ok {
		t.Error("two readers cannot share the gate")
	}
	leaveTwo()
	if _, ok := writer.Pass(false, 0); ok {
		t.Error("a writer passed beside a reader")
	}
	waited := make(chan func())
	go func() {
		leave, ok := writer.Pass(false, time.Hour)
		if !ok {
			t.Error("the writer did not pass after the reader")
		}
		waited <- leave
	}()
	leave()
	leave = <-waited
	if _, ok := one.Pass(true, 0); ok {
		t.Error("a reader passed beside the writer")
	}
	leave()
	if _, ok := one.Pass(true, time.Hour); !ok {
		t.Error("the gate stayed shut")
	}
}
