package mcpadapter

import (
	"context"
	"io"
	"time"
)

const (
	// graceAtEnd is how long calls under way may go on when the input ends: hosts give a server two seconds to go.
	graceAtEnd = time.Second
	// endWait is how long is then waited for what was cancelled: a provider may not look at its context.
	endWait = 250 * time.Millisecond
)

// ServeStdio speaks the protocol over a pair of streams, a message a line, until in ends or ctx is done. Neither is an error.
// Calls under way when in ends may go on for a second and are answered; when ctx is done they end at once. Take the standard
// output with [TakeStdout] before anything else may write to it.
func (a *Adapter) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	l := newLines(in, out, graceAtEnd)
	defer context.AfterFunc(ctx, l.end)()
	session, err := a.server.Connect(ctx, l, nil)
	if err != nil {
		return err
	}
	defer l.end()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := session.Wait(); err != nil { // the client cannot be written to
			a.options.Logger.Warn("the session ends", "err", err)
		}
	}()
	select {
	case <-ended:
	case <-l.ended:
		a.await(ended, "calls")
	}
	return nil
}

// await waits a little for what was told to end.
func (a *Adapter) await(ended <-chan struct{}, what string) {
	late := time.NewTimer(endWait)
	defer late.Stop()
	select {
	case <-ended:
	case <-late.C:
		a.options.Logger.Warn("what does not end is left to itself", "what", what)
	}
}
