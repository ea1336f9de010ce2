package dashboard

import (
	"net"
	"net/http"
	"slices"
	"strings"
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
			http.Error(w, "the dashboard is not called by this name: see the option Hosts", http.StatusForbidden)
		case s.o.Token != "" && !open(r.URL.Path) && !s.loggedIn(r):
			s.askLogin(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// open reports whether a path is for everybody: the login, and what its page is made with.
func open(path string) bool { return path == loginPath || strings.HasPrefix(path, "/assets/") }

// hostAllowed checks the name by which the server is called, so that no web page reaches it under a name that its owner has
// pointed at this machine (DNS rebinding). On a loopback address it is one of loopback; on another any, unless names are given.
func hostAllowed(r *http.Request, hosts []string) bool {
	name := hostName(r.Host)
	if slices.ContainsFunc(hosts, func(h string) bool { return strings.EqualFold(h, name) || strings.EqualFold(h, r.Host) }) {
		return true
	}
	if isLoopback(name) {
		return true
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return len(hosts) == 0 && (local == nil || !isLoopback(hostName(local.String())))
}

func hostName(hostPort string) string {
	if host, _, err := net.SplitHostPort(hostPort); err == nil {
		return host
	}
	return strings.Trim(hostPort, "[]")
}

func isLoopback(name string) bool {
	ip := net.ParseIP(name)
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}
