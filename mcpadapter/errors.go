package mcpadapter

import "github.com/modelcontextprotocol/go-sdk/jsonrpc"

// invalidParams is the protocol's error for a request that cannot be right.
func invalidParams(message string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message}
}
