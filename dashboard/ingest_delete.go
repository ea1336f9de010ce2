package dashboard

import (
	"errors"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/jobs"
)

// deleteView is what a delete would take, or has taken.
type deleteView struct {
	Collection string            `json:"collection"`
	What       string            `json:"what"`             // "uris", "filter" or "all"
	URIs       string            `json:"-"`                // as given, one a line
	Filter     string            `json:"filter,omitempty"` // as given
	Done       bool              `json:"done"`             // it was deleted; false: this is what would be
	Report     *rag.DeleteReport `json:"report"`
	Listed     []planRow         `json:"-"` // of the report's plan
	Hidden     int               `json:"-"`
	Partial    string            `json:"partial,omitempty"` // what could not be cleaned, if the report is not complete
}

func (v *deleteView) title(r *request) string {
	if v.Done {
		return r.T("ingest_delete.done")
	}
	return r.T("ingest_delete.title")
}

// shownDeletes is how many documents a page lists before they are deleted.
const shownDeletes = 100

// readDelete reads the form.
func readDelete(r *request) (*deleteView, rag.DeleteRequest, error) {
	v := &deleteView{Collection: r.PostFormValue("collection"), What: r.PostFormValue("what"), URIs: r.PostFormValue("uris"), Filter: strings.TrimSpace(r.PostFormValue("filter"))}
	if v.Collection == "" {
		v.Collection = r.collection
	}
	req := rag.DeleteRequest{Collection: v.Collection}
	switch v.What {
	case "uris":
		for line := range strings.Lines(v.URIs) {
			if line = strings.Trim(line, "\r\n"); line != "" { // blanks may belong to a name
				req.URIs = append(req.URIs, uriOf(line))
			}
		}
	case "filter":
		f, err := rag.ParseFilter(v.Filter)
		if err != nil {
			return nil, req, err
		}
		if f.IsZero() {
			return nil, req, invalid(r.T("ingest_error.filter"))
		}
		req.Filter = f
	case "all":
		req.All = true
	default:
		return nil, req, invalid(r.T("ingest_error.what"))
	}
	return v, req, nil
}

// uriOf takes a path of this machine for the file it is; what has a scheme is a URI.
func uriOf(name string) string {
	if strings.HasPrefix(name, "/") {
		return rag.DocumentURI(name)
	}
	return name
}

// deleteDocuments tells what a delete would take, and with step=delete deletes it. A whole collection wants its name typed.
func (s *Server) deleteDocuments(r *request) (any, error) {
	v, req, err := readDelete(r)
	if err != nil {
		return nil, err
	}
	if s.busy(v.Collection) { // it would wait for the ingest, and the page for it
		return nil, invalid(r.T("ingest_error.busy", v.Collection))
	}
	dry := req
	dry.DryRun = true
	if v.Report, err = s.eng.Delete(r.Context(), dry); err != nil {
		return nil, err
	}
	plan := v.Report.Plan
	if r.PostFormValue("step") != "delete" {
		v.list(s, plan)
		return v, nil
	}
	if v.What == "all" && r.PostFormValue("confirm") != v.Collection {
		return nil, invalid(r.T("ingest_error.confirm", v.Collection))
	}
	v.Done = true
	report, err := s.eng.Delete(r.Context(), req)
	if errors.Is(err, rag.ErrPartial) && report != nil {
		v.Partial = err.Error()
	} else if err != nil {
		return nil, err
	}
	v.Report = report
	v.list(s, plan)
	if v.What == "all" {
		return v, s.uploads.removeAll(v.Collection)
	}
	return v, s.uploads.remove(v.Collection, plan)
}

// list shows the documents of a plan.
func (v *deleteView) list(s *Server, plan []string) {
	for _, uri := range plan[:min(len(plan), shownDeletes)] {
		v.Listed = append(v.Listed, planRow{PlanItem: rag.PlanItem{URI: uri}, URL: s.documentURL(v.Collection, uri)})
	}
	v.Hidden = max(0, len(plan)-shownDeletes)
}

// busy reports whether an ingest of the collection is under way here.
func (s *Server) busy(collection string) bool {
	return slices.ContainsFunc(s.jobs.List("", jobs.KindIngest), func(j *jobs.Job) bool {
		st := j.Status()
		return !st.State.Ended() && st.Target == collection
	})
}
