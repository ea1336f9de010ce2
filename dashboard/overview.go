package dashboard

import (
	"time"

	"github.com/seed-d8745b77/rag"
)

func (s *Server) overviewRoutes(on router) {
	on.view("/{$}", "overview", s.overview)
}

// overviewView is what the overview shows.
type overviewView struct {
	Collections []collectionRow `json:"collections"`
}

// collectionRow is a collection in the overview.
type collectionRow struct {
	Name      string    `json:"name"`
	Documents int       `json:"documents"`
	Chunks    int       `json:"chunks"`
	Images    int       `json:"images"`
	Updated   time.Time `json:"updated"`
}

func (s *Server) overview(r *request) (any, error) {
	infos, err := s.eng.Collections(r.Context())
	if err != nil {
		return nil, err
	}
	v := overviewView{Collections: []collectionRow{}}
	for _, info := range infos {
		v.Collections = append(v.Collections, rowOf(info))
	}
	return v, nil
}

func rowOf(info rag.CollectionInfo) collectionRow {
	return collectionRow{Name: info.Name, Documents: info.Documents, Chunks: info.Chunks, Images: info.Images, Updated: info.Updated}
}
