package ragtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

func init() {
	for name, b := range map[string]struct {
		sentence string
		breakIt  func(*farStore)
	}{
		"store that takes half a reply for the whole": {"Search", func(s *farStore) {
			s.search = func(ctx context.Context, c string, q rag.VectorQuery) ([]rag.Match, error) {
				got, err := s.ask(ctx, c, q)
				if errors.Is(err, rag.ErrUnavailable) {
					return nil, nil
				}
				return got, err
			}
		}},
		"store that deletes before it writes": {"Upsert of known IDs", func(s *farStore) {
			s.upsert = func(ctx context.Context, c string, recs []rag.VectorRecord) error {
				var ids []string
				for _, r := range recs {
					ids = append(ids, r.ID)
				}
				if err := s.Delete(ctx, c, ids); err != nil {
					return err
				}
				return s.put(ctx, c, recs)
			}
		}},
		"store that blames the caller": {"Delete", func(s *farStore) { s.blame = rag.ErrInvalid }},
		"store that says it is done when it is not": {"first Upsert", func(s *farStore) {
			s.upsert = func(ctx context.Context, c string, recs []rag.VectorRecord) error {
				if err := s.put(ctx, c, recs); !errors.Is(err, rag.ErrUnavailable) {
					return err
				}
				return nil
			}
		}},
	} {
		broken[name] = struct {
			sentence string
			run      func(t *testing.T)
		}{b.sentence, func(t *testing.T) { farStores(t, b.breakIt) }}
	}
}

// A store that does what the contract says passes.
func TestAStoreBehindANetworkPasses(t *testing.T) { farStores(t, func(*farStore) {}) }

// farStores runs the suite over a store in memory that is asked over HTTP.
func farStores(t *testing.T, breakIt func(*farStore)) {
	store := flat(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in farCall
		err := json.NewDecoder(r.Body).Decode(&in)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		var matches []rag.Match
		switch r.URL.Path {
		case "/upsert":
			err = store.Upsert(r.Context(), in.Collection, in.Records)
		case "/delete":
			err = store.Delete(r.Context(), in.Collection, in.IDs)
		default:
			matches, err = store.Search(r.Context(), in.Collection, in.Query)
		}
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(matches) // a client that is gone is the test's business
	}))
	t.Cleanup(server.Close)
	ragtest.TestVectorStoreFaults(t, strings.TrimPrefix(server.URL, "http://"), func(t *testing.T, at string) rag.VectorStore {
		s := &farStore{url: "http://" + at, blame: rag.ErrUnavailable}
		s.upsert, s.search = s.put, s.ask
		breakIt(s)
		return s
	})
}

type farCall struct {
	Collection string
	Records    []rag.VectorRecord
	IDs        []string
	Query      rag.VectorQuery
}

// farStore is a store behind a server, as simple as can be.
type farStore struct {
	url    string
	blame  error // kind of what goes wrong
	upsert func(context.Context, string, []rag.VectorRecord) error
	search func(context.Context, string, rag.VectorQuery) ([]rag.Match, error)
}

func (s *farStore) Upsert(ctx context.Context, c string, recs []rag.VectorRecord) error {
	return s.upsert(ctx, c, recs)
}

func (s *farStore) Search(ctx context.Context, c string, q rag.VectorQuery) ([]rag.Match, error) {
	return s.search(ctx, c, q)
}

func (s *farStore) Delete(ctx context.Context, c string, ids []string) error {
	_, err := s.call(ctx, "/delete", farCall{Collection: c, IDs: ids})
	return err
}

func (s *farStore) put(ctx context.Context, c string, recs []rag.VectorRecord) error {
	_, err := s.call(ctx, "/upsert", farCall{Collection: c, Records: recs})
	return err
}

func (s *farStore) ask(ctx context.Context, c string, q rag.VectorQuery) ([]rag.Match, error) {
	return s.call(ctx, "/search", farCall{Collection: c, Query: q})
}

func (s *farStore) call(ctx context.Context, path string, in farCall) (matches []rag.Match, err error) {
	defer func() {
		if err = errors.Join(ctx.Err(), err); err != nil && ctx.Err() == nil {
			err = fmt.Errorf("%w: %w", s.blame, err)
		}
	}()
	body, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New(resp.Status)
	}
	return matches, json.Unmarshal(text, &matches)
}
