package mcpadapter

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// invalidParams is the protocol's error for a request that cannot be right.
func invalidParams(message string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message}
}

// codeCancelled is the code of a cancelled request where JSON-RPC has one, in the Language Server Protocol. It never leaves
// the process: whoever cancels wants no answer, and the SDK cannot be told to give none.
const codeCancelled = -32800

// cancelledMark is what only an answer with that code has: inside a text the quotes would be escaped.
var cancelledMark = fmt.Appendf(nil, `"error":{"code":%d,`, codeCancelled)

func isCancelled(message []byte) bool { return bytes.Contains(message, cancelledMark) }

// silenceCancelled marks the answers of requests that were cancelled, for lines and quiet to leave out.
func silenceCancelled(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		if ctx.Err() != nil {
			return nil, &jsonrpc.Error{Code: codeCancelled, Message: "the call was cancelled"}
		}
		return res, err
	}
}

// quiet leaves answers of cancelled requests out of a stream over HTTP. The SDK writes an event at once.
type quiet struct{ http.ResponseWriter }

func (q quiet) Write(event []byte) (int, error) {
	if isCancelled(event) {
		return len(event), nil
	}
	return q.ResponseWriter.Write(event)
}

// Unwrap is for http.ResponseController.
func (q quiet) Unwrap() http.ResponseWriter { return q.ResponseWriter }

func quietly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(quiet{w}, r) })
}
