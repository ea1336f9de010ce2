package dashboard

import (
	"net/http"
	"strings"

	"github.com/seed-d8745b77/rag/access"
)

// policy allows a page what it needs: everything from the server itself, no inline script or style, no frame around it.
const policy = "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self'; object-src 'none'; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

// guard puts the headers on every answer and refuses requests that may not be made: under a foreign name, changes that another
// site's page asks for, and without a login where one is needed. docs/adr/0037-dashboard.md says why these are enough.
func (s *Server) guard(next http.Handler) http.Handler {
	origin := http.NewCrossOriginProtection()
	origin.SetDenyHandler(s.answer("", "problem", func(*request) (any, error) { return nil, errForeign }))
	next = origin.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin") // with no-referrer, browsers send "Origin: null" with forms
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case !hostAllowed(r, s.o.Hosts):
			http.Error(w, "the dashboard is not called by this name: allow it with --host, or the option Hosts", http.StatusForbidden)
		case s.o.Token != "" && !open(r.URL.Path) && !s.loggedIn(r):
			s.askLogin(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// open reports whether a path is for everybody: the login, and what its page is made with.
func open(path string) bool { return path == loginPath || strings.HasPrefix(path, "/assets/") }

// hostAllowed checks the name by which the server is called. A request that no server took in came to no address.
func hostAllowed(r *http.Request, hosts []string) bool {
	return access.HostAllowed(r, hosts) || len(hosts) == 0 && r.Context().Value(http.LocalAddrContextKey) == nil
}
