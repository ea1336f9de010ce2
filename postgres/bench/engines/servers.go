package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"
)

// server is a program that was started.
type server struct {
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when it has ended
}

// Times that a server may take on a busy machine.
const (
	startTime = 2 * time.Minute
	endTime   = 20 * time.Second
)

// launch starts a server that writes to a log.
func launch(cmd *exec.Cmd, log string) (*server, error) {
	said, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer said.Close() // the server has it open
	cmd.Stdout, cmd.Stderr = said, said
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{cmd, log, make(chan struct{})}
	go func() { defer close(s.done); _ = cmd.Wait() }() // how it ended does not matter
	return s, nil
}

// await waits until the server is ready.
func (s *server) await(ctx context.Context, ready func(ctx context.Context) bool) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for !ready(ctx) {
		select {
		case <-s.done:
			return fmt.Errorf("%s is not ready", s.cmd.Path) // closing it tells why
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w", s.cmd.Path, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

// answers is ready when a server answers well at an address.
func answers(address string) func(ctx context.Context) bool {
	return func(ctx context.Context) bool {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return false
		}
		reply, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		reply.Body.Close()
		return reply.StatusCode < 300
	}
}

// listens is ready when somebody listens at a port.
func listens(port int) func(ctx context.Context) bool {
	return func(ctx context.Context) bool {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return false
		}
		return conn.Close() == nil
	}
}

func (s *server) pid() int { return s.cmd.Process.Pid }

// close ends the server. One that has ended by itself is an error, which tells the end of its log.
func (s *server) close() error {
	select {
	case <-s.done:
		said, _ := os.ReadFile(s.log) // the error says enough without
		return fmt.Errorf("%s ended by itself (%s): %s", s.cmd.Path, s.cmd.ProcessState, said[max(0, len(said)-2000):])
	default:
	}
	_ = s.cmd.Process.Signal(os.Interrupt) // it may be gone
	killed := time.AfterFunc(endTime, func() { _ = s.cmd.Process.Kill() })
	defer killed.Stop()
	<-s.done
	return nil
}

// freePorts returns the first of n ports of this machine in a row that nobody listens on.
func freePorts(ctx context.Context, n int) (first int, err error) {
	const tries = 100
	for range tries {
		if first, err = tryPorts(ctx, n); err == nil {
			return first, nil
		}
	}
	return 0, fmt.Errorf("there are no %d free ports in a row: %w", n, err)
}

func tryPorts(ctx context.Context, n int) (first int, err error) {
	for i := range n {
		port := 0 // any
		if i > 0 {
			port = first + i
		}
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return 0, err
		}
		defer func() { _ = l.Close() }()
		if i == 0 {
			first = l.Addr().(*net.TCPAddr).Port
		}
	}
	return first, nil
}
