package rag

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// DeleteRequest says what to delete: documents by URI, or everything.
type DeleteRequest struct {
	Collection string   // "" means Config.Collection
	URIs       []string // documents to delete, those of a source with all that it gave; one that ends in "/" means every document below it
	Filter     Filter   // of those, or of all if there are no URIs, only documents whose own fields and validity match; zero: no condition. It means what it means to Search: the collection's domain reads it
	NoDomain   bool     // leave out what the collection's domain makes of Filter: its words, its fields, its own condition
	All        bool     // the whole collection with its header
	DryRun     bool     // find out what would be deleted, and delete nothing
}

// DeleteReport says what a delete did. Its JSON form is what `rag delete --json` prints.
type DeleteReport struct {
	Collection string         `json:"collection"`
	Existed    bool           `json:"existed"`        // there was something to delete
	Documents  int            `json:"documents"`      // deleted
	Chunks     int            `json:"removed_chunks"` // deleted with them
	Images     int            `json:"removed_images"` // pictures that no document of the collection has any more
	NotFound   []string       `json:"not_found"`      // URIs the collection does not have
	Failed     []IndexFailure `json:"failed"`         // indexes that did not delete everything; the next ingest or Repair does
	DryRun     bool           `json:"dry_run,omitempty"`
	Forgotten  int            `json:"forgotten"`      // sources named that a prune had removed, of which the collection remembered what had been given with them
	Plan       []string       `json:"plan,omitempty"` // of a dry run: URIs of the documents; nil for a whole collection. Pictures are not counted
}

// IndexFailure is an index that did not do all it was asked to.
type IndexFailure struct {
	Index  string `json:"index"`  // StageDense or StageSparse
	Chunks int    `json:"chunks"` // of which it may still have records
	Err    error  `json:"-"`
	Error  string `json:"error"` // text of Err
}

// Delete removes documents from the catalog, with their pictures, and from both indexes. It waits for an ingest of the
// collection that is under way, so nothing that was deleted comes back by it. After it returns they are
// never shown again, also if an index could not be cleaned: then Failed says so and the error matches ErrPartial. The
// collection's header keeps that there is something to clean, and the next ingest, Repair or Delete of the whole collection does
// it. Any other error ended it early: the report counts what is deleted.
func (e *Engine) Delete(ctx context.Context, req DeleteRequest) (_ *DeleteReport, err error) {
	defer e.hide(&err)
	name := e.collection(req.Collection)
	if err := req.validate(); err != nil {
		return nil, fmt.Errorf("delete: %w", err)
	}
	if e.snapshot && !req.DryRun {
		return nil, e.writable("delete")
	}
	if !req.DryRun {
		unlock, err := e.lock(ctx, name)
		if err != nil {
			return nil, err
		}
		defer unlock()
	}
	info, err := e.existing(ctx, name)
	if err != nil {
		return nil, err
	}
	report := &DeleteReport{Collection: name, NotFound: []string{}, Failed: []IndexFailure{}, DryRun: req.DryRun}
	if req.All && !e.IsView() { // all that a view sees is a part
		report.Existed = true
		if req.DryRun {
			report.Documents, report.Chunks = info.Documents, info.Chunks
			return report, nil
		}
		return report, e.deleteAll(ctx, name, info, report)
	}
	if !req.Filter.IsZero() { // it means what it means to a search
		q, err := e.ruled(Query{Filter: req.Filter, NoDomain: req.NoDomain}, name, &info.Header)
		if err != nil {
			return nil, fmt.Errorf("delete: %w", err)
		}
		req.Filter = q.Filter
	}
	entries, err := e.named(ctx, name, req, report)
	if err != nil {
		return report, err
	}
	if req.Filter.IsZero() && !e.IsView() {
		report.forget(&info.Header, req.URIs)
	}
	switch {
	case req.DryRun && len(entries) > 0:
		report.plan(entries)
		return report, nil
	case !req.DryRun && len(entries) == 0 && report.Forgotten > 0:
		return report, e.catalog.Commit(ctx, name, []Change{{Header: &info.Header}})
	case len(entries) == 0:
		return report, nil
	}
	return report, e.deleteEntries(ctx, name, info, entries, report)
}

// forget takes out of the header what it remembers of sources that are gone.
func (r *DeleteReport) forget(h *Header, uris []string) {
	known := h.forget(uris)
	r.Forgotten, r.Existed = len(known), r.Existed || len(known) > 0
	r.NotFound = slices.DeleteFunc(r.NotFound, func(uri string) bool { return slices.Contains(known, uri) })
}

// plan says what would be deleted.
func (r *DeleteReport) plan(entries []Entry) {
	r.Documents, r.Plan = len(entries), make([]string, len(entries))
	for i, entry := range entries {
		r.Plan[i] = entry.URI
		r.Chunks += len(entry.Chunks)
	}
}

// deleteEntries removes documents and counts in the report what went.
func (e *Engine) deleteEntries(ctx context.Context, name string, info CollectionInfo, entries []Entry, report *DeleteReport) error {
	info.Header.forget(urisOf(entries)) // a worker that brought one back has left it there
	h := info.Header
	h.begin(RunDelete)
	if err := e.catalog.Commit(ctx, name, []Change{{Header: &h}}); err != nil {
		return err
	}
	removed, failed, err := e.removeEntries(ctx, name, &h, entries)
	for _, entry := range entries[:removed] {
		report.Documents++
		report.Chunks += len(entry.Chunks)
	}
	report.Failed = append(report.Failed, failed...)
	if err != nil {
		return err
	}
	now, _, err := e.info(ctx, name)
	if err != nil {
		return err
	}
	report.Images = info.Images - now.Images
	if len(failed) > 0 {
		return partialDelete(failed)
	}
	if info.Header.Dirty { // an earlier run left more to clean
		return nil
	}
	return e.catalog.Commit(ctx, name, []Change{{Header: &info.Header}})
}

// partialDelete is the error for what is gone from the catalog and not from every index.
func partialDelete(failed []IndexFailure) error {
	errs := make([]error, len(failed))
	for i, f := range failed {
		errs[i] = f.Err
	}
	return fmt.Errorf("%w: what was deleted is not shown any more, and an index could not be cleaned: %w", ErrPartial, &StageError{Stage: StageClean, Err: errors.Join(errs...)})
}

// deleteAll removes a collection: from the catalog first, since it decides what is shown. If an index cannot be cleared, an
// empty collection that is marked as unfinished stays, so that this is known.
func (e *Engine) deleteAll(ctx context.Context, name string, info CollectionInfo, report *DeleteReport) error {
	if e.canClear() != nil { // record by record, then, as long as the catalog knows them
		entries, err := e.entriesOf(ctx, name, "")
		if err != nil {
			return err
		}
		if err := e.deleteEntries(ctx, name, info, entries, report); err != nil {
			return err
		}
		if err := e.unindex(ctx, indexName(name, info.Header.Generation), info.Header.Touched); err != nil { // left by an earlier run
			return fmt.Errorf("%w: %w", ErrPartial, err)
		}
		return e.catalog.Drop(ctx, name)
	}
	if err := e.catalog.Drop(ctx, name); err != nil {
		return err
	}
	report.Documents, report.Chunks, report.Images = info.Documents, info.Chunks, info.Images
	for _, index := range e.indexes() {
		if err := index.clear(ctx, generations(name, info.Header.Generation)); err != nil {
			e.hide(&err)
			report.Failed = append(report.Failed, IndexFailure{index.stage, info.Chunks, err, err.Error()})
		}
	}
	if len(report.Failed) == 0 {
		return nil
	}
	info.Header.begin(RunDelete)
	return errors.Join(partialDelete(report.Failed), e.catalog.Commit(ctx, name, []Change{{Header: &info.Header}}))
}

// validate reports a request that names nothing, or contradicts itself.
func (r *DeleteRequest) validate() error {
	switch {
	case r.All && (len(r.URIs) > 0 || !r.Filter.IsZero()):
		return fmt.Errorf("the whole collection and a part of it are named: %w", ErrInvalid)
	case !r.All && len(r.URIs) == 0 && r.Filter.IsZero():
		return fmt.Errorf("no documents named: %w", ErrInvalid)
	}
	return r.Filter.Validate()
}

// named finds the documents to delete, each once, and counts them in the report.
func (e *Engine) named(ctx context.Context, name string, req DeleteRequest, report *DeleteReport) ([]Entry, error) {
	uris := req.URIs
	if len(uris) == 0 {
		uris = []string{""} // all that match
	}
	var found []Entry
	seen := map[string]bool{}
	for _, uri := range uris {
		entries, err := e.entriesOf(ctx, name, uri)
		if err != nil {
			return nil, err
		}
		if len(entries) == 0 && uri != "" {
			report.NotFound = append(report.NotFound, uri)
		}
		for _, entry := range entries {
			if seen[entry.URI] || !req.Filter.IsZero() && !req.Filter.Match(entry.fields(), entry.Validity) {
				continue
			}
			seen[entry.URI] = true
			found = append(found, entry)
		}
	}
	report.Existed = len(found) > 0
	return found, nil
}

// fields are those of the document's chunks that it has itself.
func (e *Entry) fields() Meta {
	c := Chunk{URI: e.URI, DocID: e.DocID, Title: e.Title, Language: e.Language, Meta: e.Meta}
	return c.Fields()
}

// entriesOf returns the document of a URI with the further ones of its source, or those below one that ends in a slash;
// "" has all below it.
func (e *Engine) entriesOf(ctx context.Context, name, uri string) (all []Entry, err error) {
	if uri != "" && !strings.HasSuffix(uri, "/") {
		first, err := e.catalog.Entry(ctx, name, uri)
		if err == nil {
			all = append(all, first)
		} else if !errors.Is(err, ErrNotFound) { // it may be deleted already, and the further ones not
			return nil, err
		}
		further, err := e.furtherEntries(ctx, name, uri)
		return append(all, further...), err
	}
	for entry, err := range e.catalog.Entries(ctx, name, uri, "") {
		if err != nil {
			return nil, err
		}
		all = append(all, entry)
	}
	return all, nil
}

// furtherEntries returns the documents that a source gave after its first, by URI. Any of them may be deleted already.
func (e *Engine) furtherEntries(ctx context.Context, name, source string) (further []Entry, err error) {
	for entry, err := range e.catalog.Entries(ctx, name, source+"#", "") {
		if err != nil {
			return nil, err
		}
		if SourceURI(entry.URI) == source {
			further = append(further, entry)
		}
	}
	return further, nil
}
