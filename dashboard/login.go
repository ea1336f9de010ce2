package dashboard

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	loginPath     = "/login"
	sessionCookie = "rag_session"
	sessionTime   = 12 * time.Hour // a working day
)

func (s *Server) loginRoutes(on router) {
	on.view(loginPath, "login", func(r *request) (any, error) { return loginView{Next: r.param("next")}, nil })
	on.post(loginPath, "login", 0, s.login)
	on.post("/logout", "login", 0, s.logout)
}

type loginView struct {
	Next  string `json:"next"`  // page to go to: path and query below BasePath
	Wrong bool   `json:"wrong"` // a token was given, and it is another
}

func (v loginView) status() int {
	if v.Wrong {
		return http.StatusUnauthorized
	}
	return http.StatusOK
}

func (s *Server) login(r *request) (any, error) {
	next := r.PostForm.Get("next")
	if !s.isToken(r.PostForm.Get("token")) {
		return loginView{Next: next, Wrong: true}, nil
	}
	until := s.now().Add(sessionTime)
	s.setSession(r, s.sign(until), int(sessionTime.Seconds()))
	return redirect(s.o.BasePath + ownPage(next)), nil
}

// ownPage returns the path and query of a page of this server as a URL has them, or "/" for anything else. It is made anew of
// what was understood: browsers read "/\t/name" and "/\\name" as the address of another server.
func ownPage(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(next, "/") || strings.HasPrefix(u.Path, "//") || strings.Contains(u.Path, `\`) {
		return "/"
	}
	return withQuery(u.EscapedPath(), u.Query())
}

func (s *Server) logout(r *request) (any, error) {
	s.setSession(r, "", -1)
	return redirect(s.link(loginPath)), nil
}

func (s *Server) setSession(r *request, value string, maxAge int) {
	http.SetCookie(r.w, &http.Cookie{Name: sessionCookie, Value: value, Path: s.o.BasePath + "/", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil})
}

// loggedIn reports whether a request comes with the token, or with the cookie of somebody who gave it.
func (s *Server) loggedIn(r *http.Request) bool {
	if scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		return s.isToken(strings.TrimSpace(token))
	}
	c, err := r.Cookie(sessionCookie)
	if err != nil {
		return false
	}
	until, _, _ := strings.Cut(c.Value, ".")
	seconds, err := strconv.ParseInt(until, 10, 64)
	if err != nil || s.now().Unix() >= seconds {
		return false
	}
	return hmac.Equal([]byte(c.Value), []byte(s.sign(time.Unix(seconds, 0))))
}

// sign makes the cookie of a session: when it ends, and a proof that this server said so.
func (s *Server) sign(until time.Time) string {
	text := strconv.FormatInt(until.Unix(), 10)
	mac := hmac.New(sha256.New, s.session[:])
	mac.Write([]byte(text))
	return text + "." + hex.EncodeToString(mac.Sum(nil))
}

// isToken compares in a time that tells neither length nor beginning of the token.
func (s *Server) isToken(given string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(s.o.Token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// askLogin sends a person to the login, and tells a program that it needs a token.
func (s *Server) askLogin(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.URL.Query().Get("format") != "json" && strings.Contains(r.Header.Get("Accept"), "text/html") {
		http.Redirect(w, r, s.link(loginPath, "next", withQuery(r.URL.EscapedPath(), r.URL.Query())), http.StatusSeeOther)
		return
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	http.Error(w, "a token is needed: log in, or send it as Authorization: Bearer", http.StatusUnauthorized)
}
