package ragtest_test

import (
	"context"
	"slices"
	"testing"

	"github.com/seed-d8745b77/rag"
)

func init() {
	for name, b := range map[string]struct {
		sentence string
		breakIt  func(*brokenStore)
	}{
		"store that cannot find one in twenty": {"each record finds itself", func(s *brokenStore) {
			s.search = func(ctx context.Context, c string, q rag.VectorQuery) ([]rag.Match, error) {
				q.K++
				got, err := s.Flat.Search(ctx, c, q)
				got = slices.DeleteFunc(got, func(m rag.Match) bool { return m.ID[len(m.ID)-1] == '7' && m.ID[len(m.ID)-2] < '5' })
				return got[:min(q.K-1, len(got))], err
			}
		}},
		"store that adds nothing again": {"the nearest are found after a third was deleted and added again", func(s *brokenStore) {
			known := map[string]bool{}
			s.upsert = func(ctx context.Context, c string, recs []rag.VectorRecord) error {
				recs = slices.DeleteFunc(slices.Clone(recs), func(r rag.VectorRecord) bool { return known[r.ID] })
				for _, r := range recs {
					known[r.ID] = true
				}
				return s.Flat.Upsert(ctx, c, recs)
			}
		}},
		"store that filters behind a deep search": {"the nearest are found under filters that select from 50 % to 0.01 %", func(s *brokenStore) {
			s.search = s.postFilter
		}},
	} {
		broken[name] = struct {
			sentence string
			run      func(t *testing.T)
		}{b.sentence, storeThat(b.breakIt)}
	}
}
