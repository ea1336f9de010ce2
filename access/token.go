package access

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/strict"
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
// Without a filter all is seen. What cannot be right is rag.ErrInvalid; messages name the line and hold no token.
func ParseTokens(data []byte) ([]Token, error) { return parseTokens("tokens", data) }

// LoadTokens is ParseTokens for a file, which messages name.
func LoadTokens(path string) ([]Token, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("tokens: %w", err)
	}
	return parseTokens(path, data)
}

// parseTokens reads entry by entry, so that each has its line.
func parseTokens(name string, data []byte) ([]Token, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	place := func(offset int64) string { return fmt.Sprintf("%s:%d", name, lineAt(data, offset)) }
	malformed := func(offset int64) error {
		return fmt.Errorf("%s: want a list of objects with token, name and filter (JSON): %w", place(offset), rag.ErrInvalid)
	}
	if begin, err := d.Token(); err != nil || begin != json.Delim('[') {
		return nil, malformed(0)
	}
	tokens := []Token{}
	var places []string
	for d.More() {
		var raw json.RawMessage
		from := d.InputOffset()
		if err := d.Decode(&raw); err != nil {
			return nil, malformed(from)
		}
		at := place(d.InputOffset() - int64(len(raw)))
		var one struct {
			Token  string `json:"token"`
			Name   string `json:"name"`
			Filter string `json:"filter"`
		}
		if err := strict.Decode(raw, &one); err != nil {
			if wrong, ok := errors.AsType[*strict.Error](err); ok && !slices.Contains([]string{"token", "name", "filter"}, wrong.Field) {
				wrong.Field = "" // it may be the token
			}
			return nil, fmt.Errorf("%s: %w: %w", at, err, rag.ErrInvalid)
		}
		t := Token{Value: one.Token, Principal: Principal{Name: one.Name}}
		if one.Filter != "" {
			f, err := rag.ParseFilter(one.Filter)
			if err != nil {
				return nil, fmt.Errorf("%s: filter: %w", at, err)
			}
			t.Principal.Filter = f
		}
		tokens, places = append(tokens, t), append(places, at)
	}
	if _, err := d.Token(); err != nil || d.More() {
		return nil, malformed(d.InputOffset())
	}
	return tokens, checkTokens(tokens, func(i int) string { return places[i] })
}

// lineAt is the line of an offset, from 1; blanks and the comma before what stands there do not count.
func lineAt(data []byte, offset int64) int {
	offset = min(max(offset, 0), int64(len(data)))
	blank := len(data[offset:]) - len(bytes.TrimLeft(data[offset:], " \t\r\n,"))
	return 1 + bytes.Count(data[:offset+int64(blank)], []byte("\n"))
}

// checkTokens finds what cannot be right; place says where a token is.
func checkTokens(tokens []Token, place func(i int) string) error {
	seen := map[string]bool{}
	for i, t := range tokens {
		switch {
		case len(t.Value) < minToken || strings.ContainsAny(t.Value, " \t\r\n"):
			return fmt.Errorf("%s: a token has at least %d bytes and no blanks: %w", place(i), minToken, rag.ErrInvalid)
		case t.Principal.Name == "":
			return fmt.Errorf("%s: the token has no name: %w", place(i), rag.ErrInvalid)
		case seen[t.Value]:
			return fmt.Errorf("%s: the token is that of another entry: %w", place(i), rag.ErrInvalid)
		}
		if err := t.Principal.Filter.Validate(); err != nil {
			return fmt.Errorf("%s: %w", place(i), err)
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
	if err := checkTokens(tokens, func(i int) string { return fmt.Sprintf("tokens: entry %d", i+1) }); err != nil {
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
