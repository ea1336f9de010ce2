package rag

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A group is written with one transaction per store. The bounds keep transactions small (bbolt slows down beyond
// about 1,000 records) and the work lost at a crash short. Each transaction waits for the disk: of short documents, 256
// a group instead of 64 were ingested a fifth faster.
const (
	groupChunks = 256
	removeDocs  = 64                    // documents that are removed in one transaction: each may have thousands of chunks
	groupLinger = 20 * time.Millisecond // how long a group waits for more: about what its flushes to disk cost
)

// groupDocs is the most documents of a group. Tests that need more commits than they have documents for change it.
var groupDocs = 256

// writeAll writes groups until the channel closes.
func (r *ingestRun) writeAll(ctx context.Context, groups <-chan []*prepared) error {
	write := r.writeGroup
	if r.held != nil {
		write = r.writeClaimed
	}
	for group := range groups {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := write(ctx, group); err != nil {
			return err
		}
	}
	return nil
}

// gather makes groups of prepared sources until there are no more. A group goes out when it is full or has lingered; until
// the one before is written it stays and grows.
func gather(made <-chan *prepared, groups chan<- []*prepared) {
	defer close(groups)
	for p := range made {
		group, chunks := []*prepared{p}, p.chunks()
		linger := time.NewTimer(groupLinger)
		more, out := made, chan<- []*prepared(nil)
		for group != nil {
			if more == nil || chunks >= groupChunks || len(group) >= groupDocs {
				more, out = nil, groups
			}
			select {
			case q, ok := <-more:
				if !ok {
					more = nil
					continue
				}
				group, chunks = append(group, q), chunks+q.chunks()
			case <-linger.C:
				out = groups
			case out <- group:
				group = nil
			}
		}
		linger.Stop()
	}
}

func (p *prepared) chunks() int {
	n := 0
	for i := range p.docs {
		n += len(p.docs[i].Chunks)
	}
	return n
}

// writeGroup indexes the new chunks, flips the documents in one catalog transaction and cleans the indexes.
func (r *ingestRun) writeGroup(ctx context.Context, group []*prepared) error {
	w, group, err := r.vectorsFor(ctx, group)
	if err != nil || len(group) == 0 {
		return err
	}
	start := r.now()
	removed := w.removed(group)
	if err := r.mark(ctx, w, group, removed); err != nil {
		return err
	}
	for _, p := range group {
		r.tell(SourceStep{URI: p.file.URI, Stage: StageUpsert})
	}
	if err := r.index(ctx, r.indexName(), w.changed, w.vectors); err != nil {
		return err
	}
	if err := r.commit(ctx, group); err != nil {
		return err
	}
	if err := r.unindex(ctx, r.indexName(), removed); err != nil {
		return err
	}
	r.timed(StageUpsert, start, len(w.changed), len(w.changed), filesOf(group)...)
	r.tally(group, w)
	r.noteGroup(group, len(removed))
	return nil
}

// mark says, before the first write to an index, what the group may leave in the indexes if it is not written to its end.
func (r *ingestRun) mark(ctx context.Context, w *groupWork, group []*prepared, removed []string) error {
	if r.held != nil {
		return r.held.touch(ctx, w, group)
	}
	return r.markDirty(ctx, w.pending, r.touched(w, removed))
}

// touched are the IDs that an index which cannot list its records may keep if the group is not written to its end.
func (r *ingestRun) touched(w *groupWork, removed []string) []string {
	if r.canList() {
		return nil
	}
	ids := slices.Clone(removed)
	for _, c := range w.changed {
		ids = append(ids, c.ID)
	}
	return ids
}

// indexName is the name under which the indexes know the collection.
func (r *ingestRun) indexName() string { return indexName(r.name, r.header.Generation) }

// groupWork is what a group asks of the indexes.
type groupWork struct {
	changed []*Chunk             // to be upserted
	vectors map[string][]float32 // by chunk ID, for those of changed that have one
	reused  int                  // chunks whose text is in the old version
	added   int                  // chunks whose text is not
	pending []string             // URIs of documents with a record that is replaced under the same ID
}

// vectorsFor finds which chunks must be indexed again and gets their vectors: those of the old version where the text
// is the same, new ones for the rest. Documents that cannot be embedded are noted and leave the group.
func (r *ingestRun) vectorsFor(ctx context.Context, group []*prepared) (*groupWork, []*prepared, error) {
	w, need := r.compare(group)
	if r.embedder == nil {
		return w, group, nil
	}
	start := r.now()
	reused, err := r.oldVectors(ctx, need)
	if err != nil {
		return nil, nil, err
	}
	w.vectors = reused
	var fresh []*Chunk
	for _, n := range need {
		if reused[n.chunk.ID] == nil {
			fresh = append(fresh, n.chunk)
		}
	}
	err = r.embedInto(ctx, fresh, w.vectors)
	if err == nil || ctx.Err() != nil {
		r.timed(StageEmbed, start, len(fresh), len(fresh), filesOf(group)...)
		return w, group, err
	}
	if r.held != nil && errors.Is(err, ErrUnavailable) { // it is no source's fault
		return nil, nil, &StageError{Stage: StageEmbed, Err: err}
	}
	if len(group) == 1 { // it is this source that cannot be embedded
		r.fail(StageEmbed, group[0].docs[0].Entry.URI, err)
		group[0].file.Error = err.Error()
		r.keepFile(group[0].file)
		return w, nil, nil
	}
	return r.oneByOne(ctx, group)
}

// oneByOne finds the sources that make a group's embedding fail, writes the others, and leaves nothing to do.
func (r *ingestRun) oneByOne(ctx context.Context, group []*prepared) (*groupWork, []*prepared, error) {
	for _, p := range group {
		if err := r.writeGroup(ctx, []*prepared{p}); err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, nil
}

// needed is a chunk that must be indexed, and the old chunk that has its vector, if any.
type needed struct {
	chunk *Chunk
	from  string
}

// compare tells, chunk by chunk, what the indexes have already.
func (r *ingestRun) compare(group []*prepared) (*groupWork, []needed) {
	w := &groupWork{vectors: map[string][]float32{}}
	var need []needed
	for _, p := range group {
		for i := range p.docs {
			d := &p.docs[i]
			byID, byInput := refsOf(d.old)
			replaced := false
			for j := range d.Chunks {
				c, ref := &d.Chunks[j], d.Entry.Chunks[j]
				old, same := byID[ref.ID]
				from, known := byInput[ref.Input]
				if known {
					w.reused++
				} else {
					w.added++
				}
				if same && old.Index == ref.Index && !r.req.Force {
					continue
				}
				replaced = replaced || same
				if r.req.Force {
					from = "" // forced: make it anew
				}
				w.changed = append(w.changed, c)
				need = append(need, needed{c, from})
			}
			if replaced {
				w.pending = append(w.pending, d.Entry.URI)
			}
		}
	}
	return w, need
}

// refsOf indexes the chunks of an old version by ID and by what was embedded.
func refsOf(old Entry) (byID map[string]ChunkRef, byInput map[string]string) {
	byID, byInput = make(map[string]ChunkRef, len(old.Chunks)), make(map[string]string, len(old.Chunks))
	for _, ref := range old.Chunks {
		byID[ref.ID] = ref
		byInput[ref.Input] = ref.ID
	}
	return byID, byInput
}

// oldVectors reads vectors that can be used again, by the ID of the new chunk.
func (r *ingestRun) oldVectors(ctx context.Context, need []needed) (map[string][]float32, error) {
	found := map[string][]float32{}
	reader, ok := r.vectors.(VectorReader)
	if !ok {
		return found, nil
	}
	var ids, from []string
	for _, n := range need {
		if n.from != "" {
			ids, from = append(ids, n.chunk.ID), append(from, n.from)
		}
	}
	if len(ids) == 0 {
		return found, nil
	}
	vecs, err := reader.Vectors(ctx, r.indexName(), from)
	if err != nil {
		return nil, err
	}
	for i, v := range vecs {
		if v != nil {
			found[ids[i]] = v
		}
	}
	return found, nil
}

// embedInto embeds chunks and adds their vectors by ID.
func (r *ingestRun) embedInto(ctx context.Context, chunks []*Chunk, into map[string][]float32) error {
	texts := make([]string, len(chunks))
	for i, c := range chunks {
		texts[i] = c.IndexText()
	}
	before := r.report.Embedded + r.report.Cached
	done, each := 0, r.embedSteps(chunks)
	got, err := r.embedAll(ctx, texts, r.req.Force, func(at []int) {
		done += len(at)
		r.progress(Progress{Stage: StageEmbed, Done: before + done, Total: before + len(texts)})
		each.done(chunks, at)
	})
	if err != nil {
		return err
	}
	long := r.overlong(texts)
	r.mu.Lock()
	r.report.Embedded += len(chunks) - got.cached
	r.report.Cached += got.cached
	r.report.Truncated += long
	r.stages.batches += got.batches
	r.mu.Unlock()
	for i, c := range chunks {
		into[c.ID] = got.vectors[i]
	}
	return nil
}

// commit flips the group's documents to their new versions.
func (r *ingestRun) commit(ctx context.Context, group []*prepared) error {
	var changes []Change
	now := r.now()
	for _, p := range group {
		for i := range p.docs {
			p.docs[i].Entry.Ingested = now
			changes = append(changes, Change{Put: &p.docs[i].Record})
		}
		for _, entry := range p.stale {
			changes = append(changes, Change{Remove: entry.URI})
		}
	}
	if r.held != nil {
		return r.held.commit(ctx, group, changes)
	}
	return r.catalog.Commit(ctx, r.name, changes)
}

// removed lists the chunk IDs that the group's old versions had and the new ones have not.
func (w *groupWork) removed(group []*prepared) []string {
	var gone []string
	for _, p := range group {
		live := map[string]bool{}
		for i := range p.docs {
			for _, ref := range p.docs[i].Entry.Chunks {
				live[ref.ID] = true
			}
		}
		for _, entry := range p.olds() {
			for _, ref := range entry.Chunks {
				if !live[ref.ID] {
					gone = append(gone, ref.ID)
					live[ref.ID] = true
				}
			}
		}
	}
	return gone
}

// olds are the ledger lines that a prepared source replaces.
func (p *prepared) olds() []Entry {
	olds := slices.Clone(p.stale)
	for i := range p.docs {
		if p.docs[i].old.URI == p.docs[i].Entry.URI {
			olds = append(olds, p.docs[i].old)
		}
	}
	return olds
}

// tally counts a written group in the report.
func (r *ingestRun) tally(group []*prepared, w *groupWork) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rep := &r.report
	before := 0
	for _, p := range group {
		switch p.action {
		case "add":
			rep.Added++
		case "update":
			rep.Updated++
		case "move":
			rep.Moved++
		}
		r.ended(p.file.URI, p.action, "")
		r.cameBack[p.file.URI] = true
		for _, entry := range p.olds() {
			before += len(entry.Chunks)
		}
		for i := range p.docs {
			d := &p.docs[i]
			switch d.Entry.State {
			case StateEmpty:
				rep.Empty++
			case StatePartial:
				rep.Partial++
			}
			for _, warning := range d.Entry.Warnings {
				rep.Warnings = append(rep.Warnings, SourceNote{d.Entry.URI, StageLoad, warning.String()})
			}
			r.images += len(d.Document.Images)
			r.pages += len(d.Document.Pages)
			r.bytes += d.Entry.Size
		}
	}
	rep.Chunks.New += w.added
	rep.Chunks.Reused += w.reused
	rep.Chunks.Removed += max(0, before-w.reused)
	done := rep.Added + rep.Updated + rep.Moved + rep.Unchanged + len(rep.Failed) + len(rep.Skipped)
	if r.req.Progress != nil {
		r.req.Progress(Progress{Stage: StageUpsert, URI: group[len(group)-1].docs[0].Entry.URI, Done: done, Total: len(r.sources)})
	}
}

// errVectors marks an embedder's reply that breaks its contract.
var errVectors = errors.New("the embedder broke its contract")

// checkVectors makes an embedder's reply usable: right count and length, finite, unit length.
func checkVectors(vecs [][]float32, texts, dims int) error {
	if len(vecs) != texts {
		return fmt.Errorf("%w: %d vectors for %d texts", errVectors, len(vecs), texts)
	}
	for _, v := range vecs {
		if len(v) != dims {
			return fmt.Errorf("%w: a vector of length %d, its model says %d: %w", errVectors, len(v), dims, ErrDimension)
		}
		if !normalize(v) {
			return fmt.Errorf("%w: a vector that is zero or not finite: %w", errVectors, ErrInvalid)
		}
	}
	return nil
}
