package mcpadapter

import (
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-d8745b77/rag"
)

// Principal is who makes calls.
type Principal struct {
	Name   string     // for logs, and to tell sessions and jobs of different principals apart
	Filter rag.Filter // all that may be seen; zero: everything
}

// principalKey is where a token's principal stands in TokenInfo.Extra.
const principalKey = "rag.principal"

// principalOf returns who makes a request. Without tokens everybody is the owner of the data; a token that names nobody
// sees nothing.
func principalOf(extra *mcp.RequestExtra) Principal {
	if extra == nil || extra.TokenInfo == nil {
		return Principal{}
	}
	if p, ok := extra.TokenInfo.Extra[principalKey].(Principal); ok {
		return p
	}
	return Principal{Name: "nobody", Filter: rag.Or()}
}

// tokenInfo is what the SDK is told about a token.
func (p Principal) tokenInfo() *auth.TokenInfo {
	return &auth.TokenInfo{UserID: p.Name, Extra: map[string]any{principalKey: p}}
}
