//go:build unix

// Package testserver runs, for tests, servers that are programs of their own.
package testserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Server is a running server.
type Server struct {
	URL string // of its first port
	cmd *exec.Cmd
}

// graceTime is how long a server may take to end after an interrupt before it is killed.
const graceTime = 10 * time.Second

// Stop ends the server. It is interrupted first: servers may have children in sessions of their own, which only they can end. Stopping it again does nothing.
func (s *Server) Stop() {
	killed := time.AfterFunc(graceTime, func() { _ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) }) // it may be gone
	defer killed.Stop()
	_ = s.cmd.Process.Signal(os.Interrupt) // it may be gone
	_ = s.cmd.Wait()                       // how it ended does not matter
}

// FreePort returns a port of 127.0.0.1 that nobody listens on.
func FreePort(t testing.TB) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err = errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	return port
}

// Start runs a program that serves at an address, and waits until it answers at a path below it. The caller stops it.
func Start(t testing.TB, url, path, program string, args ...string) *Server {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), program, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	said, err := os.Create(filepath.Join(t.TempDir(), filepath.Base(program)))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	cmd.Stderr = said // no pipe: its children would keep it open
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &Server{url, cmd}
	if err := listens(url + path); err != nil {
		s.Stop()
		text, _ := os.ReadFile(said.Name()) // the error says enough without
		t.Fatalf("%s: %v: %s", filepath.Base(program), err, text)
	}
	return s
}

// Wait waits until a server answers at another of its addresses; one that does not is stopped.
func Wait(t testing.TB, s *Server, url string) {
	t.Helper()
	if err := listens(url); err != nil {
		s.Stop()
		t.Fatalf("%s: %v", url, err)
	}
}

// startTime is how long a server may take to listen; a busy machine needs some.
const startTime = time.Minute

func listens(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	for tick := time.NewTicker(50 * time.Millisecond); ; {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", url, err)
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			return resp.Body.Close()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.New("it does not listen")
		}
	}
}
