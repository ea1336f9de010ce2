package otel

import (
	"fmt"

	"go.opentelemetry.io/otel"

	"github.com/seed-d8745b77/rag"
)

func init() { Register(rag.Default) }

// Settings are those of the registered sink.
type Settings struct {
	Config

	// Also is the sink that is given each trace too, a name or a name with settings: "jsonl" for `rag trace` and the
	// dashboard; absent: none.
	Also rag.ProviderConfig `json:"also"`
}

// Register adds the trace sink "otel". A configuration can name no provider, so this one tells OpenTelemetry's global
// ones, which the program sets before or after; without them it tells nobody.
func Register(p *rag.Providers) {
	p.TraceSinks.Register("otel", rag.Typed(func(env rag.Env, s Settings) (rag.TraceSink, error) {
		s.TracerProvider, s.MeterProvider = otel.GetTracerProvider(), otel.GetMeterProvider()
		if s.Also.Provider != "" && s.Also.Provider != rag.None {
			next, err := p.TraceSinks.New(s.Also.Provider, env, s.Also.Settings)
			if err != nil {
				return nil, fmt.Errorf("also: %w", err)
			}
			s.Next = next
		}
		return New(s.Config)
	}))
}
