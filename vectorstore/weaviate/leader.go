package weaviate

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/httpjson"
)

// A node asks the leader of the cluster what a class looks like before it writes to one. If the leader is lost, it waits for
// it without limit, also if another has been elected since, and carries the write out once the lost one is back: what was
// deleted meanwhile is there again, and who asked has long gone elsewhere (1.35.2: cluster/rpc/client.go, waitForReady
// without a deadline). So a write is sent only to a node that has just heard from the leader, which a question tells that
// does no harm when it is answered late.
const (
	leaderAnswers = 2 * time.Second        // in which a node says what the leader told it; some milliseconds as a rule
	leaderPause   = 250 * time.Millisecond // before the next node is asked
	leaderTries   = 20                     // of three nodes, one of which is lost, half a minute; an election takes 8 s
)

// change asks for something that writes. Where several nodes are known, each try is made of one that has the leader.
func (s *classes) change(ctx context.Context, method, path string, in, out any) error {
	if len(s.config.Others) == 0 {
		return s.call(ctx, method, path, in, out)
	}
	for try := 1; ; try++ {
		if err := s.led(ctx); err != nil {
			return err
		}
		err := s.ask(ctx, s.once, method, path, in, out)
		if !errors.Is(err, rag.ErrUnavailable) || try == s.service.Tries() {
			return err
		}
		if err := httpjson.Sleep(ctx, leaderPause); err != nil {
			return err
		}
	}
}

// led goes from node to node until one has an answer of the leader: that a class which nobody makes is not there. Its name
// begins as all do, for keys that may look at no others.
func (s *classes) led(ctx context.Context) error {
	err := s.describe(ctx, s.config.Prefix+"Leader", nil)
	if errors.Is(err, rag.ErrNotFound) {
		return nil
	}
	return err
}

// describe asks for the description of a class, which the leader gives; of another node if one does not hear from it.
func (s *classes) describe(ctx context.Context, class string, out any) error {
	path := "/v1/schema/" + class
	if len(s.config.Others) == 0 {
		return s.call(ctx, http.MethodGet, path, nil, out)
	}
	for try := 1; ; try++ {
		err := s.ask(ctx, s.brisk, http.MethodGet, path, nil, out)
		if !errors.Is(err, rag.ErrUnavailable) || try == leaderTries {
			return err
		}
		if err := httpjson.Sleep(ctx, leaderPause); err != nil {
			return err
		}
	}
}
