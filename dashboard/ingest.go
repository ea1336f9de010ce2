package dashboard

import (
	"context"
	"slices"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/jobs"
)

func (s *Server) ingestRoutes(on router) {
	on.view("/ingest", "ingest", s.ingestPage)
	on.change("/ingest/uploads", "ingest_upload", maxUploadBytes, s.takeUpload)
	on.view("/ingest/uploads/{batch}", "ingest_upload", s.uploadPage)
	on.change("/ingest/uploads/{batch}", "ingest_upload", maxUploadBytes, s.takeUpload)
	on.change("/ingest/uploads/{batch}/discard", "ingest_upload", 0, s.discardUpload)
	on.change("/ingest/start", "ingest_manifest", 0, s.startIngest)
	on.view("/ingest/jobs/{job}", "ingest_job", s.jobPage)
	on.view("/ingest/jobs/{job}/changes", "ingest_job", s.jobChanges)
	on.handle("GET /ingest/jobs/{job}/events", s.jobEvents)
	on.change("/ingest/jobs/{job}/cancel", "ingest_job", 0, s.cancelJob)
	on.change("/ingest/delete", "ingest_delete", 0, s.deleteDocuments)
}

// lend gives jobs the engine.
func (s *Server) lend(context.Context) (*rag.Engine, func(), error) { return s.eng, func() {}, nil }

// ingestView is the ingestion manager.
type ingestView struct {
	Collection  string   `json:"collection"`
	Collections []string `json:"collections"`
	Uploads     bool     `json:"uploads"`   // files can be uploaded
	Kept        bool     `json:"kept"`      // files were uploaded into the collection before
	Roots       []string `json:"roots"`     // folders of which a path may be given
	Domains     []string `json:"domains"`   // subjects that may be given to files
	Domain      string   `json:"domain"`    // of the collection, "" if it has none
	MaxBytes    int64    `json:"max_bytes"` // of a file
	MaxFiles    int      `json:"max_files"` // uploaded at once
	ReadOnly    bool     `json:"read_only"`
	Jobs        []jobRow `json:"jobs"` // newest first
}

// jobRow is a job in the list.
type jobRow struct {
	ID      string        `json:"job_id"`
	Title   string        `json:"title"`
	Target  string        `json:"collection"`
	DryRun  bool          `json:"dry_run"`
	State   jobs.State    `json:"state"`
	Kind    string        `json:"-"` // of its badge
	Counts  jobs.Counts   `json:"counts"`
	Ended   int           `json:"-"` // items
	Actions []actionCount `json:"-"`
	Created time.Time     `json:"created"`
	Took    float64       `json:"elapsed_ms"`
	Error   string        `json:"error,omitempty"`
	URL     string        `json:"-"`
	detail  *ingestRequest
}

// actionCount says of how many files something was done.
type actionCount struct {
	Action string
	N      int
}

// actions is the order in which counts are shown.
var actions = []string{"add", "update", "move", "delete", "gone", "unchanged", rag.ActionPart, rag.ActionSkipped, rag.ActionFailed}

func (s *Server) ingestPage(r *request) (any, error) {
	v := ingestView{
		Collection: r.collection, Uploads: s.o.UploadDir != "", Kept: s.uploads.has(r.collection), Roots: s.o.Roots, Domains: []string{}, ReadOnly: s.o.ReadOnly,
		MaxBytes: s.eng.Config().Ingest.MaxSourceBytes, MaxFiles: maxUploadFiles, Jobs: []jobRow{},
	}
	if v.Roots == nil {
		v.Roots = []string{}
	}
	for _, d := range s.o.Domains {
		v.Domains = append(v.Domains, d.Name)
	}
	if d := s.domainOf(r.Context(), r.collection); d != nil {
		v.Domain = d.Name
	}
	var err error
	if v.Collections, err = s.collectionNames(r); err != nil {
		return nil, err
	}
	for _, j := range s.jobs.List("", jobs.KindIngest) {
		v.Jobs = append(v.Jobs, s.jobRow(j.Status(), j.Detail()))
	}
	return v, nil
}

// collectionNames lists the collections that something can be ingested into: those that exist, and the one asked for.
func (s *Server) collectionNames(r *request) ([]string, error) {
	infos, err := s.eng.Collections(r.Context())
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, info := range infos {
		names = append(names, info.Name)
	}
	if !slices.Contains(names, r.collection) {
		names = append(names, r.collection)
		slices.Sort(names)
	}
	return names, nil
}

func (s *Server) jobRow(st jobs.Status, detail any) jobRow {
	row := jobRow{
		ID: st.ID, Title: st.Title, Target: st.Target, State: st.State, Kind: stateKind(st.State), Counts: st.Counts,
		Ended: st.Counts.Done + st.Counts.Failed, Created: st.Created, Error: st.Error,
		Took: float64(st.Elapsed(s.now()).Microseconds()) / 1000, URL: s.jobURL(st.ID, st.Target),
	}
	if d, ok := detail.(*ingestRequest); ok {
		row.detail, row.DryRun = d, d.DryRun
	}
	for _, a := range actions {
		if n := st.Counts.Outcomes[a]; n > 0 {
			row.Actions = append(row.Actions, actionCount{a, n})
		}
	}
	return row
}

// stateKind is the badge of a job's state.
func stateKind(s jobs.State) string {
	switch s {
	case jobs.Done:
		return "ok"
	case jobs.Failed:
		return "bad"
	case jobs.Cancelled:
		return "off"
	}
	return "info"
}
