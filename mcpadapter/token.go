package mcpadapter

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/seed-d8745b77/rag"
)

// Token is a bearer token and who has it.
type Token struct {
	Value     string // at least 16 bytes
	Principal Principal
}

// minToken keeps tokens from being guessed.
const minToken = 16

// ParseTokens reads a list of tokens from JSON:
//
//	[{"token": "…", "name": "alice", "filter": "tenant = red"}]
//
// Without a filter all is seen. What cannot be right is rag.ErrInvalid; messages hold no token.
func ParseTokens(data []byte) ([]Token, error) {
	var list []struct {
		Token  string `json:"token"`
		Name   string `json:"name"`
		Filter string `json:"filter"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&list); err != nil {
		return nil, fmt.Errorf("tokens: want a list of objects with token, name and filter: %w", rag.ErrInvalid)
	}
	tokens := []Token{}
	for i, one := range list {
		t := Token{Value: one.Token, Principal: Principal{Name: one.Name}}
		if one.Filter != "" {
			f, err := rag.ParseFilter(one.Filter)
			if err != nil {
				return nil, fmt.Errorf("tokens: the filter of entry %d: %w", i+1, err)
			}
			t.Principal.Filter = f
		}
		tokens = append(tokens, t)
	}
	return tokens, checkTokens(tokens)
}

func checkTokens(tokens []Token) error {
	seen := map[string]bool{}
	for i, t := range tokens {
		switch {
		case len(t.Value) < minToken || strings.ContainsAny(t.Value, " \t\r\n"):
			return fmt.Errorf("tokens: entry %d: a token has at least %d bytes and no blanks: %w", i+1, minToken, rag.ErrInvalid)
		case t.Principal.Name == "":
			return fmt.Errorf("tokens: entry %d has no name: %w", i+1, rag.ErrInvalid)
		case seen[t.Value]:
			return fmt.Errorf("tokens: entry %d has the token of another: %w", i+1, rag.ErrInvalid)
		}
		if err := t.Principal.Filter.Validate(); err != nil {
			return fmt.Errorf("tokens: entry %d: %w", i+1, err)
		}
		seen[t.Value] = true
	}
	return nil
}

// verifier finds out who has a token: one of the list, or one that an identity provider has signed.
func verifier(o HTTPOptions) (auth.TokenVerifier, error) {
	if err := checkTokens(o.Tokens); err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	// Looked up by their sums, a token's first bytes cannot be found out by measuring how long it takes.
	byDigest := map[[sha256.Size]byte]Principal{}
	for _, t := range o.Tokens {
		byDigest[sha256.Sum256([]byte(t.Value))] = t.Principal
	}
	var signed *jwtVerifier
	if o.JWT != nil {
		var err error
		if signed, err = newJWTVerifier(*o.JWT); err != nil {
			return nil, fmt.Errorf("mcp: %w", err)
		}
	}
	return func(ctx context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		if p, ok := byDigest[sha256.Sum256([]byte(token))]; ok {
			return p.tokenInfo(), nil
		}
		if signed == nil {
			return nil, auth.ErrInvalidToken
		}
		return signed.verify(ctx, token)
	}, nil
}
