package mcpadapter

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine is the longest message on stdin, in bytes.
const maxLine = 4 << 20

// ServeStdio speaks the protocol over a pair of streams, a message a line, until in ends or ctx is done. Neither is an error.
// Take the standard output with [TakeStdout] before anything else may write to it.
func (a *Adapter) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &lineWriter{out: out}
	r, pipe := io.Pipe()
	go func() { pipe.CloseWithError(copyLines(pipe, in, w)) }()
	stop := context.AfterFunc(ctx, func() { r.CloseWithError(io.EOF) })
	defer stop()
	session, err := a.server.Connect(ctx, &mcp.IOTransport{Reader: r, Writer: w, MaxLineLength: maxLine + 1}, nil)
	if err != nil {
		return err
	}
	err = session.Wait()
	a.Close()
	if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}

// copyLines passes on the messages that can be read. One that is no JSON, or too long, is answered here: the SDK would end
// the session with the calls that are under way.
func copyLines(to io.Writer, from io.Reader, answers *lineWriter) error {
	in := bufio.NewReaderSize(from, 64<<10)
	for {
		line, long, err := readLine(in)
		switch {
		case long:
			err = errors.Join(err, answers.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is longer than %d bytes", maxLine)))
		case len(line) == 0:
		case !json.Valid(line):
			err = errors.Join(err, answers.refuse(jsonrpc.CodeParseError, "the message is no JSON"))
		case line[0] != '{' && line[0] != '[':
			err = errors.Join(err, answers.refuse(jsonrpc.CodeInvalidRequest, "the message is no JSON-RPC object"))
		default:
			if _, failed := to.Write(append(line, '\n')); failed != nil {
				return failed
			}
		}
		if err != nil {
			return err
		}
	}
}

// readLine returns a line without the blanks around it; of one that is too long, nothing.
func readLine(in *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.Trim(line, " \t\r\n"), long, err
		}
	}
}

// lineWriter keeps messages of the SDK and of copyLines apart.
type lineWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

// Close leaves the stream open: it is the caller's.
func (w *lineWriter) Close() error { return nil }

// refuse answers a message of which not even the ID can be read.
func (w *lineWriter) refuse(code int, message string) error {
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": message}})
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
