package mcpadapter_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/access"
	"github.com/seed-d8745b77/rag/mcpadapter"
)

func serve(t *testing.T, o mcpadapter.HTTPOptions, tools ...string) *httptest.Server {
	t.Helper()
	h, err := adapter(t, engine(t), mcpadapter.Options{Tools: tools}).Handler(o)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// bearer puts a token on every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func dial(t *testing.T, url, token string) (*mcp.ClientSession, error) {
	t.Helper()
	transport := &mcp.StreamableClientTransport{Endpoint: url + "/mcp", MaxRetries: -1}
	if token != "" {
		transport.HTTPClient = &http.Client{Transport: bearer(token)}
	}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err == nil {
		t.Cleanup(func() { s.Close() })
	}
	return s, err
}

func post(t *testing.T, url string, header map[string]string, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for k, v := range header {
		req.Header.Set(k, v)
		if k == "Host" {
			req.Host = v
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(b) + res.Header.Get("WWW-Authenticate")
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func TestHTTPServesBothEras(t *testing.T) {
	s := serve(t, mcpadapter.HTTPOptions{}, "search")
	c, err := dial(t, s.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, data := call(t, c, "search", map[string]any{"query": "heron"}); len(data["results"].([]any)) == 0 {
		t.Errorf("%v", data)
	}
	if code, body := post(t, s.URL+"/mcp", nil, initialize); code != 200 || !strings.Contains(body, `"protocolVersion":"2025-11-25"`) {
		t.Errorf("older client: %d %s", code, body)
	}
	res, err := http.Get(s.URL + "/healthz")
	if err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("health: %v, %v", res, err)
	}
	res.Body.Close()
}

func TestHTTPRefuses(t *testing.T) {
	s := serve(t, mcpadapter.HTTPOptions{MaxBody: 1 << 16, Origins: []string{"https://app.example"}, Hosts: []string{"rag.example"}}, "search")
	for _, tt := range []struct {
		name   string
		header map[string]string
		body   string
		want   int
	}{
		{"nothing foreign", nil, initialize, 200},
		{"a foreign page", map[string]string{"Origin": "https://evil.example"}, initialize, 403},
		{"a foreign page without its name", map[string]string{"Sec-Fetch-Site": "cross-site"}, initialize, 403},
		{"a page that may", map[string]string{"Origin": "https://app.example"}, initialize, 200},
		{"its own page", map[string]string{"Origin": s.URL}, initialize, 200},
		{"DNS rebinding", map[string]string{"Host": "evil.example"}, initialize, 403},
		{"DNS rebinding with its page", map[string]string{"Host": "evil.example", "Origin": "http://evil.example"}, initialize, 403},
		{"a name that is given", map[string]string{"Host": "rag.example"}, initialize, 200},
		{"a session that is lost", map[string]string{"Mcp-Session-Id": "gone"}, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, 404},
		{"a large body", nil, initialize + strings.Repeat(" ", 1<<16), 413},
		{"no JSON", nil, "{bad", 400},
	} {
		if code, body := post(t, s.URL+"/mcp", tt.header, tt.body); code != tt.want {
			t.Errorf("%s: %d %s, want %d", tt.name, code, body, tt.want)
		}
	}
	slow := serve(t, mcpadapter.HTTPOptions{Rate: 0.001, Burst: 2}, "search")
	for i, want := range []int{200, 200, 429} {
		if code, _ := post(t, slow.URL+"/mcp", nil, initialize); code != want {
			t.Errorf("request %d: %d, want %d", i, code, want)
		}
	}
}

func TestTokensSeeTheirPart(t *testing.T) {
	tokens, err := access.ParseTokens([]byte(`[{"token":"red-red-red-red-red","name":"red","filter":"tenant = red"},{"token":"blue-blue-blue-blue","name":"blue","filter":"tenant = blue"},{"token":"all-all-all-all-all","name":"all"}]`))
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, mcpadapter.HTTPOptions{Tokens: tokens}, "hub", "docs", "delete")
	for _, token := range []string{"", "red-red-red-red-rex"} {
		if _, err := dial(t, s.URL, token); err == nil {
			t.Errorf("%q may call", token)
		}
	}
	red, err := dial(t, s.URL, "red-red-red-red-red")
	if err != nil {
		t.Fatal(err)
	}
	seesOnlyRed(t, red)
	all, err := dial(t, s.URL, "all-all-all-all-all")
	if err != nil {
		t.Fatal(err)
	}
	if _, data := call(t, all, "stats", nil); data["n_sources"] != 2.0 {
		t.Errorf("the owner sees %v", data)
	}
}

// seesOnlyRed looks for the document of the other tenant everywhere.
func seesOnlyRed(t *testing.T, red *mcp.ClientSession) {
	t.Helper()
	ctx := t.Context()
	other := rag.DocumentID("default", "mem:docs/blue.md")
	seen := func(what string, v any, err error) {
		b, _ := json.Marshal(v)
		text := string(b)
		if err != nil {
			text += err.Error()
		}
		for _, secret := range []string{"worms", "Badgers", "blue.md"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s tells of %s: %s", what, secret, text)
			}
		}
	}
	for _, p := range []*mcp.CallToolParams{
		{Name: "query_knowledge_hub", Arguments: map[string]any{"query": "badger at night"}},
		{Name: "search", Arguments: map[string]any{"query": "night", "filter": `tenant = blue or tenant = red`}},
		{Name: "search", Arguments: map[string]any{"query": "night", "filter": "not tenant = red"}},
		{Name: "ask", Arguments: map[string]any{"query": "what is eaten at night?", "filter": "everything"}},
		{Name: "list_topics"}, {Name: "list_collections"}, {Name: "stats"},
		{Name: "get_document_summary", Arguments: map[string]any{"source_hash": other}},
		{Name: "delete_document", Arguments: map[string]any{"document": other}},
		{Name: "search", Arguments: map[string]any{"query": "x", "collection": "defaul"}},
	} {
		res, err := red.CallTool(ctx, p)
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		seen(fmt.Sprint(p.Name, p.Arguments), res, err)
	}
	list, err := red.ListResources(ctx, nil)
	if seen("resources", list, err); err != nil || len(list.Resources) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
	doc, err := red.ReadResource(ctx, &mcp.ReadResourceParams{URI: "rag://default/" + other})
	if seen("resource", doc, err); err == nil {
		t.Error("the document of another is read")
	}
	prompt, err := red.GetPrompt(ctx, &mcp.GetPromptParams{Name: "answer_with_citations", Arguments: map[string]string{"question": "night", "filter": "tenant = blue"}})
	seen("prompt", prompt, err)
	for arg, value := range map[string]string{"filter": "tenant", "document": "", "collection": ""} {
		c, err := red.Complete(ctx, &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "answer_with_citations"}, Argument: mcp.CompleteParamsArgument{Name: arg, Value: value}})
		if seen("completion", c, err); err == nil && strings.Contains(fmt.Sprint(c.Completion.Values), "blue") || err == nil && strings.Contains(fmt.Sprint(c.Completion.Values), other) {
			t.Errorf("completion of %s: %v", arg, c.Completion.Values)
		}
	}
}

func TestSignedTokens(t *testing.T) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	keys := filepath.Join(t.TempDir(), "keys.json")
	set := fmt.Sprintf(`{"keys":[{"kid":"k","kty":"OKP","crv":"Ed25519","x":%q}]}`, base64.RawURLEncoding.EncodeToString(public))
	if err := os.WriteFile(keys, []byte(set), 0o600); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	s := serve(t, mcpadapter.HTTPOptions{PublicURL: "https://rag.example/mcp", JWT: &access.JWT{
		JWKS: keys, Issuer: "https://id.example", Audience: "rag", Claims: map[string]string{"tenant": "org"},
	}}, "hub", "docs", "delete")
	sign := func(change func(jwt.MapClaims), key any, method jwt.SigningMethod) string {
		claims := jwt.MapClaims{"iss": "https://id.example", "aud": "rag", "sub": "r", "org": "red", "exp": now.Add(time.Hour).Unix()}
		if change != nil {
			change(claims)
		}
		token := jwt.NewWithClaims(method, claims)
		token.Header["kid"] = "k"
		signed, err := token.SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	eddsa := jwt.SigningMethodEdDSA
	red, err := dial(t, s.URL, sign(nil, private, eddsa))
	if err != nil {
		t.Fatal(err)
	}
	seesOnlyRed(t, red)
	_, forger, _ := ed25519.GenerateKey(rand.Reader)
	for name, token := range map[string]string{
		"expired":                    sign(func(c jwt.MapClaims) { c["exp"] = now.Add(-time.Hour).Unix() }, private, eddsa),
		"for ever":                   sign(func(c jwt.MapClaims) { delete(c, "exp") }, private, eddsa),
		"another issuer":             sign(func(c jwt.MapClaims) { c["iss"] = "x" }, private, eddsa),
		"another audience":           sign(func(c jwt.MapClaims) { c["aud"] = "x" }, private, eddsa),
		"no tenant":                  sign(func(c jwt.MapClaims) { delete(c, "org") }, private, eddsa),
		"a tenant list of numbers":   sign(func(c jwt.MapClaims) { c["org"] = []any{map[string]any{}} }, private, eddsa),
		"nobody":                     sign(func(c jwt.MapClaims) { delete(c, "sub") }, private, eddsa),
		"another key":                sign(nil, forger, eddsa),
		"the public key as a secret": sign(nil, []byte(public), jwt.SigningMethodHS256),
		"no signature":               sign(nil, jwt.UnsafeAllowNoneSignatureType, jwt.SigningMethodNone),
	} {
		code, body := post(t, s.URL+"/mcp", map[string]string{"Authorization": "Bearer " + token}, initialize)
		if code != 401 || !strings.Contains(body, `resource_metadata="https://rag.example/.well-known/oauth-protected-resource/mcp"`) {
			t.Errorf("%s: %d %s", name, code, body)
		}
	}
	res, err := http.Get(s.URL + "/.well-known/oauth-protected-resource/mcp")
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", res, err)
	}
	defer res.Body.Close()
	if b, _ := io.ReadAll(res.Body); !strings.Contains(string(b), "https://id.example") {
		t.Errorf("%s", b)
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	h, err := adapter(t, engine(t), mcpadapter.Options{}).Handler(mcpadapter.HTTPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- access.Serve(ctx, srv.Listener, h, access.Grace) }()
	if code, _ := post(t, "http://"+srv.Listener.Addr().String()+"/mcp", nil, initialize); code != 200 {
		t.Errorf("code %d", code)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestBadTokenListsAreRefused(t *testing.T) {
	for name, list := range map[string]string{
		"no JSON": "x", "short": `[{"token":"x","name":"a"}]`, "no name": `[{"token":"0123456789abcdef"}]`, "filter": `[{"token":"0123456789abcdef","name":"a","filter":"tenant ="}]`,
		"twice": `[{"token":"0123456789abcdef","name":"a"},{"token":"0123456789abcdef","name":"b"}]`, "key": `[{"token":"0123456789abcdef","name":"a","scope":"x"}]`,
	} {
		if _, err := access.ParseTokens([]byte(list)); !errors.Is(err, rag.ErrInvalid) || strings.Contains(err.Error(), "0123456789abcdef") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTokenListsNameTheLine(t *testing.T) {
	for list, want := range map[string]string{
		"[\n {\"token\":\"0123456789abcdef\",\"name\":\"a\"},\n {\"token\":\"x\",\"name\":\"b\"}\n]":                              "tokens:3: a token has at least",
		"[\n {\"token\":\"0123456789abcdef\",\"name\":\"a\"},\n\n {\"token\":\"1123456789abcdef\"}]":                              "tokens:4: the token has no name",
		"[{\"token\":\"0123456789abcdef\",\"name\":\"a\"},\n{\"token\":\"0123456789abcdef\",\"name\":\"b\"}]":                     "tokens:2: the token is that of another entry",
		"[{\"token\":\"0123456789abcdef\",\"name\":7}]":                                                                           "tokens:1: name: want a text, got a number",
		"[\n\n{\"0123456789abcdef\":\"a\"}]":                                                                                      "tokens:3: unknown key",
		"[{\"token\":\"0123456789abcdef\",\n\"name\":\"a\"},\n {\"token\": 1123456789abcdef}]":                                    "tokens:3: want a list of objects",
		"{\"0123456789abcdef\": \"a\"}":                                                                                           "tokens:1: want a list of objects",
		"[{\"token\":\"0123456789abcdef\",\n\"name\":\"a\"}]\n x":                                                                 "tokens:3: want a list of objects",
		"[{\"token\":\"0123456789abcdef\",\"name\":\"a\"},\n {\"token\":\"1123456789abcdef\",\"name\":\"b\",\"filter\":\"x =\"}]": "tokens:2: filter: column 4",
	} {
		if _, err := access.ParseTokens([]byte(list)); !errors.Is(err, rag.ErrInvalid) || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "123456789abcdef") {
			t.Errorf("%s: %v, want %q", list, err, want)
		}
	}
}
