package access

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/seed-d8745b77/rag"
)

// JWT says which tokens of an identity provider are taken, and what they let see.
type JWT struct {
	JWKS     string // URL (https, or http on this machine) or file of the provider's keys
	Issuer   string // what "iss" must be
	Audience string // what "aud" must name

	// Claims are the conditions that a token sets: metadata field by name of the claim that holds its value, a text or a list
	// of texts of which any may match. A token without one of these claims is refused. Empty: tokens see everything.
	Claims map[string]string

	Client *http.Client     // nil: one with a time-out of 10 s that follows no redirects
	Now    func() time.Time // nil: time.Now
}

// clockSkew is how far the clocks of provider and server may be apart.
const clockSkew = 30 * time.Second

// signatures are those that a public key can check. "none" and shared secrets are not among them.
var signatures = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

type jwtVerifier struct {
	config JWT
	keys   *keySet
	parser *jwt.Parser
}

func newJWTVerifier(c JWT) (*jwtVerifier, error) {
	if c.JWKS == "" || c.Issuer == "" || c.Audience == "" {
		return nil, fmt.Errorf("jwt: keys, issuer and audience are needed: %w", rag.ErrInvalid)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	keys, err := newKeySet(c)
	if err != nil {
		return nil, err
	}
	if !keys.remote() { // a file that cannot be read is found now
		if _, err := os.Stat(c.JWKS); err != nil {
			return nil, fmt.Errorf("jwt: %w", err)
		}
	}
	return &jwtVerifier{config: c, keys: keys, parser: jwt.NewParser(
		jwt.WithValidMethods(signatures), jwt.WithIssuer(c.Issuer), jwt.WithAudience(c.Audience), jwt.WithExpirationRequired(),
		jwt.WithLeeway(clockSkew), jwt.WithTimeFunc(c.Now),
	)}, nil
}

// verify returns what a token says of who has it. What is wrong with it is not told: the caller may be an attacker.
func (v *jwtVerifier) verify(ctx context.Context, token string) (Grant, error) {
	claims := jwt.MapClaims{}
	_, err := v.parser.ParseWithClaims(token, claims, func(t *jwt.Token) (any, error) {
		id, _ := t.Header["kid"].(string)
		return v.keys.key(ctx, id, t.Method.Alg())
	})
	if err != nil {
		return Grant{}, ErrToken
	}
	p := Principal{}
	if p.Name, err = claims.GetSubject(); err != nil || p.Name == "" {
		return Grant{}, ErrToken
	}
	if p.Filter, err = v.filter(claims); err != nil {
		return Grant{}, fmt.Errorf("%w: %w", ErrToken, err)
	}
	g := Grant{Principal: p}
	if at, err := claims.GetExpirationTime(); err == nil && at != nil {
		g.Expires = at.Add(clockSkew)
	}
	scope, _ := claims["scope"].(string)
	g.Scopes = strings.Fields(scope)
	return g, nil
}

// filter makes the forced filter of the claims.
func (v *jwtVerifier) filter(claims jwt.MapClaims) (rag.Filter, error) {
	var all []rag.Filter
	for _, field := range slices.Sorted(maps.Keys(v.config.Claims)) {
		switch value := claims[v.config.Claims[field]].(type) {
		case string:
			all = append(all, rag.Eq(field, value))
		case []any:
			all = append(all, rag.In(field, value...))
		default:
			return rag.Filter{}, fmt.Errorf("the claim %q is missing", v.config.Claims[field])
		}
	}
	f := rag.And(all...)
	return f, f.Validate()
}
