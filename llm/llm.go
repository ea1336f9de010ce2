// Package llm holds chat models: services that speak OpenAI's protocol, Azure OpenAI, Anthropic and Ollama, and a list of
// them that are asked in turn.
//
//	model, err := llm.NewOllama(llm.OllamaConfig{ServiceConfig: llm.ServiceConfig{Model: "llama3.2"}})
//	eng, err := rag.Open(dir, rag.WithChatModel(model))
//
// All stream, and all are safe for concurrent use. They send nothing before the first question. Their errors are the
// context's, or ErrInvalid (a request or a setting that cannot be right, such as a key that is refused), ErrNotFound (no
// such model), ErrUnsupported (the model cannot do this), or ErrUnavailable: the service is down, slow or busy, breaks
// off, or sends what is no reply. Keys stand in no error.
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/bits"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/httpjson"
	"github.com/seed-d8745b77/rag/internal/modelapi"
)

// ServiceConfig is what the settings of all services have in common.
type ServiceConfig struct {
	Model   string            `json:"model"`    // name of the model; required
	BaseURL string            `json:"base_url"` // address that paths are appended to; "": the provider's own
	APIKey  string            `json:"api_key"`  // "": none; the registered providers then look into the environment
	Headers map[string]string `json:"headers"`  // sent with each request, such as those a gateway asks for; what they hold is in no error

	NoImages bool `json:"no_images"` // the model sees no pictures: a question with one is ErrUnsupported, and not sent

	FirstByteMS       int `json:"first_byte_timeout_ms,omitzero" range:"[1,86400000]"` // how long a reply may take to begin; 0: 120,000; at least 0
	IdleMS            int `json:"idle_timeout_ms,omitzero" range:"[1,86400000]"`       // how long it may pause; 0: 60,000; at least 0
	TimeoutMS         int `json:"timeout_ms,omitzero" range:"[1,86400000]"`            // of a whole reply; 0: 600,000; at least 0
	Tries             int `json:"tries,omitzero" range:"[1,1000]"`                     // at most, where another may help and nothing was shown yet; 0: 3; at least 0
	RequestsPerMinute int `json:"requests_per_minute" range:"[0,1000000000]"`          // more wait; 0: any number; at least 0
	Concurrent        int `json:"concurrent,omitzero" range:"[1,10000]"`               // replies under way; more wait; 0: 10; at least 0
	BreakAfter        int `json:"break_after,omitzero" range:"[-1,1000000] but 0"`     // failures in a row after which the service is left alone; 0: 5; below 0: never
	BreakForMS        int `json:"break_for_ms,omitzero" range:"[1,86400000]"`          // how long then; 0: 60,000; at least 0

	Logger *slog.Logger `json:"-"` // told what a model was found to refuse; nil: nobody is
}

func (c ServiceConfig) limits() modelapi.Limits {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	return modelapi.Limits{
		Timeout: ms(c.TimeoutMS), FirstByte: ms(c.FirstByteMS), Idle: ms(c.IdleMS), Tries: c.Tries,
		PerMinute: c.RequestsPerMinute, Concurrent: c.Concurrent, BreakAfter: c.BreakAfter, BreakFor: ms(c.BreakForMS),
	}
}

// service is what all models are made of.
type service struct {
	at       *modelapi.Service
	api      api
	noImages bool
	log      *slog.Logger
	refused  atomic.Uint32 // field: what the model was found not to take
}

// api is how a protocol is spoken.
type api interface {
	// path is appended to the base.
	path() string
	form() httpjson.Form
	// body is the request without the fields that the model refuses.
	body(req *rag.ChatRequest, without field) any
	// reader reads the reply to it.
	reader(req *rag.ChatRequest) reader
}

// reader puts the events of a reply together.
type reader interface {
	// event returns what an event adds to the reply; done says that it was the last one. An error is the service's.
	event(httpjson.Event) (piece rag.ChatDelta, done bool, err error)
	// end returns the last piece, once the stream has ended; whole is false if the reply has not.
	end() (piece rag.ChatDelta, whole bool)
}

// newService makes a model of settings.
func newService(at modelapi.Place, c ServiceConfig, a api) (*service, error) {
	s, err := modelapi.NewService(at, modelapi.Settings{Model: c.Model, BaseURL: c.BaseURL, APIKey: c.APIKey, Headers: c.Headers, Limits: c.limits()})
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", at.Provider, err, rag.ErrInvalid)
	}
	log := c.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &service{at: s, api: a, noImages: c.NoImages, log: log}, nil
}

// Fingerprint names provider, model and host.
func (s *service) Fingerprint() string { return s.at.String() }

// Ready reports whether the key that the service needs is there; ErrInvalid if not. It asks nobody.
func (s *service) Ready() error {
	if err := s.at.Ready(); err != nil {
		return fmt.Errorf("%w: %w", err, rag.ErrInvalid)
	}
	return nil
}

// Chat streams a reply. The sequence can be ranged over again: each time asks anew.
func (s *service) Chat(ctx context.Context, req rag.ChatRequest) iter.Seq2[rag.ChatDelta, error] {
	return func(yield func(rag.ChatDelta, error) bool) {
		if err := s.answer(ctx, &req, func(d rag.ChatDelta) bool { return yield(d, nil) }); err != nil {
			yield(rag.ChatDelta{}, err)
		}
	}
}

// errGone means that the consumer has broken out.
var errGone = errors.New("nobody listens")

// answer asks until the request holds nothing any more that the model refuses. show returns false to end.
func (s *service) answer(ctx context.Context, req *rag.ChatRequest, show func(rag.ChatDelta) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.Ready(); err != nil {
		return err
	}
	if err := check(req, s.noImages); err != nil {
		return fmt.Errorf("%s: %w", s.at, err)
	}
	for without := field(s.refused.Load()); ; {
		err := s.once(ctx, req, without, show)
		if errors.Is(err, errGone) {
			return nil
		}
		if err == nil {
			s.learn(without)
			return nil
		}
		more := namedIn(err) &^ without
		if more == 0 || ctx.Err() != nil {
			return s.explain(ctx, err)
		}
		without |= more
	}
}

// once asks once.
func (s *service) once(ctx context.Context, req *rag.ChatRequest, without field, show func(rag.ChatDelta) bool) error {
	read := s.api.reader(req)
	for e, err := range s.at.Client.Stream(ctx, s.at.URL(s.api.path()), s.api.body(req, without), s.api.form()) {
		if err != nil {
			return err
		}
		piece, done, err := read.event(e)
		if err != nil {
			return s.garbled(err)
		}
		if (piece.Text != "" || piece.Calls != nil) && !show(piece) {
			return errGone
		}
		if done {
			break
		}
	}
	last, whole := read.end()
	if !whole {
		return errors.New("the connection ended before the reply did")
	}
	if !show(last) {
		return errGone
	}
	return nil
}

// garbled is an error of an event, without what might be a key in it.
func (s *service) garbled(err error) error {
	return errors.New(s.at.Client.Excerpt([]byte(err.Error())))
}

// explain adds the kind that rag knows.
func (s *service) explain(ctx context.Context, err error) error {
	kind, err := s.at.Explain(ctx, err)
	switch kind {
	case modelapi.Ended:
		return err
	case modelapi.Invalid:
		return fmt.Errorf("%w: %w", err, rag.ErrInvalid)
	case modelapi.NotFound:
		return fmt.Errorf("%w: %w", err, rag.ErrNotFound)
	case modelapi.Unsupported:
		return fmt.Errorf("%w: %w", err, rag.ErrUnsupported)
	}
	return fmt.Errorf("%w: %w", err, rag.ErrUnavailable)
}

// field is a set of fields of a request that some model or server refuses.
type field uint32

const (
	temperature   field = 1 << iota // models that reason take none
	streamOptions                   // usage comes by itself
	lengthName                      // max_tokens in place of max_completion_tokens, or the other way round
	schemaField                     // the schema goes into the prompt instead
)

// names of the fields as they stand in errors.
var names = map[field][]string{
	temperature:   {"temperature"},
	streamOptions: {"stream_options"},
	lengthName:    {"max_tokens", "max_completion_tokens"},
	schemaField:   {"response_format", "json_schema", "output_config"},
}

// namedIn returns the fields that a service names where it refuses a request.
func namedIn(err error) (found field) {
	var status *httpjson.StatusError
	if !errors.As(err, &status) || status.Code != 400 && status.Code != 422 {
		return 0
	}
	for f, words := range names {
		for _, word := range words {
			if strings.Contains(status.Body, word) {
				found |= f
			}
		}
	}
	return found
}

// learn keeps what a request had to do without.
func (s *service) learn(without field) {
	if old := field(s.refused.Or(uint32(without))); old|without != old {
		var list []string
		for f := without &^ old; f != 0; f &= f - 1 {
			list = append(list, names[1<<bits.TrailingZeros32(uint32(f))][0])
		}
		s.log.Info("the chat model refuses a field: it is asked without", "provider", s.at.String(), "fields", strings.Join(list, ","))
	}
}

// check reports what no model can answer.
func check(req *rag.ChatRequest, noImages bool) error {
	if len(req.Messages) == 0 {
		return fmt.Errorf("a question needs a message: %w", rag.ErrInvalid)
	}
	for i, m := range req.Messages {
		switch {
		case m.Role != rag.RoleSystem && m.Role != rag.RoleUser && m.Role != rag.RoleAssistant && m.Role != rag.RoleTool:
			return fmt.Errorf("message %d has the unknown role %q: %w", i, m.Role, rag.ErrInvalid)
		case m.Role == rag.RoleTool && m.CallID == "":
			return fmt.Errorf("message %d is the result of a call but names none: %w", i, rag.ErrInvalid)
		case len(m.Images) > 0 && noImages:
			return fmt.Errorf("message %d holds a picture, and the model sees none (no_images): %w", i, rag.ErrUnsupported)
		case len(m.Images) > 0 && m.Role != rag.RoleUser:
			return fmt.Errorf("message %d of the role %s holds a picture: only the user can show one: %w", i, m.Role, rag.ErrInvalid)
		}
		for _, img := range m.Images {
			if !strings.HasPrefix(img.MediaType, "image/") || len(img.Data) == 0 {
				return fmt.Errorf("message %d: a picture needs data and a media type such as image/png: %w", i, rag.ErrInvalid)
			}
		}
	}
	if m := req.Messages[len(req.Messages)-1]; m.Role != rag.RoleUser && m.Role != rag.RoleTool {
		return fmt.Errorf("the last message is of the role %s: want user or tool: %w", m.Role, rag.ErrInvalid)
	}
	for _, raw := range append([]json.RawMessage{req.Schema}, parameters(req.Tools)...) {
		if len(raw) > 0 && !json.Valid(raw) {
			return fmt.Errorf("a schema is no JSON: %w", rag.ErrInvalid)
		}
	}
	return nil
}

func parameters(tools []rag.ChatTool) []json.RawMessage {
	list := make([]json.RawMessage, len(tools))
	for i, t := range tools {
		list[i] = t.Parameters
	}
	return list
}
