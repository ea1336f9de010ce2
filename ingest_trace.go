package rag

import (
	"cmp"
	"slices"
	"time"
)

// ingestOrder are the stages of an ingest, in order.
var ingestOrder = []string{StageLoad, StageSplit, StageTransform, StageEmbed, StageUpsert}

// What a trace lists of an ingest.
const (
	maxPaths  = 20 // scopes or URIs asked for
	slowFiles = 20 // of the sources read, those that took most work
	lostFiles = 50 // of those that failed, the first
	warnings  = 50
)

// ingestStages is what an ingest notes of its stages for the trace.
type ingestStages struct {
	spans      map[string]*Span
	parsers    map[string]int // sources read, by loader
	chunkBytes int            // of all passages
	contexts   int            // passages that are indexed with a context
	captions   int            // captions of pictures in passages
	batches    int            // of passages, that the embedder was given
	groups     int            // transactions of the catalog
	removed    int            // passages that were taken out of the indexes
}

// sinceStart is the offset of an instant in the trace, in milliseconds.
func (r *ingestRun) sinceStart(at time.Time) float64 { return milliseconds(at.Sub(r.started)) }

// timed adds the time since start, and what went in and out, to a stage, and to the files it worked on.
func (r *ingestRun) timed(stage string, start time.Time, in, out int, files ...*FileTrace) {
	now := r.now()
	from, to, spent := r.sinceStart(start), r.sinceStart(now), milliseconds(now.Sub(start))
	r.mu.Lock()
	defer r.mu.Unlock()
	span := r.stages.spans[stage]
	if span == nil {
		span = &Span{}
		r.stages.spans[stage] = span
	}
	span.In, span.Out, span.ElapsedMS = span.In+in, span.Out+out, span.ElapsedMS+spent
	if from < span.StartMS { // another worker began earlier
		span.StartMS = from
	}
	span.ran(from, to)
	for _, f := range files {
		f.ran(stage, from, to, spent, len(files))
	}
}

// ran adds a stage's work on this file, and on others at the same time.
func (f *FileTrace) ran(stage string, from, to, spent float64, files int) {
	if last := len(f.Stages) - 1; files == 1 {
		for i := last; i >= 0; i-- { // of another document of the file
			if s := &f.Stages[i]; s.Stage == stage {
				s.EndMS, s.MS = to, s.MS+spent
				return
			}
		}
		files = 0
	}
	f.Stages = append(f.Stages, FileSpan{stage, from, to, spent, files})
}

// work is the time that the file took, of stages that worked on several its share.
func (f *FileTrace) work() (ms float64) {
	for _, s := range f.Stages {
		ms += s.MS / float64(max(s.Shared, 1))
	}
	return ms
}

// fileTraces are the sources that the trace will list.
type fileTraces struct{ slow, lost []FileTrace }

// keepFile lists a source that was read, or failed, if it is among those that a trace lists.
func (r *ingestRun) keepFile(f *FileTrace) {
	f.EndMS = r.sinceStart(r.now())
	if f.Stages == nil {
		f.Stages = []FileSpan{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.Error != "" {
		if len(r.files.lost) < lostFiles {
			r.files.lost = append(r.files.lost, *f)
		}
		return
	}
	r.files.slow = append(r.files.slow, *f)
	if len(r.files.slow) > slowFiles {
		fastest := slices.MinFunc(r.files.slow, func(a, b FileTrace) int {
			return cmp.Or(cmp.Compare(a.work(), b.work()), cmp.Compare(b.URI, a.URI))
		})
		r.files.slow = slices.DeleteFunc(r.files.slow, func(f FileTrace) bool { return f.URI == fastest.URI })
	}
}

// list returns them in the order in which they began.
func (t *fileTraces) list() []FileTrace {
	all := append(slices.Clone(t.lost), t.slow...)
	slices.SortFunc(all, func(a, b FileTrace) int {
		return cmp.Or(cmp.Compare(a.StartMS, b.StartMS), cmp.Compare(a.URI, b.URI))
	})
	return all
}

func filesOf(group []*prepared) []*FileTrace {
	files := make([]*FileTrace, len(group))
	for i, p := range group {
		files[i] = p.file
	}
	return files
}

func (r *ingestRun) parsedBy(loader string) {
	if loader == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stages.parsers[loader]++
}

// measure counts what the passages of a document have become.
func (r *ingestRun) measure(chunks []Chunk) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range chunks {
		r.stages.chunkBytes += len(chunks[i].Text)
		r.stages.captions += len(chunks[i].Captions)
		if chunks[i].Context != "" {
			r.stages.contexts++
		}
	}
}

// noteGroup notes a group that was written.
func (r *ingestRun) noteGroup(group []*prepared, removed int) {
	r.mu.Lock()
	r.stages.groups++
	r.stages.removed += removed
	r.mu.Unlock()
	for _, p := range group {
		r.keepFile(p.file)
	}
}

// trace of an ingest. Times are summed over workers, so they can exceed the whole.
func (r *ingestRun) trace(err error) *Trace {
	rep := &r.report
	t := &Trace{
		ID: r.id, Type: TraceIngest, Timestamp: r.started, Collection: r.name, TotalMS: r.sinceStart(r.now()),
		Counts: &Counts{
			Added: rep.Added, Updated: rep.Updated, Moved: rep.Moved, Unchanged: rep.Unchanged, Deleted: rep.Deleted,
			Failed: len(rep.Failed), Chunks: rep.Chunks.New + rep.Chunks.Reused, Images: r.images,
		},
		Files: r.files.list(), Warnings: slices.Clone(rep.Warnings[:min(len(rep.Warnings), warnings)]),
	}
	for _, set := range r.req.Sources {
		if set.Scope != "" && len(t.SourcePath) < maxPaths {
			t.SourcePath = append(t.SourcePath, set.Scope)
		}
	}
	for _, src := range r.sources {
		if len(t.SourcePath) < maxPaths && r.scopeOf(src.URI) == "" {
			t.SourcePath = append(t.SourcePath, src.URI)
		}
	}
	for _, f := range rep.Failed { // what could not even be listed is no source: the trace names it all the same
		if len(t.SourcePath) < maxPaths && r.scopeOf(f.URI) == "" && !slices.Contains(t.SourcePath, f.URI) {
			t.SourcePath = append(t.SourcePath, f.URI)
		}
	}
	details := r.details()
	for _, stage := range ingestOrder {
		span := Span{Stage: stage}
		if ran := r.stages.spans[stage]; ran != nil {
			span = *ran
		}
		span.Stage, span.Method, span.Detail = stage, r.methods[stage], details[stage]
		if stage == StageEmbed && r.embedder == nil {
			span.Status = SpanOff
		}
		t.Stages = append(t.Stages, span)
	}
	t.fail(err)
	return t
}

// details of the stages in the trace.
func (r *ingestRun) details() map[string]map[string]any {
	rep, s := &r.report, &r.stages
	chunks := 0
	if span := s.spans[StageTransform]; span != nil {
		chunks = span.Out
	}
	details := map[string]map[string]any{
		StageLoad:      {"size": r.bytes, "pages": r.pages, "images": r.images, "skipped": len(rep.Skipped), "failed": len(rep.Failed), "parsers": s.parsers},
		StageSplit:     {"chunks": chunks, "average_bytes": s.chunkBytes / max(chunks, 1)},
		StageTransform: {"contexts": s.contexts, "captions": s.captions},
		StageUpsert:    {"transactions": s.groups, "removed": s.removed},
	}
	if len(rep.Steps) > 0 {
		details[StageTransform]["steps"] = rep.Steps
	}
	if r.embedder != nil {
		m := r.embedder.Model()
		details[StageEmbed] = map[string]any{
			"model": m.Name, "dimension": m.Dims, "batches": s.batches, "embedded": rep.Embedded, "cached": rep.Cached,
			"reused": rep.Chunks.Reused, "truncated_inputs": rep.Truncated,
		}
	}
	return details
}
