package dashboard

import (
	"sync"
	"time"

	"github.com/seed-d8745b77/rag"
)

// statusCache remembers how many documents of a collection are in force. Counting them reads the whole ledger, so it is done
// when somebody asks, and again when the collection has changed or an hour has passed.
type statusCache struct {
	mu   sync.Mutex
	kept map[string]countedStatus // by collection
}

type countedStatus struct {
	of     collectionState
	counts rag.StatusCounts
}

// collectionState tells two states of a collection apart, and the hour that validity is counted for.
type collectionState struct {
	documents, chunks, generation int
	updated, created              int64
	hour                          int64
}

func stateOf(info rag.CollectionInfo, at time.Time) collectionState {
	return collectionState{info.Documents, info.Chunks, info.Header.Generation, info.Updated.UnixNano(), info.Header.Created.UnixNano(), at.Truncate(time.Hour).Unix()}
}

// known returns what was counted of a collection as it is, or nil.
func (c *statusCache) known(info rag.CollectionInfo, at time.Time) *rag.StatusCounts {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept, ok := c.kept[info.Name]
	if !ok || kept.of != stateOf(info, at) {
		return nil
	}
	return &kept.counts
}

func (c *statusCache) keep(info rag.CollectionInfo, at time.Time, counts rag.StatusCounts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = map[string]countedStatus{}
	}
	c.kept[info.Name] = countedStatus{stateOf(info, at), counts}
}

// validityView is how many documents of a collection are in force.
type validityView struct {
	Collection string           `json:"collection"`
	AsOf       time.Time        `json:"as_of"`
	Counts     rag.StatusCounts `json:"counts"`
}

// validity counts the documents of a collection that are in force now, or at ?as_of=.
func (s *Server) validity(r *request) (any, error) {
	v := validityView{Collection: r.collection}
	var err error
	if v.AsOf, err = r.asOf(); err != nil {
		return nil, err
	}
	now := v.AsOf.IsZero() || r.param("as_of") == ""
	if now {
		v.AsOf = s.now()
	}
	info, err := s.info(r)
	if err != nil {
		return nil, err
	}
	if known := s.counts.known(info, v.AsOf); now && known != nil {
		v.Counts = *known
		return v, nil
	}
	if v.Counts, err = s.eng.Statuses(r.Context(), r.collection, v.AsOf); err != nil {
		return nil, err
	}
	if now {
		s.counts.keep(info, v.AsOf, v.Counts)
	}
	return v, nil
}

// info returns the collection that a request is about, or ErrNotFound.
func (s *Server) info(r *request) (rag.CollectionInfo, error) {
	infos, err := s.eng.Collections(r.Context())
	if err != nil {
		return rag.CollectionInfo{}, err
	}
	for _, info := range infos {
		if info.Name == r.collection {
			return info, nil
		}
	}
	return rag.CollectionInfo{}, missing(r.T("error.no_collection", r.collection))
}

// healthChecks holds the last check of each collection.
type healthChecks struct {
	mu   sync.Mutex
	last map[string]healthCheck
}

// healthCheck is a comparison of a collection's indexes with its catalog, which measures the recall of its vectors too.
type healthCheck struct {
	Running bool              `json:"running"`
	At      time.Time         `json:"at"` // when it began
	Report  *rag.VerifyReport `json:"report,omitempty"`
	Error   string            `json:"error,omitempty"`
}

// of returns the last check of a collection, or nil.
func (h *healthChecks) of(collection string) *healthCheck {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c, ok := h.last[collection]; ok {
		return &c
	}
	return nil
}

// begin notes a check, unless one is running.
func (h *healthChecks) begin(collection string, at time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last[collection].Running {
		return false
	}
	if h.last == nil {
		h.last = map[string]healthCheck{}
	}
	h.last[collection] = healthCheck{Running: true, At: at}
	return true
}

func (h *healthChecks) end(collection string, c healthCheck) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last[collection] = c
}

// startCheck begins a check of a collection, which reads all of it and may take a while: the overview shows what comes of it.
func (s *Server) startCheck(r *request) (any, error) {
	r.collection = r.PostFormValue("collection")
	if _, err := s.info(r); err != nil {
		return nil, err
	}
	name, at := r.collection, s.now()
	if s.checks.begin(name, at) {
		s.start(func() {
			c := healthCheck{At: at}
			report, err := s.eng.Verify(s.ended, name)
			if c.Report = report; err != nil {
				c.Report, c.Error = nil, err.Error()
			}
			s.checks.end(name, c)
		})
	}
	return redirect(s.link("/", "collection", s.named(name)) + "#collections"), nil
}
