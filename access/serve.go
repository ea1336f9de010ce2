package access

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"
)

// Grace is how long calls that do not last may go on when a server ends; streams that wait for nothing are cut then.
const Grace = 3 * time.Second

// limits keep clients that are slow, or many, from holding a server.
type limits struct {
	header      time.Duration // to send the head of a request
	pause       time.Duration // longest while nothing comes of a body that is being read
	idle        time.Duration // between two requests of a connection
	headBytes   int           // of the head of a request, about
	connections int           // at once; more wait until one ends
}

// usual are the limits of all servers; where few files may be open, connections are fewer. A body may take long, as a large
// upload over a slow line does, but it must go on.
var usual = limits{header: 10 * time.Second, pause: 30 * time.Second, idle: 2 * time.Minute, headBytes: 64 << 10, connections: 1024}

// Serve answers on a listener until ctx is done. Then no new connection is taken, and calls under way have so long to end.
// A client may take 10 seconds to send the head of a request, of at most 64 KiB, and may pause for 30 seconds in its body; a
// connection without a request is closed after two minutes; and 1,024 connections are served at once, or half as many as the
// process may have files open (ulimit -n).
func Serve(ctx context.Context, ln net.Listener, h http.Handler, grace time.Duration) error {
	l := usual
	if most := openFiles() / connectionShare; most > 0 {
		l.connections = min(l.connections, most)
	}
	return serve(ctx, ln, h, grace, l)
}

// connectionShare is the part of the files that a process may have open that connections take at most, as 1/connectionShare:
// the rest is for the data, which could not be written else while many clients are connected.
const connectionShare = 2

func serve(ctx context.Context, ln net.Listener, h http.Handler, grace time.Duration, l limits) error {
	srv := &http.Server{Handler: goesOn(h, l.pause), ReadHeaderTimeout: l.header, IdleTimeout: l.idle, MaxHeaderBytes: l.headBytes}
	ln = netutil.LimitListener(ln, l.connections)
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ln) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := srv.Shutdown(within); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	_ = srv.Close()
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Listen opens an address; without a host it is 127.0.0.1, since nothing is shown to the whole network unless that is asked
// for. open tells whether other machines reach it.
func Listen(ctx context.Context, addr string) (ln net.Listener, open bool, err error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, false, err
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if ln, err = new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port)); err != nil {
		return nil, false, err
	}
	tcp, ok := ln.Addr().(*net.TCPAddr)
	return ln, ok && !tcp.IP.IsLoopback(), nil
}

// goesOn has a handler read bodies that end or go on: one that pauses for longer gives an error.
func goesOn(h http.Handler, pause time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			read := &body{r.Body, http.NewResponseController(w), pause}
			read.goOn() // also if the handler reads nothing: the server then reads the rest
			r.Body = read
		}
		h.ServeHTTP(w, r)
	})
}

// body sets the deadline of its connection before each read. Behind the end there is none: the connection is then read to
// see whether the client has gone, which may take as long as the answer does.
type body struct {
	io.ReadCloser
	conn  *http.ResponseController
	pause time.Duration
}

func (b *body) goOn() {
	_ = b.conn.SetReadDeadline(time.Now().Add(b.pause)) // a response that cannot is one of a test
}

func (b *body) Read(p []byte) (int, error) {
	b.goOn()
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.conn.SetReadDeadline(time.Time{})
	}
	return n, err
}
