package httpapi

import (
	"context"
	"net/http"
	"time"
)

// health is the answer of healthz and readyz.
type health struct {
	Status string `json:"status" jsonschema:"ok"`
}

// healthz says that the process lives.
func healthz(*call) (any, error) { return health{"ok"}, nil }

// readyWait is how long the data may take to be opened before the server is not ready.
const readyWait = 5 * time.Second

// readyz says whether requests are well sent here: the data can be read, and the server is not ending.
func readyz(c *call) (any, error) {
	if c.draining.Load() {
		return nil, errEnding
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), readyWait)
	defer cancel()
	c.r = c.r.WithContext(ctx)
	done, err := c.lend(c)
	if err == nil {
		defer done()
		_, err = c.engine.Collections(ctx)
	}
	if err != nil { // who asks has no token: the log alone tells why
		c.o.Logger.Warn("not ready", "err", err)
		return nil, &Error{Status: http.StatusServiceUnavailable, Code: codeUnavailable, Message: "the data cannot be read", retry: readyWait}
	}
	return health{"ok"}, nil
}

func showMetrics(c *call) (any, error) {
	c.w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	c.metrics.write(c.w, len(c.gate.waiting))
	return written{}, nil
}

// untilEnded is the context of a stream: it ends with its request, and when the server drains.
func (c *call) untilEnded() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(c.r.Context())
	forget := context.AfterFunc(c.ended, cancel)
	return ctx, func() { forget(); cancel() }
}
