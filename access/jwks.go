package access

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/strict"
)

const (
	keyTimeout  = 10 * time.Second
	maxKeyBytes = 1 << 20
	// keyPause is how long keys are not fetched again: tokens with made-up keys must not make the server ask all the time.
	keyPause = time.Minute
	// minRSABits is below what signatures are taken for safe (NIST SP 800-131A).
	minRSABits = 2048
)

// keySet are the keys of a provider, read when one is missing. See RFC 7517.
type keySet struct {
	config JWT
	client *http.Client

	mu   sync.Mutex
	keys map[string]any // public keys by ID
	read time.Time      // zero: never
}

func newKeySet(c JWT) (*keySet, error) {
	k := &keySet{config: c, client: c.Client}
	if k.client == nil {
		k.client = &http.Client{Timeout: keyTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	if u, err := url.Parse(c.JWKS); k.remote() && (err != nil || u.Scheme == "http" && !isLoopback(u.Hostname())) {
		return nil, fmt.Errorf("jwt: keys are read over https: %w", rag.ErrInvalid)
	}
	return k, nil
}

func (k *keySet) remote() bool {
	return strings.HasPrefix(k.config.JWKS, "https://") || strings.HasPrefix(k.config.JWKS, "http://")
}

// key returns the public key of an ID for an algorithm.
func (k *keySet) key(ctx context.Context, id, algorithm string) (any, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.keys[id]; !ok && (k.read.IsZero() || k.config.Now().Sub(k.read) >= keyPause) {
		k.read = k.config.Now()
		keys, err := k.fetch(ctx)
		if err != nil {
			return nil, err
		}
		k.keys = keys
	}
	key, ok := k.keys[id]
	if !ok || !fits(key, algorithm) {
		return nil, errors.New("no such key")
	}
	return key, nil
}

// fits reports whether a key is of the kind that an algorithm uses.
func fits(key any, algorithm string) bool {
	switch key.(type) {
	case *rsa.PublicKey:
		return strings.HasPrefix(algorithm, "RS") || strings.HasPrefix(algorithm, "PS")
	case *ecdsa.PublicKey:
		return strings.HasPrefix(algorithm, "ES")
	case ed25519.PublicKey:
		return algorithm == "EdDSA"
	}
	return false
}

func (k *keySet) fetch(ctx context.Context) (map[string]any, error) {
	if !k.remote() {
		data, err := os.ReadFile(k.config.JWKS)
		if err != nil {
			return nil, err
		}
		return parseKeys(data)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, k.config.JWKS, nil)
	if err != nil {
		return nil, err
	}
	res, err := k.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("keys: %s", res.Status)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, maxKeyBytes))
	if err != nil {
		return nil, err
	}
	return parseKeys(data)
}

// jwk is a key as JSON, RFC 7517 and 7518.
type jwk struct {
	ID    string `json:"kid"`
	Kind  string `json:"kty"`
	Use   string `json:"use"`
	Curve string `json:"crv"`
	N     string `json:"n"`
	E     string `json:"e"`
	X     string `json:"x"`
	Y     string `json:"y"`
}

// parseKeys reads a key set; keys of kinds that are not known, or that are weak, are left out.
func parseKeys(data []byte) (map[string]any, error) {
	var set struct {
		Keys []jwk `json:"keys"`
	}
	if err := strict.Unmarshal(data, &set); err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	keys := map[string]any{}
	for _, one := range set.Keys {
		if one.Use != "" && one.Use != "sig" {
			continue
		}
		if key := one.public(); key != nil {
			keys[one.ID] = key
		}
	}
	return keys, nil
}

// public returns the key, or nil.
func (k *jwk) public() any {
	switch k.Kind {
	case "RSA":
		n, e := number(k.N), number(k.E)
		if n == nil || e == nil || n.BitLen() < minRSABits || e.BitLen() > 31 {
			return nil
		}
		return &rsa.PublicKey{N: n, E: int(e.Int64())}
	case "EC":
		return k.ecdsa()
	case "OKP":
		x, err := base64.RawURLEncoding.DecodeString(k.X)
		if err != nil || k.Curve != "Ed25519" || len(x) != ed25519.PublicKeySize {
			return nil
		}
		return ed25519.PublicKey(x)
	}
	return nil
}

// ecdsa reads the point of a curve in its uncompressed form: 4, X, Y.
func (k *jwk) ecdsa() any {
	curve := map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}[k.Curve]
	x, errX := base64.RawURLEncoding.DecodeString(k.X)
	y, errY := base64.RawURLEncoding.DecodeString(k.Y)
	if curve == nil || errX != nil || errY != nil {
		return nil
	}
	size := (curve.Params().BitSize + 7) / 8
	if len(x) != size || len(y) != size {
		return nil
	}
	key, err := ecdsa.ParseUncompressedPublicKey(curve, append(append([]byte{4}, x...), y...))
	if err != nil {
		return nil
	}
	return key
}

// number reads an unsigned number, most significant byte first.
func number(s string) *big.Int {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) == 0 {
		return nil
	}
	return new(big.Int).SetBytes(b)
}
