package rag

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// IngestRequest says what to ingest. Only Sources must be given.
type IngestRequest struct {
	Collection string           // "" means Config.Collection
	Sources    []Sources        // in order; a URI that comes twice is read once
	Force      bool             // read again also what has not changed
	Prune      bool             // remove documents under a scope whose source is gone
	DryRun     bool             // find out what would be done, and do nothing
	Domain     Domain           // whose rules the documents follow, and the collection from now on; nil: that of the collection
	NoDomain   bool             // the collection has no domain any more, whoever uses it
	Follow     string           // where documents of an export come into a collection with another domain: FollowCollection or FollowExport; "": ErrInvalid
	Forget     bool             // of sources that are given without Title and Meta, drop what earlier ingests were given
	Progress   func(Progress)   // called from one goroutine at a time; must return soon
	EachSource func(SourceStep) // likewise, for every source at every step
}

// Whose domain holds from now on where an export and the collection that it goes into have different ones. The documents keep
// the metadata that they came with until their files are ingested.
const (
	FollowCollection = "collection"
	FollowExport     = "export"
)

// Progress is a step of an ingest.
type Progress struct {
	Stage string // StageLoad: a source was read; StageEmbed: passages were embedded; StageUpsert: documents were committed
	URI   string // the source, where there is one
	Done  int    // sources (StageEmbed: passages) done so far
	Total int    // of how many; for StageEmbed those known so far
}

// IngestReport says what an ingest did. Its JSON form is what `rag ingest --json` prints.
type IngestReport struct {
	Collection string          `json:"collection"`
	Added      int             `json:"added"`
	Updated    int             `json:"updated"`
	Moved      int             `json:"moved"`
	Unchanged  int             `json:"unchanged"`
	Deleted    int             `json:"deleted"`
	Gone       int             `json:"gone"`             // documents whose source is gone from a scope, and that stay since Prune was not asked for
	Empty      int             `json:"empty"`            // of the documents read: those without text
	Partial    int             `json:"partial"`          // of the documents read: those of which parts were lost
	Kept       int             `json:"metadata_kept"`    // sources that nothing was given with, and for which what an earlier ingest was given stands
	Domain     *DomainUse      `json:"domain,omitempty"` // nil: there is none
	Failed     []SourceFailure `json:"failed"`
	Skipped    []SourceNote    `json:"skipped"`         // files in a folder that no loader reads, and that are no part of another
	Warnings   []SourceNote    `json:"warnings"`        // what was lost or guessed in the documents read
	Steps      []StepCount     `json:"steps,omitempty"` // transformers that had something to count, by name
	Chunks     ChunkCounts     `json:"chunks"`
	Embedded   int             `json:"embedded"`         // passages that were embedded
	Cached     int             `json:"cached"`           // passages whose vector came from the embedding cache
	Truncated  int             `json:"truncated_inputs"` // of both: longer than the model's window, so their end was not seen
	ElapsedMS  int64           `json:"elapsed_ms"`
	TraceID    string          `json:"trace_id"` // "" of a dry run, which leaves no trace
	DryRun     bool            `json:"dry_run,omitempty"`
	Plan       []PlanItem      `json:"plan,omitempty"` // what a dry run would do with each source
}

// SourceFailure is a source that could not be ingested. An older version of it stays as it was.
type SourceFailure struct {
	URI   string `json:"uri"`
	Stage string `json:"stage"`
	Err   error  `json:"-"`
	Error string `json:"error"` // text of Err
}

// SourceNote is a remark on a source that did not fail.
type SourceNote struct {
	URI     string `json:"uri"`
	Stage   string `json:"stage"`
	Message string `json:"message"`
}

// ChunkCounts compares the chunks of the documents read with what was there before.
type ChunkCounts struct {
	New     int `json:"new"`     // not in the old version
	Reused  int `json:"reused"`  // taken over, with their vectors
	Removed int `json:"removed"` // of old versions and deleted documents
}

// PlanItem is what a dry run would do with one source.
type PlanItem struct {
	URI    string `json:"uri"`
	Action string `json:"action"` // "add", "update", "move", "delete", "unchanged", or "gone": to be deleted, if the request said prune
	// Reason begins with "new", "content changed", "picture changed" (": " and its name beside the source), "metadata changed" (": " and names of fields), "pipeline changed" (": "
	// and each part that did, "loader pdf/1 → pdf/2"), "forced", "was " and a URI, or "gone"; "" for unchanged.
	Reason string `json:"reason"`
}

// partialError matches ErrPartial and each source's cause.
type partialError struct{ causes []error }

func (e *partialError) Error() string {
	return fmt.Sprintf("%v: %d failed, the first: %v", ErrPartial, len(e.causes), e.causes[0])
}

func (e *partialError) Unwrap() []error { return append([]error{ErrPartial}, e.causes...) }

// partial is the error of a call in which these sources failed; nil if none did.
func partial(failed []SourceFailure) error {
	if len(failed) == 0 {
		return nil
	}
	causes := make([]error, len(failed))
	for i, f := range failed {
		causes[i] = &StageError{Stage: f.Stage, URI: f.URI, Err: f.Err}
	}
	return &partialError{causes}
}

// Ingest brings the collection up to date with the sources: new and changed ones are read, split, embedded and
// indexed, unchanged ones are skipped, renamed ones are moved without embedding them again.
//
// A source that fails is reported and the run goes on; then the error matches ErrPartial and the report is complete,
// also where no source could be read.
// Any other error ended the run early: every document has either its whole old or its whole new version, and the next
// run finishes the work. ErrFingerprint: the collection was built with another embedder or analyzer.
func (e *Engine) Ingest(ctx context.Context, req IngestRequest) (_ *IngestReport, err error) {
	defer e.hide(&err)
	if len(req.Sources) == 0 {
		return nil, fmt.Errorf("ingest: no sources given: %w", ErrInvalid)
	}
	if err := e.writable("ingest"); err != nil && !req.DryRun {
		return nil, err
	}
	name := e.collection(req.Collection)
	unlock, err := e.lock(ctx, name)
	if err != nil {
		return nil, err
	}
	defer unlock()

	run := newIngestRun(e, name, req)
	err = run.do(ctx)
	report := run.finish()
	if !req.DryRun { // a trace tells what was done
		e.record(ctx, run.trace(err))
	}
	if err != nil {
		return report, err
	}
	return report, partial(report.Failed)
}

// do is the spine of an ingest.
func (r *ingestRun) do(ctx context.Context) error {
	if err := r.openCollection(ctx); err != nil { // compare the header, finish a run that was cut short
		return err
	}
	if err := r.list(ctx); err != nil { // all sources; documents whose source is gone
		return err
	}
	if err := r.readAndWrite(ctx, r.listed); err != nil { // check, load, split, transform ∥ embed, upsert, commit, clean
		return err
	}
	if err := r.prune(ctx); err != nil {
		return err
	}
	r.forgetAway()
	return r.closeCollection(ctx)
}

// ingestRun is the state of one Ingest call.
type ingestRun struct {
	*Engine
	name    string
	req     IngestRequest
	id      string
	started time.Time

	steps *runSteps
	held  *claims // nil: the sources are no claims of a worker

	header   Header
	exists   bool          // the collection has a header on disk
	domain   Domain        // whose rules the documents follow; nil: none
	newRules bool          // the header on disk does not remember yet which domain and manifests there are, and what is away
	was      *DomainRecord // that the collection had before the run
	took     bool          // the header on disk was written

	sources []Source        // to be read, each URI once
	known   map[string]bool // every URI that was listed, readable or not
	scopes  []listedScope

	ledger     sync.Mutex                // is held while the ledger is read
	ledgerRead bool                      // or there was none
	told       map[[32]byte][]AwaySource // by content: documents that something was given with, as they were before the run

	mu        sync.Mutex                 // guards what follows
	gone      map[[32]byte][]*goneSource // by content: sources under a scope that are gone, by URI
	elsewhere map[[32]byte][]string      // by content: other sources that were not listed, by URI
	cameBack  map[string]bool            // URIs of sources that were away
	used      map[string]bool            // URIs of files that lie beside a source and are parts of it
	report    IngestReport
	stages    ingestStages
	files     fileTraces
	read      int // sources read
	images    int
	pages     int
	bytes     int64
}

func newIngestRun(e *Engine, name string, req IngestRequest) *ingestRun {
	return &ingestRun{
		Engine: e, name: name, req: req, id: newTraceID(), started: e.now(),
		steps: newRunSteps(), used: map[string]bool{}, known: map[string]bool{},
		gone: map[[32]byte][]*goneSource{}, elsewhere: map[[32]byte][]string{}, told: map[[32]byte][]AwaySource{}, cameBack: map[string]bool{},
		stages: ingestStages{spans: map[string]*Span{}, parsers: map[string]int{}},
		report: IngestReport{Collection: name, Failed: []SourceFailure{}, Skipped: []SourceNote{}, Warnings: []SourceNote{}, DryRun: req.DryRun},
	}
}

// fail notes a source that could not be ingested.
func (r *ingestRun) fail(stage, uri string, err error) {
	r.hide(&err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Failed = append(r.report.Failed, SourceFailure{URI: uri, Stage: stage, Err: err, Error: err.Error()})
	r.held.failed(uri, &StageError{Stage: stage, Err: err})
	r.ended(uri, ActionFailed, err.Error())
}

// progress tells the caller, one call at a time.
func (r *ingestRun) progress(p Progress) {
	if r.req.Progress == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.req.Progress(p)
}

// isPart reports whether a source that no loader reads is a part of another, and tells so.
func (r *ingestRun) isPart(uri string) bool {
	if r.used[uri] {
		r.ended(uri, ActionPart, "")
	}
	return r.used[uri]
}

// finish completes the report.
func (r *ingestRun) finish() *IngestReport {
	rep := &r.report
	rep.Skipped = slices.DeleteFunc(rep.Skipped, func(n SourceNote) bool { return r.isPart(n.URI) })
	rep.Failed = slices.DeleteFunc(rep.Failed, func(f SourceFailure) bool { return errors.Is(f.Err, errNoLoader) && r.isPart(f.URI) })
	sortNotes(rep)
	r.keptDomain()
	rep.Steps = r.steps.list()
	for i := range rep.Steps {
		rep.Steps[i].Reason = r.HideSecrets(rep.Steps[i].Reason)
	}
	rep.ElapsedMS = r.now().Sub(r.started).Milliseconds()
	if !r.req.DryRun {
		rep.TraceID = r.id
	}
	return rep
}

// look reads the header, or makes one for a collection that is not there yet.
func (r *ingestRun) look(ctx context.Context) (err error) {
	if r.header, r.exists, err = r.readHeader(ctx, r.name); err != nil || r.exists {
		return err
	}
	r.header, r.ledgerRead = r.newHeader(), true
	return nil
}

// openCollection reads the header, refuses a collection of another pipeline, and repairs after a run that was cut short.
func (r *ingestRun) openCollection(ctx context.Context) error {
	if err := r.look(ctx); err != nil {
		return err
	}
	if !r.exists {
		return r.chooseDomain()
	}
	if err := r.checkHeader(r.name, r.header, true, true); err != nil {
		return err
	}
	if r.header.Dirty && !r.req.DryRun {
		if _, err := r.reconcile(ctx, r.name, r.header); err != nil {
			return err
		}
		r.header.settle() // as reconcile left it on disk
	}
	return r.chooseDomain()
}

// markDirty says in the header, before the first write to an index, that a run is under way, and which documents'
// records in the indexes may be replaced before the catalog is; touched is as in [Header].
func (r *ingestRun) markDirty(ctx context.Context, pending, touched []string) error {
	if r.header.Dirty && r.exists && !r.newRules && len(pending)+len(touched)+len(r.header.Pending)+len(r.header.Touched) == 0 {
		return nil
	}
	if !r.exists { // records may be left of a collection of this name whose deletion was cut short
		if err := checkCollection(r.name); err != nil {
			return err
		}
		if err := r.dropIndexes(ctx, []string{r.name}); err != nil {
			return err
		}
	}
	r.header.begin(RunIngest)
	r.header.Pending, r.header.Touched, r.exists, r.newRules, r.took = pending, touched, true, false, true
	return r.catalog.Commit(ctx, r.name, []Change{{Header: &r.header}})
}

// closeCollection clears the mark: the indexes hold what the catalog says. Where nothing was to be written, it has the
// collection remember another domain; a run that could read nothing changes nothing.
func (r *ingestRun) closeCollection(ctx context.Context) error {
	if r.req.DryRun || !r.header.Dirty && !(r.newRules && r.report.Unchanged > 0) {
		return nil
	}
	r.header.settle()
	r.took = true
	return r.catalog.Commit(ctx, r.name, []Change{{Header: &r.header}})
}

// prune removes the documents whose source is gone and did not turn up under another name.
func (r *ingestRun) prune(ctx context.Context) error {
	left := r.goneEntries()
	action := "delete"
	if !r.req.Prune {
		action = "gone"
	}
	if r.req.DryRun {
		for _, entry := range left {
			r.plan(entry.URI, action, "gone")
		}
	}
	if !r.req.Prune {
		r.report.Gone = len(left)
		return nil
	}
	r.putAway(left)
	if len(left) > 0 && !r.req.DryRun {
		if err := r.markDirty(ctx, nil, nil); err != nil {
			return err
		}
		removed, failed, err := r.removeEntries(ctx, r.name, &r.header, left)
		if err == nil && len(failed) > 0 {
			err = partialDelete(failed)
		}
		if err != nil {
			r.countDeleted(left[:removed])
			return err
		}
	}
	r.countDeleted(left)
	return nil
}

func (r *ingestRun) countDeleted(entries []Entry) {
	r.report.Deleted = len(entries)
	for _, entry := range entries {
		r.report.Chunks.Removed += len(entry.Chunks)
	}
}

func sha256Sum(b []byte) [32]byte { return sha256.Sum256(b) }

// listed gives the workers the sources that were listed.
func (r *ingestRun) listed(ctx context.Context, next chan<- Source) error {
	for _, src := range r.sources {
		select {
		case next <- src:
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// readAndWrite runs the workers that read sources, as feed gives them, beside the writer that takes what they made.
func (r *ingestRun) readAndWrite(ctx context.Context, feed func(ctx context.Context, next chan<- Source) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan Source)
	made := make(chan *prepared, r.config.Ingest.Workers)
	groups := make(chan []*prepared)

	var workers sync.WaitGroup
	for range r.config.Ingest.Workers {
		workers.Go(func() {
			for src := range next {
				r.prepareOne(ctx, src, made, cancel)
			}
		})
	}
	go func() {
		defer close(next)
		if err := feed(ctx, next); err != nil {
			cancel(err)
		}
	}()
	go func() { workers.Wait(); close(made) }()
	go gather(made, groups)

	err := r.writeAll(ctx, groups)
	if err != nil {
		cancel(err)
	}
	for range groups { // let the workers end
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}

// prepareOne reads one source and hands it to the writer. A failure of the source is noted; one of the catalog ends the run.
func (r *ingestRun) prepareOne(ctx context.Context, src Source, made chan<- *prepared, cancel context.CancelCauseFunc) {
	r.tell(SourceStep{URI: src.URI, Stage: StageLoad})
	file := &FileTrace{URI: src.URI, StartMS: r.sinceStart(r.now())}
	p, err := r.prepare(ctx, src, file)
	var stage *StageError
	switch {
	case ctx.Err() != nil:
		return
	case errors.As(err, &stage):
		r.noteFailure(src, stage, file)
	case err != nil:
		cancel(err)
		return
	}
	r.mu.Lock()
	r.read++
	done := r.read
	r.mu.Unlock()
	r.progress(Progress{Stage: StageLoad, URI: src.URI, Done: done, Total: len(r.sources)})
	if p != nil {
		select {
		case made <- p:
		case <-ctx.Done():
		}
	}
}
