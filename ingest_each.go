package rag

// SourceStep tells where one source of an ingest is. While it is under way Stage says in which stage; when it has ended
// Action says how.
type SourceStep struct {
	URI    string
	Stage  string // StageCheck: listed, its turn will come; StageLoad; StageSplit; StageEmbed; StageUpsert
	Done   int    // StageEmbed: passages that have a vector
	Total  int    // StageEmbed: passages that need one
	Action string // "" while under way; as in PlanItem, or one of the Action constants
	Reason string // ActionSkipped, ActionFailed, and of a dry run: why
}

// How a source ends that is neither written nor unchanged.
const (
	ActionSkipped = "skipped" // no loader reads it, or it is none of the folder's own files
	ActionFailed  = "failed"
	ActionPart    = "part" // it was skipped, and then found to be a part of another, such as a picture that a page shows
)

// tell tells of a source.
func (r *ingestRun) tell(s SourceStep) {
	if r.req.EachSource == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.req.EachSource(s)
}

// ended tells how a source ended; r.mu is held, or no worker runs.
func (r *ingestRun) ended(uri, action, reason string) {
	r.held.done(uri)
	if r.req.EachSource != nil {
		r.req.EachSource(SourceStep{URI: uri, Action: action, Reason: reason})
	}
}

// embedSteps tells how many passages of each source have a vector. texts[i] of the embedding is chunks[i].
type embedSteps struct {
	run    *ingestRun
	order  []string // sources, in the order of their chunks
	counts map[string]*SourceStep
}

func (r *ingestRun) embedSteps(chunks []*Chunk) *embedSteps {
	e := &embedSteps{run: r, counts: map[string]*SourceStep{}}
	if r.req.EachSource == nil {
		return e
	}
	for _, c := range chunks {
		uri := SourceURI(c.URI)
		if e.counts[uri] == nil {
			e.counts[uri] = &SourceStep{URI: uri, Stage: StageEmbed}
			e.order = append(e.order, uri)
		}
		e.counts[uri].Total++
	}
	for _, uri := range e.order {
		r.tell(*e.counts[uri])
	}
	return e
}

// done counts the chunks at these places.
func (e *embedSteps) done(chunks []*Chunk, at []int) {
	if e.run.req.EachSource == nil {
		return
	}
	touched := map[string]bool{}
	for _, i := range at {
		uri := SourceURI(chunks[i].URI)
		e.counts[uri].Done++
		touched[uri] = true
	}
	for _, uri := range e.order {
		if touched[uri] {
			e.run.tell(*e.counts[uri])
		}
	}
}
