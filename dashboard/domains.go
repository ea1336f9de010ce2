package dashboard

import "github.com/seed-d8745b77/rag/domain"

// domainOf returns the domain of a collection, or nil. One without a collection of its own is of the configured one.
func (s *Server) domainOf(collection string) *domain.Domain {
	for _, d := range s.o.Domains {
		if d.Collection == collection || d.Collection == "" && collection == s.eng.Config().Collection {
			return d
		}
	}
	return nil
}
