// Package remote holds what the stores behind a service share: how it is asked, under which names it knows collections,
// what it keeps of a record, and how a search is exact over a service that is not.
package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/httpjson"
	"github.com/seed-d8745b77/rag/internal/secret"
)

// Settings say where a service is and how it is asked.
type Settings struct {
	Name      string            // of the service, for messages
	URL       string            // its address
	Others    []string          // addresses at which it is as well, asked where that one fails
	KeyHeader string            // header that carries the key
	Key       string            // "": none is sent
	Headers   map[string]string // sent beside it
	Timeout   time.Duration     // of one try; 0: httpjson's
	Tries     int               // 0: httpjson's, and one for each of Others
}

// Service is a service that speaks JSON. It is safe for concurrent use.
type Service struct {
	name   string
	client httpjson.Client
}

// NewService checks the settings; errors are ErrInvalid and begin with the setting that is wrong. It asks nothing yet.
func NewService(s Settings) (*Service, error) {
	bad := func(format string, a ...any) error {
		return fmt.Errorf("%s: %s: %w", s.Name, fmt.Sprintf(format, a...), rag.ErrInvalid)
	}
	var addresses []string
	for _, address := range append([]string{s.URL}, s.Others...) {
		u, err := url.Parse(strings.TrimRight(address, "/"))
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
			return nil, bad("url: it must be an address such as http://host:8000, without a question mark") // not quoted: it may hold a password
		}
		addresses = append(addresses, u.String())
	}
	switch {
	case s.Timeout < 0 || s.Tries < 0:
		return nil, bad("timeout_ms and tries must not be below 0")
	case strings.ContainsFunc(s.Key, func(r rune) bool { return r < ' ' || r > '~' }):
		return nil, bad("api_key: it holds a character that no key has")
	}
	client := httpjson.Client{
		Header: http.Header{}, Secrets: secret.InURL(strings.Join(addresses, " ")), Timeout: s.Timeout, Tries: cmp.Or(s.Tries, httpjson.DefaultTries+len(s.Others)), Places: httpjson.NewPlaces(addresses...),
	}
	for name, value := range s.Headers {
		client.Header.Set(name, value)
	}
	switch {
	case s.Key == "":
	case http.CanonicalHeaderKey(s.KeyHeader) == "Authorization":
		client.Header.Set(s.KeyHeader, "Bearer "+s.Key)
	default:
		client.Header.Set(s.KeyHeader, s.Key)
	}
	return &Service{name: s.Name, client: client}, nil
}

// Within returns the service with another time-out of a try and number of tries. Both go to the same address, and leave one
// that fails for the next together.
func (s *Service) Within(timeout time.Duration, tries int) *Service {
	other := *s
	other.client.Timeout, other.client.Tries = timeout, tries
	return &other
}

// Tries is how often a request is made, at most.
func (s *Service) Tries() int { return s.client.Tries }

// Call sends in, if it is not nil, and reads the reply into out, if that is not nil. It is tried again where that may help,
// so it must do the same when it is done twice. An error is the context's or wraps one of rag's kinds: ErrNotFound for
// status 404, ErrUnavailable for what may pass, else ErrInvalid.
func (s *Service) Call(ctx context.Context, method, path string, in, out any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := s.client.Do(ctx, method, path, in, out)
	if err == nil {
		return nil
	}
	if cause := ctx.Err(); cause != nil {
		return cause
	}
	status, ok := errors.AsType[*httpjson.StatusError](err)
	kind := rag.ErrInvalid
	switch {
	case !ok || status.Temporary():
		kind = rag.ErrUnavailable
	case status.Code == http.StatusNotFound:
		kind = rag.ErrNotFound
	case status.Code == http.StatusUnauthorized || status.Code == http.StatusForbidden:
		return fmt.Errorf("%s refuses the key (status %d): check api_key and what it may do: %w", s.name, status.Code, kind)
	}
	return fmt.Errorf("%s: %w: %w", s.name, err, kind)
}

// Errorf is an error of the service, whose name it begins with.
func (s *Service) Errorf(format string, a ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{s.name}, a...)...)
}
