package access

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
)

// keysAsJSON returns a key set with a good key of each kind, "rsa", "ec" and "ed", and others that must be left out.
func keysAsJSON(t *testing.T) ([]byte, map[string]crypto.PublicKey) {
	t.Helper()
	strong, err := rsa.GenerateKey(rand.Reader, minRSABits)
	if err != nil {
		t.Fatal(err)
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	edwards, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := curve.PublicKey.Bytes() // 4, X, Y
	if err != nil {
		t.Fatal(err)
	}
	text := base64.RawURLEncoding.EncodeToString
	e, x, y := text(big.NewInt(int64(strong.E)).Bytes()), text(point[1:33]), text(point[33:])
	weak := text(new(big.Int).Rsh(strong.N, 1).Bytes())
	set, err := json.Marshal(map[string]any{"keys": []jwk{
		{ID: "rsa", Kind: "RSA", Use: "sig", N: text(strong.N.Bytes()), E: e},
		{ID: "ec", Kind: "EC", Curve: "P-256", X: x, Y: y},
		{ID: "ed", Kind: "OKP", Curve: "Ed25519", X: text(edwards)},
		{ID: "to encrypt", Kind: "RSA", Use: "enc", N: text(strong.N.Bytes()), E: e},
		{ID: "weak", Kind: "RSA", N: weak, E: e},
		{ID: "no exponent", Kind: "RSA", N: text(strong.N.Bytes())},
		{ID: "not on the curve", Kind: "EC", Curve: "P-256", X: y, Y: x},
		{ID: "too short", Kind: "EC", Curve: "P-256", X: text(point[1:32]), Y: y},
		{ID: "unknown curve", Kind: "EC", Curve: "P-192", X: x, Y: y},
		{ID: "short Edwards", Kind: "OKP", Curve: "Ed25519", X: text(edwards[1:])},
		{ID: "symmetric", Kind: "oct"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return set, map[string]crypto.PublicKey{"rsa": &strong.PublicKey, "ec": &curve.PublicKey, "ed": edwards}
}

// A provider that is down, or talks nonsense, is asked again after a pause and not before; then its keys are taken, those
// alone that a signature can be trusted with.
func TestKeysOfAProvider(t *testing.T) {
	set, want := keysAsJSON(t)
	replies := []struct {
		status int
		body   []byte
	}{{http.StatusInternalServerError, nil}, {http.StatusOK, []byte("<html>")}, {http.StatusOK, set}}
	asked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(replies[asked].status)
		w.Write(replies[asked].body)
		asked++
	}))
	defer srv.Close()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	keys, err := newKeySet(JWT{JWKS: srv.URL, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keys.key(t.Context(), "rsa", "RS256"); err == nil || !strings.Contains(err.Error(), "500") {
		t.Errorf("down: %v", err)
	}
	if _, err := keys.key(t.Context(), "rsa", "RS256"); err == nil || asked != 1 {
		t.Errorf("at once: error %v, asked %d times", err, asked)
	}
	now = now.Add(keyPause)
	if _, err := keys.key(t.Context(), "rsa", "RS256"); err == nil || !strings.Contains(err.Error(), "keys: ") {
		t.Errorf("nonsense: %v", err)
	}
	now = now.Add(keyPause)
	for id, algorithms := range map[string][]string{"rsa": {"RS256", "PS512"}, "ec": {"ES256"}, "ed": {"EdDSA"}} {
		for _, a := range algorithms {
			got, err := keys.key(t.Context(), id, a)
			if err != nil {
				t.Errorf("%s for %s: %v", id, a, err)
			} else if equal, ok := got.(interface{ Equal(crypto.PublicKey) bool }); !ok || !equal.Equal(want[id]) {
				t.Errorf("%s is another key", id)
			}
		}
		if _, err := keys.key(t.Context(), id, "HS256"); err == nil {
			t.Errorf("%s passes for a symmetric algorithm", id)
		}
	}
	if len(keys.keys) != len(want) || asked != 3 {
		t.Errorf("%d keys are taken, asked %d times", len(keys.keys), asked)
	}
}

func TestKeysComeOverHTTPS(t *testing.T) {
	for address, fine := range map[string]bool{"http://keys.example/jwks": false, "https://keys.example/jwks": true, "http://127.0.0.1:1/jwks": true, "http://[::1": false} {
		if _, err := newKeySet(JWT{JWKS: address}); (err == nil) != fine || !fine && !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%s: %v", address, err)
		}
	}
}
