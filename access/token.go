package access

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

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

// ErrToken is wrapped by the error for a token that nobody has. What is wrong with it is not told: the caller may be an
// attacker.
var ErrToken = errors.New("the token is not valid")

// Grant is what a token gives.
type Grant struct {
	Principal Principal
	Scopes    []string  // of a signed token
	Expires   time.Time // zero: never
}

// Keys finds out who has a token: one of a list, or one that an identity provider has signed. It is safe for concurrent use.
type Keys struct {
	// Looked up by their sums, a token's first bytes cannot be found out by measuring how long it takes.
	byDigest map[[sha256.Size]byte]Principal
	signed   *jwtVerifier // nil: none
}

// NewKeys returns what checks these tokens; signed may be nil. What cannot be right is rag.ErrInvalid.
func NewKeys(tokens []Token, signed *JWT) (*Keys, error) {
	if err := checkTokens(tokens); err != nil {
		return nil, err
	}
	k := &Keys{byDigest: map[[sha256.Size]byte]Principal{}}
	for _, t := range tokens {
		k.byDigest[sha256.Sum256([]byte(t.Value))] = t.Principal
	}
	if signed == nil {
		return k, nil
	}
	var err error
	k.signed, err = newJWTVerifier(*signed)
	return k, err
}

// Check returns what a token gives, or ErrToken.
func (k *Keys) Check(ctx context.Context, token string) (Grant, error) {
	if p, ok := k.byDigest[sha256.Sum256([]byte(token))]; ok {
		return Grant{Principal: p}, nil
	}
	if k.signed == nil {
		return Grant{}, ErrToken
	}
	return k.signed.verify(ctx, token)
}

// Bearer returns the token that comes with a request, "" for none.
func Bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
