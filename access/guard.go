package access

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// ErrForeign is wrapped by the error for a request that a web page makes behind its user's back.
var ErrForeign = errors.New("refused")

// Guard refuses the requests of foreign pages, and those under a name that an attacker has pointed at this machine (DNS
// rebinding): they are ErrForeign. hosts are names by which a server on a loopback address may be called besides those of
// loopback, origins pages of other servers that may call.
func Guard(r *http.Request, hosts, origins []string) error {
	switch {
	case !HostAllowed(r, hosts):
		return fmt.Errorf("%w: the server is not called by this name: allow it with --host, or the option Hosts", ErrForeign)
	case !originAllowed(r, origins):
		return fmt.Errorf("%w: pages of this origin may not call: allow it with --origin, or the option Origins", ErrForeign)
	}
	return nil
}

// HostAllowed checks the name by which the server is called, so that no web page reaches it under a name that its owner has
// pointed at this machine (DNS rebinding). On a loopback address that is one of loopback; on another address it is any, unless
// names are given.
func HostAllowed(r *http.Request, hosts []string) bool {
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

// Address names who makes a request where no token does.
func Address(r *http.Request) string { return "address " + hostName(r.RemoteAddr) }

// Limiter keeps one caller from taking the server for itself. It is safe for concurrent use.
type Limiter struct {
	rate  rate.Limit
	burst int

	mu sync.Mutex
	of map[string]*rate.Limiter
}

// maxCallers is how many callers are remembered; who is forgotten begins with a full allowance.
const maxCallers = 10_000

// NewLimiter allows each caller so many requests a second, and burst at once above that.
func NewLimiter(perSecond float64, burst int) *Limiter {
	return &Limiter{rate: rate.Limit(perSecond), burst: burst, of: map[string]*rate.Limiter{}}
}

// Allow takes one request of the caller's allowance; where there is none left, it returns how long the caller must wait.
func (l *Limiter) Allow(caller string, now time.Time) (wait time.Duration, ok bool) {
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
	r := one.ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
		return wait, false
	}
	return 0, r.OK()
}
