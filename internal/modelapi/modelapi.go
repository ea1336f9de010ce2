// Package modelapi holds what the rooms that ask services of models share: where the known services are, how they are
// reached, and what their errors mean.
package modelapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag/internal/httpjson"
	"github.com/seed-d8745b77/rag/internal/secret"
)

// Place says where a provider's models are.
type Place struct {
	Provider    string // its name
	Base        string // address without a slash at the end; "": the settings must give it
	KeyVariable string // environment variable that holds the key; "": none is needed
	Auth        string // header that carries the key
	Embeds      bool   // it has embedding models too
}

// bearer carries a key as "Bearer key".
const bearer = "Authorization"

// Places that speak OpenAI's protocol, OpenAI first. Addresses and names of variables are those of the services' own
// documentation; vllm and lm-studio are programs, at their own default ports.
var Places = []Place{
	{"openai", "https://api.openai.com/v1", "OPENAI_API_KEY", bearer, true},
	{"deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", bearer, false},
	{"mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", bearer, true},
	{"groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", bearer, false},
	{"openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", bearer, true},
	{"vllm", "http://127.0.0.1:8000/v1", "", bearer, true},
	{"lm-studio", "http://127.0.0.1:1234/v1", "", bearer, true},
}

// Places with a protocol of their own. Azure's header is spelt as Go does.
var (
	Azure     = Place{"azure", "", "AZURE_OPENAI_API_KEY", "Api-Key", true}
	Anthropic = Place{"anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY", bearer, false}
	Ollama    = Place{"ollama", "http://127.0.0.1:11434", "", bearer, true}
)

// AzureVersion is the version of Azure's interface: the last one of those with a date that is no preview.
const AzureVersion = "2024-10-21"

// AzurePath is where a deployment does an operation, such as "embeddings"; version "" means AzureVersion.
func AzurePath(deployment, operation, version string) string {
	return "/openai/deployments/" + url.PathEscape(deployment) + "/" + operation + "?api-version=" + url.QueryEscape(cmp.Or(version, AzureVersion))
}

// elsewhere reports whether settings name another address than the provider's own.
func (p Place) elsewhere(base string) bool {
	return p.Base != "" && base != "" && strings.TrimRight(base, "/") != p.Base
}

// KeyFor returns the key that settings give, else the one in the environment; but that is for the provider's own address
// only, and not for whoever base_url names. getenv may be nil.
func (p Place) KeyFor(given, base string, getenv func(string) string) string {
	if given != "" || p.KeyVariable == "" || getenv == nil || p.elsewhere(base) {
		return given
	}
	return getenv(p.KeyVariable)
}

// Limits bound what a service is asked. The zero value of each field means the default that its constant gives.
type Limits struct {
	Timeout, FirstByte, Idle time.Duration
	Tries                    int
	PerMinute                int // 0: any number
	Concurrent               int
	BreakAfter               int // below 0: never
	BreakFor                 time.Duration
}

// Defaults of [Limits]; those of times and tries are httpjson's.
const (
	DefaultConcurrent = 10
	DefaultBreakAfter = 5
	DefaultBreakFor   = time.Minute
)

// Service is a model at a service.
type Service struct {
	Provider    string // "openai"
	Base        *url.URL
	Model       string
	Key         string
	KeyVariable string // named where a key is missing or refused; "": no key is needed
	Client      httpjson.Client
}

// Settings say which model is asked, and how.
type Settings struct {
	Model, BaseURL, APIKey string
	Headers                map[string]string // sent beside the one with the key
	Limits                 Limits
}

// NewService checks the settings of a service and makes its client. Errors begin with the setting that is wrong.
func NewService(at Place, c Settings) (*Service, error) {
	s := &Service{Provider: at.Provider, Model: c.Model, Key: strings.TrimSpace(c.APIKey), KeyVariable: at.KeyVariable}
	if at.elsewhere(c.BaseURL) {
		s.KeyVariable = "" // it may need no key
	}
	if at.Base == "" && c.BaseURL == "" {
		return nil, errors.New("base_url: the address of the resource is needed")
	}
	var err error
	if s.Base, err = parseBase(cmp.Or(c.BaseURL, at.Base)); err != nil {
		return nil, err
	}
	l := c.Limits
	switch {
	case s.Model == "":
		return nil, errors.New("model: which one is to be asked?")
	case l.Timeout < 0 || l.FirstByte < 0 || l.Idle < 0 || l.Tries < 0 || l.PerMinute < 0 || l.Concurrent < 0 || l.BreakFor < 0:
		return nil, errors.New("a limit is below 0: only break_after can be, for never")
	}
	s.Client = httpjson.Client{Header: http.Header{}, Secrets: secret.InURL(s.Base.String()), Timeout: l.Timeout, FirstByte: l.FirstByte, Idle: l.Idle, Tries: l.Tries}
	for name, value := range c.Headers {
		s.Client.Header.Set(name, value)
	}
	switch {
	case s.Key == "":
	case strings.ContainsFunc(s.Key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, errors.New("api_key: it holds a blank or a character that no key has")
	case at.Auth == bearer:
		s.Client.Header.Set(bearer, "Bearer "+s.Key)
	default:
		s.Client.Header.Set(at.Auth, s.Key)
	}
	g := httpjson.GateConfig{
		PerMinute: l.PerMinute, Concurrent: cmp.Or(l.Concurrent, DefaultConcurrent),
		BreakAfter: cmp.Or(l.BreakAfter, DefaultBreakAfter), BreakFor: cmp.Or(l.BreakFor, DefaultBreakFor),
	}
	s.Client.Gate = httpjson.NewGate(g)
	return s, nil
}

func parseBase(base string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(base, "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("base_url: it must be an address such as https://host/v1, without a question mark") // not quoted: it may hold a password
	}
	return u, nil
}

// URL is the address of a path below the base.
func (s *Service) URL(path string) string { return s.Base.String() + path }

// String names provider, model and host, for fingerprints and messages.
func (s *Service) String() string { return s.Provider + "/" + s.Model + "@" + s.Base.Host }

// Ready says whether a key that is needed is there.
func (s *Service) Ready() error {
	if s.KeyVariable == "" || s.Key != "" || s.Client.Header.Get("Authorization") != "" {
		return nil
	}
	return fmt.Errorf("%s has no key: set api_key, or the environment variable %s where the program reads it", s.Provider, s.KeyVariable)
}

// Kind is what a caller can do about an error.
type Kind int

// Kinds of errors.
const (
	Unavailable Kind = iota // ask again later, or somebody else
	Invalid                 // set something up otherwise
	NotFound                // there is no such model
	Unsupported             // the model cannot do this
	Ended                   // the caller's context is done
)

// Explain says what an error of the service means. The error that it returns holds no key.
func (s *Service) Explain(ctx context.Context, err error) (Kind, error) {
	if cause := ctx.Err(); cause != nil {
		return Ended, cause
	}
	var status *httpjson.StatusError
	if !errors.As(err, &status) {
		return Unavailable, fmt.Errorf("%s: %w", s, err)
	}
	switch code := status.Code; {
	case code == http.StatusUnauthorized: // the body may repeat a part of the key
		return Invalid, fmt.Errorf("%s: status 401: the service refuses the key: check %s", s, s.keySetting())
	case code == http.StatusForbidden:
		return Invalid, fmt.Errorf("%s: %w: check what the key of %s may do", s, err, s.keySetting())
	case code == http.StatusNotFound:
		return NotFound, fmt.Errorf("%s: %w: check model and base_url", s, err)
	case code >= 300 && code < 400:
		return Invalid, fmt.Errorf("%s: %w: base_url must be the address that this leads to", s, err)
	case code == http.StatusPaymentRequired || code == http.StatusRequestTimeout || status.Temporary():
		return Unavailable, fmt.Errorf("%s: %w", s, err)
	case strings.Contains(status.Body, "does not support"): // Ollama, of tools and pictures
		return Unsupported, fmt.Errorf("%s: %w", s, err)
	}
	return Invalid, fmt.Errorf("%s: %w", s, err)
}

func (s *Service) keySetting() string {
	if s.KeyVariable == "" {
		return "api_key"
	}
	return "api_key or the environment variable " + s.KeyVariable
}
