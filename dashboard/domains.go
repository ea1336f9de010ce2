package dashboard

import (
	"context"

	"github.com/seed-d8745b77/rag/domain"
)

// domainOf returns the domain of a collection: one of the options, of which one without a collection of its own is of the
// configured one, else the one that the collection remembers; nil if there is none, or it cannot be read, which a search says.
func (s *Server) domainOf(ctx context.Context, collection string) *domain.Domain {
	for _, d := range s.o.Domains {
		if d.Collection == collection || d.Collection == "" && collection == s.eng.Config().Collection {
			return d
		}
	}
	d, err := domain.Of(ctx, s.eng, collection)
	if err != nil {
		s.log.Warn("the domain of a collection cannot be read", "collection", collection, "err", err)
	}
	return d
}
