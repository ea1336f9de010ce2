package access

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// Grace is how long calls that do not last may go on when a server ends; streams that wait for nothing are cut then.
const Grace = 3 * time.Second

// headerTimeout is how long a client may take to send the head of a request.
const headerTimeout = 10 * time.Second

// Serve answers on a listener until ctx is done. Then no new connection is taken, and calls under way have so long to end.
func Serve(ctx context.Context, ln net.Listener, h http.Handler, grace time.Duration) error {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: headerTimeout}
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
