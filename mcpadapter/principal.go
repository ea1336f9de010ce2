package mcpadapter

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-d8745b77/rag/access"
)

// principalKey is where a token's principal stands in TokenInfo.Extra.
const principalKey = "rag.principal"

// principalOf returns who makes a request. Without tokens everybody is the owner of the data; a token that names nobody
// sees nothing.
func principalOf(extra *mcp.RequestExtra) access.Principal {
	if extra == nil || extra.TokenInfo == nil {
		return access.Principal{}
	}
	if p, ok := extra.TokenInfo.Extra[principalKey].(access.Principal); ok {
		return p
	}
	return access.Nobody()
}

// verifier finds out who has a token, as the SDK asks for it.
func verifier(o *HTTPOptions) (auth.TokenVerifier, error) {
	keys, err := access.NewKeys(o.Tokens, o.JWT)
	if err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	return func(ctx context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		g, err := keys.Check(ctx, token)
		if errors.Is(err, access.ErrToken) {
			return nil, fmt.Errorf("%w: %w", auth.ErrInvalidToken, err)
		}
		if err != nil {
			return nil, err
		}
		return &auth.TokenInfo{
			UserID: g.Principal.Name, Scopes: g.Scopes, Expiration: g.Expires, Extra: map[string]any{principalKey: g.Principal},
		}, nil
	}, nil
}

// caller names who makes a request, for its limit.
func caller(r *http.Request) string {
	if info := auth.TokenInfoFromContext(r.Context()); info != nil {
		return "principal " + info.UserID
	}
	return access.Address(r)
}
