package access

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-d8745b77/rag"
)

func FuzzTokens(f *testing.F) {
	f.Add([]byte(`[{"token": "0123456789abcdef", "name": "alice", "filter": "tenant = red"}]`))
	f.Add([]byte(`[{"token": "short", "name": ""}, {}]`))
	f.Add([]byte(`{"token": 5}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tokens, err := ParseTokens(data)
		if err != nil && !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("error %v, want ErrInvalid", err)
		}
		for _, one := range tokens {
			if err == nil && (len(one.Value) < minToken || one.Principal.Name == "") {
				t.Errorf("the token %+v is taken", one)
			}
		}
	})
}

func FuzzKeys(f *testing.F) {
	f.Add([]byte(`{"keys":[{"kid":"a","kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},{"kty":"RSA","n":"AQAB","e":"AQAB"}]}`))
	f.Add([]byte(`{"keys":[{"kid":"b","kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		keys, err := parseKeys(data)
		for id, key := range keys {
			if key == nil || err != nil {
				t.Errorf("the key %q is %v, error %v", id, key, err)
			}
		}
	})
}

// FuzzJWT looks for a token that no key has signed and that is taken all the same.
func FuzzJWT(f *testing.F) {
	keys := filepath.Join(f.TempDir(), "keys.json")
	if err := os.WriteFile(keys, []byte(`{"keys":[{"kid":"a","kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`), 0o600); err != nil {
		f.Fatal(err)
	}
	v, err := newJWTVerifier(JWT{JWKS: keys, Issuer: "i", Audience: "a", Claims: map[string]string{"tenant": "org"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("eyJhbGciOiJFZERTQSIsImtpZCI6ImEifQ.eyJzdWIiOiJ4IiwiaXNzIjoiaSIsImF1ZCI6ImEiLCJleHAiOjk5OTk5OTk5OTl9.AAAA")
	f.Add("eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4IiwiaXNzIjoiaSIsImF1ZCI6ImEiLCJleHAiOjk5OTk5OTk5OTl9.")
	f.Fuzz(func(t *testing.T, token string) {
		if g, err := v.verify(t.Context(), token); !errors.Is(err, ErrToken) {
			t.Errorf("%q is taken for %+v, %v", token, g, err)
		}
	})
}
