package chroma

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/httpjson"
)

// A read that meets a record while another request deletes or replaces it fails as a whole in Chroma 1.5.9, or lacks the
// record's vector: 7.5 % of the searches beside 20 writers. So the tries that a service in trouble is given ([Config].Tries)
// are made four times.
const (
	mostTorn  = 4
	pauseTorn = 20 * time.Millisecond
)

// errTorn is a reply that lacks what was asked for.
var errTorn = errors.New("the reply is not whole")

// torn reports whether an error comes of a record that was being deleted or replaced.
func torn(err error) bool {
	if errors.Is(err, errTorn) {
		return true
	}
	status, ok := errors.AsType[*httpjson.StatusError](err)
	return ok && slices.ContainsFunc([]string{"Error finding id", "Error getting embedding"}, func(text string) bool {
		return strings.Contains(status.Body, text)
	})
}

// ask reads something of a collection: in is sent to its part, "/get" or "/query", and whole tells whether the reply has all
// that was asked for.
func ask[R any](ctx context.Context, s *Store, c collection, part string, in any, whole func(R) bool) (R, error) {
	for try := 1; ; try++ {
		var r R
		err := s.service.Call(ctx, http.MethodPost, s.base+"/"+c.ID+part, in, &r)
		if err == nil && !whole(r) {
			err = s.service.Errorf("%w: vectors or metadata of records are missing: %w", errTorn, rag.ErrUnavailable)
		}
		if !torn(err) || try == mostTorn {
			return r, err
		}
		if err := httpjson.Sleep(ctx, pauseTorn); err != nil {
			return r, err
		}
	}
}
