// Package pgserver runs servers of PostgreSQL that only this machine reaches, for tests and measurements.
package pgserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
)

// Server is a running server, with its data in a folder of its own.
type Server struct {
	dir  string // its data and its log
	port int
	cmd  *exec.Cmd
	stop context.CancelFunc
	done chan struct{} // closed when it has ended
}

// Find returns the folder of the server's programs: $RAG_POSTGRES, or where scripts/install-postgres puts them; "" if there
// are none.
func Find() string {
	places := []string{os.Getenv("RAG_POSTGRES"), "/opt/rag-postgres/bin"}
	if cache, err := os.UserCacheDir(); err == nil {
		places = append(places, filepath.Join(cache, "rag-postgres", "bin"))
	}
	for _, bin := range places {
		if _, err := os.Stat(filepath.Join(bin, "initdb")); bin != "" && err == nil {
			return bin
		}
	}
	return ""
}

// Start makes an empty database and a server for it, with settings such as "fsync=off" beside its own defaults. The caller
// closes it.
func Start(bin string, settings ...string) (*Server, error) {
	dir, err := os.MkdirTemp("", "rag-postgres-")
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{dir: dir, stop: stop, done: make(chan struct{})}
	if err = s.begin(ctx, bin, settings); err == nil {
		err = s.await(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// begin makes the database and starts the server.
func (s *Server) begin(ctx context.Context, bin string, settings []string) (err error) {
	defer func() {
		if s.cmd == nil {
			close(s.done)
		}
	}()
	if err := giveToServer(s.dir); err != nil {
		return err
	}
	initdb := asServer(exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", s.Data(), "-U", "rag", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"))
	initdb.Dir = s.dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	free, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.port = free.Addr().(*net.TCPAddr).Port
	if err := free.Close(); err != nil {
		return err
	}
	args := []string{"-D", s.Data(), "-p", fmt.Sprint(s.port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	cmd := asServer(exec.CommandContext(ctx, filepath.Join(bin, "postgres"), args...))
	cmd.Dir = s.dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // end the sessions and stop
	log, err := os.Create(s.log())
	if err != nil {
		return err
	}
	defer log.Close() // the server has it open
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	s.cmd = cmd
	go func() { defer close(s.done); _ = cmd.Wait() }()
	return nil
}

// await waits until the server answers.
func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.DSN())
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-s.done:
			said, _ := os.ReadFile(s.log())
			return fmt.Errorf("the server ended: %s", said)
		case <-ctx.Done():
			return fmt.Errorf("the server does not answer: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// DSN is the address of the database, for its superuser.
func (s *Server) DSN() string {
	return fmt.Sprintf("postgres://rag@127.0.0.1:%d/postgres?sslmode=disable", s.port)
}

// Data is the folder of the database.
func (s *Server) Data() string { return filepath.Join(s.dir, "data") }

// PID is the number of the server's first process; those of its sessions are its children.
func (s *Server) PID() int { return s.cmd.Process.Pid }

func (s *Server) log() string { return filepath.Join(s.dir, "log") }

// Close ends the server and removes its data.
func (s *Server) Close() error {
	s.stop()
	<-s.done
	return os.RemoveAll(s.dir)
}
