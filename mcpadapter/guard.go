package mcpadapter

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"golang.org/x/time/rate"
)

// guarded refuses requests that a web page makes behind its user's back: those of foreign pages, and those under a name that
// an attacker has pointed at this machine (DNS rebinding).
func guarded(next http.Handler, hosts, origins []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !hostAllowed(r, hosts):
			http.Error(w, "the server is not called by this name: see the option hosts", http.StatusForbidden)
		case !originAllowed(r, origins):
			http.Error(w, "pages of this origin may not call: see the option origins", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// hostAllowed checks the name by which the server is called. On a loopback address that is one of loopback; on another
// address it is any, unless names are given.
func hostAllowed(r *http.Request, hosts []string) bool {
	name := hostName(r.Host)
	if slices.ContainsFunc(hosts, func(h string) bool { return strings.EqualFold(h, name) || strings.EqualFold(h, r.Host) }) {
		return true
	}
	if isLoopback(name) {
		return true
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return len(hosts) == 0 && local != nil && !isLoopback(hostName(local.String()))
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

// originAllowed checks the page that makes the request; programs that are no browser name none.
func originAllowed(r *http.Request, origins []string) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		site := r.Header.Get("Sec-Fetch-Site")
		return site == "" || site == "same-origin" || site == "none"
	}
	if slices.Contains(origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && u.Host == r.Host
}

// limiter keeps one caller from taking the server for itself.
type limiter struct {
	rate  rate.Limit
	burst int

	mu sync.Mutex
	of map[string]*rate.Limiter
}

// maxCallers is how many callers are remembered; who is forgotten begins with a full allowance.
const maxCallers = 10_000

func newLimiter(perSecond float64, burst int) *limiter {
	return &limiter{rate: rate.Limit(perSecond), burst: burst, of: map[string]*rate.Limiter{}}
}

func (l *limiter) allow(caller string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.of[caller]
	if one == nil {
		if len(l.of) >= maxCallers {
			clear(l.of)
		}
		one = rate.NewLimiter(l.rate, l.burst)
		l.of[caller] = one
	}
	return one.AllowN(now, 1)
}

// limited answers 429 to callers that ask too often.
func limited(next http.Handler, l *limiter) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller := "address " + hostName(r.RemoteAddr)
		if info := auth.TokenInfoFromContext(r.Context()); info != nil {
			caller = "principal " + info.UserID
		}
		if !l.allow(caller, time.Now()) {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests: wait a second", http.StatusTooManyRequests)
			return
		}
		next.ServeHTTP(w, r)
	})
}
