package mcpadapter

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/access"
)

// HTTPOptions sets streamable HTTP up. Without Tokens and JWT everybody who reaches the address sees everything.
type HTTPOptions struct {
	Tokens    []access.Token // bearer tokens, each with who has it
	JWT       *access.JWT    // tokens of an identity provider; nil: none
	PublicURL string         // of the endpoint, for clients that log in: "https://rag.example/mcp"; "" with JWT: from each request
	Hosts     []string       // names by which the server may be called besides those of its own loopback address; needed behind a gateway
	Origins   []string       // pages that may call from a browser, such as "https://app.example"; none otherwise

	Stateless bool    // keep no sessions for older clients either: any of several servers can answer any request
	MaxBody   int64   // bytes of a request; 0: 4 MB
	Rate      float64 // requests a second of one principal, or one address without tokens; 0: 500
	Burst     int     // requests at once above Rate; 0: 1000
}

const (
	defaultMaxBody = 4 << 20
	defaultRate    = 500
	defaultBurst   = 1000

	// sessionTimeout ends sessions whose client has gone without a word.
	sessionTimeout = 10 * time.Minute

	endpoint     = "/mcp"
	metadataPath = "/.well-known/oauth-protected-resource"
	healthPath   = "/healthz"
)

// Handler serves the protocol at /mcp and {"status":"ok"} at /healthz.
func (a *Adapter) Handler(o HTTPOptions) (http.Handler, error) {
	fill(&o.MaxBody, defaultMaxBody)
	fill(&o.Rate, defaultRate)
	fill(&o.Burst, defaultBurst)
	if o.MaxBody < 0 || o.Rate < 0 || o.Burst < 0 {
		return nil, fmt.Errorf("mcp: max_body %d, rate %v, burst %d: none may be negative: %w", o.MaxBody, o.Rate, o.Burst, rag.ErrInvalid)
	}
	streamable := func(stateless bool) http.Handler {
		return quietly(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return a.server }, &mcp.StreamableHTTPOptions{
			Stateless: stateless, SessionTimeout: sessionTimeout, PropagateRequestCancellation: true, MaxRequestBodyBytes: o.MaxBody,
			Logger: a.options.Logger, DisableLocalhostProtection: true, // guard knows more names
		}))
	}
	h := streamable(true)
	if !o.Stateless {
		h = byEra(h, streamable(false), o.MaxBody)
	}
	h = limited(h, access.NewLimiter(o.Rate, o.Burst))
	mux := http.NewServeMux()
	if len(o.Tokens) > 0 || o.JWT != nil {
		verify, err := verifier(&o)
		if err != nil {
			return nil, err
		}
		h = auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{ResourceMetadataURL: o.metadataURL(), AllowMissingExpiration: true})(h)
		if o.JWT != nil {
			meta := auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{Resource: o.PublicURL, AuthorizationServers: []string{o.JWT.Issuer}})
			mux.Handle(metadataPath, meta)
			mux.Handle(metadataPath+endpoint, meta)
		}
	}
	mux.Handle(endpoint, guarded(h, o.Hosts, o.Origins))
	mux.HandleFunc("GET "+healthPath, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"status":"ok"}`+"\n")
	})
	return mux, nil
}

// metadataURL is where clients read how to log in; "" where they cannot.
func (o *HTTPOptions) metadataURL() string {
	if o.JWT == nil || o.PublicURL == "" {
		return ""
	}
	return strings.TrimSuffix(o.PublicURL, endpoint) + metadataPath + endpoint
}

// firstStateless is the first version of the protocol without sessions.
const firstStateless = "2026-07-28"

// byEra gives requests of the protocol without sessions to one handler and all others to another: no handler of the SDK
// speaks both. A request of the newer protocol says so in a header or in its metadata.
func byEra(modern, legacy http.Handler, maxBody int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		version := r.Header.Get("Mcp-Protocol-Version")
		switch {
		case r.Header.Get("Mcp-Session-Id") != "":
		case version >= firstStateless:
			modern.ServeHTTP(w, r)
			return
		case r.Method == http.MethodPost && version == "":
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
			if err != nil {
				http.Error(w, fmt.Sprintf("a request has at most %d bytes", maxBody), http.StatusRequestEntityTooLarge)
				return
			}
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			if bytes.Contains(body, []byte(`"io.modelcontextprotocol/protocolVersion"`)) || bytes.Contains(body, []byte(`"server/discover"`)) {
				modern.ServeHTTP(w, r)
				return
			}
		}
		legacy.ServeHTTP(w, r)
	})
}

// guarded refuses requests that a web page makes behind its user's back.
func guarded(next http.Handler, hosts, origins []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := access.Guard(r, hosts, origins); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// limited answers 429 to callers that ask too often.
func limited(next http.Handler, l *access.Limiter) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := l.Allow(caller(r), time.Now()); !ok {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests: wait a second", http.StatusTooManyRequests)
			return
		}
		next.ServeHTTP(w, r)
	})
}
