package rag

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// CopyRequest says what to copy into the engine. Only From must be given.
type CopyRequest struct {
	From       *Engine         // where the collection is; another store than the one written to
	Collection string          // on both sides, since it is a part of every ID; "" means Config.Collection of the engine written to
	OtherWords bool            // index words with the analyzer of this engine where From has another one: rankings by words will differ
	Prune      bool            // remove documents that From does not have
	Progress   func(Progress)  // StageUpsert: documents looked at, of all; must return soon
	Compare    *CompareRequest // how the copy is compared with From at the end; nil: as [Engine.Compare] does it by default
}

// CopyReport says what a copy did. Its JSON form is what `rag copy --json` prints.
type CopyReport struct {
	Collection string         `json:"collection"`
	Copied     int            `json:"copied"`          // documents
	Unchanged  int            `json:"unchanged"`       // documents that were there already, from an earlier run
	Removed    int            `json:"removed"`         // documents that From does not have
	Chunks     int            `json:"chunks"`          // of the documents copied
	Images     int            `json:"images"`          // pictures in the documents copied
	Vectors    int            `json:"vectors"`         // that were taken over
	ElapsedMS  int64          `json:"elapsed_ms"`      // without the comparison
	Check      *CompareReport `json:"check"`           // the two stores afterwards
	Words      string         `json:"words"`           // fingerprint of the word index that was built
	WordsFrom  string         `json:"words_of_source"` // that of From
}

// Copy takes a collection over from another engine, with documents, passages, pictures, metadata and vectors: nothing is
// read, split or embedded again, and words are indexed anew. Documents that are there already as they are in From are
// passed over, so a copy that was cut short is finished by the next. In the end the two are compared, see
// [Engine.Compare]; a difference is in the report and no error.
//
// Searches go on on both sides, and see each document whole, old or new. A document that an ingest into From changes
// meanwhile is copied in one of its versions, or fails the comparison; then copy again.
//
// Errors: ErrFingerprint where the engines have different embedders, or analyzers without OtherWords; ErrUnsupported where
// vectors cannot be read back; ErrInvalid where both are the same store.
func (e *Engine) Copy(ctx context.Context, req CopyRequest) (_ *CopyReport, err error) {
	defer e.hide(&err)
	if err := e.writable("copy"); err != nil {
		return nil, err
	}
	name := e.collection(req.Collection)
	if err := copyable(e, req.From); err != nil {
		return nil, fmt.Errorf("copy: %w", err)
	}
	unlock, err := e.lock(ctx, name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	defer req.From.readers.enter(name)() // no reindex takes the vectors away
	from, err := req.From.existing(ctx, name)
	if err != nil {
		return nil, err
	}
	c := &copying{to: e, from: req.From, req: req, name: name, info: from, report: CopyReport{Collection: name, WordsFrom: from.Header.Sparse}}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("copy: %w", err)
	}
	start := e.now()
	if err := c.do(ctx); err != nil {
		return &c.report, err
	}
	c.report.ElapsedMS = e.now().Sub(start).Milliseconds()
	how := CompareRequest{}
	if req.Compare != nil {
		how = *req.Compare
	}
	how.With, how.Collection = req.From, name
	c.report.Check, err = e.Compare(ctx, how)
	return &c.report, err
}

// copyable reports what keeps two engines from being copied or compared.
func copyable(to, from *Engine) error {
	switch {
	case from == nil:
		return fmt.Errorf("no other engine is given: %w", ErrInvalid)
	case from.turns == to.turns:
		return fmt.Errorf("both are the same data: %w", ErrInvalid)
	}
	return from.whole("copy")
}

// copying is the state of one Copy call.
type copying struct {
	to, from *Engine
	req      CopyRequest
	name     string
	info     CollectionInfo // of from
	header   Header         // of to
	report   CopyReport
	known    map[string]bool // URIs of from
}

// check refuses what would give a collection that cannot be searched.
func (c *copying) check() error {
	mine, theirs := c.to.newHeader(), c.info.Header
	switch {
	case theirs.Embedder != mine.Embedder:
		return fmt.Errorf("the collection was built with the embedder %q, and where it is to go is %q: give both the same embedder, or use `rag export` and `rag import`, which embeds anew: %w",
			orNone(theirs.Embedder), orNone(mine.Embedder), ErrFingerprint)
	case theirs.Sparse != mine.Sparse && !c.req.OtherWords:
		return fmt.Errorf("the collection was built with the word index %q, and where it is to go is %q: give both the same, or allow another one (--other-words), with which words rank otherwise: %w",
			theirs.Sparse, mine.Sparse, ErrFingerprint)
	}
	if _, ok := c.from.vectors.(VectorReader); !ok && theirs.Embedder != "" {
		return fmt.Errorf("the vector store copied from cannot give its vectors back: use `rag export` and `rag import`, which embeds anew: %w", ErrUnsupported)
	}
	return nil
}

// do is the spine of a copy.
func (c *copying) do(ctx context.Context) error {
	if err := c.open(ctx); err != nil {
		return err
	}
	if err := c.copyAll(ctx); err != nil {
		return err
	}
	if c.req.Prune {
		if err := c.prune(ctx); err != nil {
			return err
		}
	}
	c.header.settle()
	return c.to.catalog.Commit(ctx, c.name, []Change{{Header: &c.header}})
}

// open makes the collection, or cleans up what a run that was cut short left in it, and marks it as being written.
func (c *copying) open(ctx context.Context) error {
	h, exists, err := c.to.readHeader(ctx, c.name)
	switch {
	case err != nil:
		return err
	case !exists:
		h = c.to.newHeader()
		if err := checkCollection(c.name); err != nil {
			return err
		}
		if err := c.to.dropIndexes(ctx, []string{c.name}); err != nil { // left of a collection of this name whose deletion was cut short
			return &StageError{Stage: StageClean, Err: err}
		}
	default:
		if err := c.to.checkHeader(c.name, h, true, true); err != nil {
			return err
		}
		if there, here := h.Domain, c.info.Header.Domain; there != nil && (here == nil || here.Name != there.Name) && !c.req.Prune {
			return fmt.Errorf("copy: where it is to go, the collection follows the domain %q, by which documents that only it has are searched, and here %s: delete it there, or let it become as it is here (--prune): %w",
				there.Name, domainSaid(here), ErrInvalid)
		}
		if h.Dirty {
			if _, err := c.to.reconcile(ctx, c.name, h); err != nil {
				return err
			}
			h.settle()
		}
	}
	here := c.info.Header
	h.Calibration, h.Domain, h.Manifests, h.Away = here.Calibration, here.Domain, here.Manifests, here.Away
	h.begin(RunCopy)
	c.header, c.report.Words = h, h.Sparse
	return c.to.catalog.Commit(ctx, c.name, []Change{{Header: &h}})
}

// domainSaid names the domain of a collection in a message.
func domainSaid(d *DomainRecord) string {
	if d == nil {
		return "none"
	}
	return fmt.Sprintf("the domain %q", d.Name)
}

// copyAll copies what differs, in groups of one transaction per store.
func (c *copying) copyAll(ctx context.Context) error {
	c.known = map[string]bool{}
	var group []Entry
	chunks, done := 0, 0
	flush := func() error {
		if err := c.copyGroup(ctx, group); err != nil {
			return err
		}
		done += len(group)
		group, chunks = group[:0], 0
		c.tell(done)
		return nil
	}
	for entry, err := range c.from.catalog.Entries(ctx, c.name, "", "") {
		if err != nil {
			return err
		}
		c.known[entry.URI] = true
		group, chunks = append(group, entry), chunks+len(entry.Chunks)
		if chunks < groupChunks && len(group) < groupDocs {
			continue
		}
		if err := flush(); err != nil {
			return err
		}
	}
	return flush()
}

func (c *copying) tell(done int) {
	if c.req.Progress != nil {
		c.req.Progress(Progress{Stage: StageUpsert, Done: done, Total: max(done, c.info.Documents)})
	}
}

// copyGroup copies those of a group that are not there yet.
func (c *copying) copyGroup(ctx context.Context, group []Entry) error {
	var puts []Change
	var chunks []*Chunk
	var gone, pending []string
	for i := range group {
		old, err := c.to.catalog.Entry(ctx, c.name, group[i].URI)
		if err == nil && sameEntry(&old, &group[i]) {
			c.report.Unchanged++
			continue
		}
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		rec, err := c.from.readRecord(ctx, c.name, group[i].URI)
		if err != nil {
			return err
		}
		if rec == nil {
			continue // deleted since it was listed
		}
		left, replaced := replacedBy(&old, &rec.Entry)
		gone = append(gone, left...)
		if replaced {
			pending = append(pending, rec.Entry.URI)
		}
		for j := range rec.Chunks {
			chunks = append(chunks, &rec.Chunks[j])
		}
		puts = append(puts, Change{Put: rec})
	}
	if len(puts) == 0 {
		return nil
	}
	if err := c.write(ctx, puts, chunks, gone, pending); err != nil {
		return err
	}
	for _, p := range puts {
		c.report.Copied++
		c.report.Chunks += len(p.Put.Chunks)
		c.report.Images += len(p.Put.Document.Images)
	}
	return nil
}

// write indexes chunks, flips their documents in one transaction, and removes what the old versions had.
func (c *copying) write(ctx context.Context, puts []Change, chunks []*Chunk, gone, pending []string) error {
	vectors, err := c.vectors(ctx, chunks)
	if err != nil {
		return err
	}
	h := c.header // with what the next run must know if this one is cut short
	h.Pending = pending
	if !c.to.canList() {
		h.Touched = slices.Clone(gone)
		for _, k := range chunks {
			h.Touched = append(h.Touched, k.ID)
		}
	}
	if len(h.Pending)+len(h.Touched) > 0 {
		if err := c.to.catalog.Commit(ctx, c.name, []Change{{Header: &h}}); err != nil {
			return &StageError{Stage: StageCommit, Err: err}
		}
	}
	at := indexName(c.name, c.header.Generation)
	if err := c.to.index(ctx, at, chunks, vectors); err != nil {
		return err
	}
	if err := c.to.catalog.Commit(ctx, c.name, puts); err != nil {
		return &StageError{Stage: StageCommit, Err: err}
	}
	return c.to.unindex(ctx, at, gone)
}

// vectors reads the vectors of chunks. One that is missing is not made anew: the source is not what it should be.
func (c *copying) vectors(ctx context.Context, chunks []*Chunk) (map[string][]float32, error) {
	out := map[string][]float32{}
	if c.info.Header.Embedder == "" {
		return out, nil
	}
	ids := make([]string, len(chunks))
	for i, k := range chunks {
		ids[i] = k.ID
	}
	got, err := c.from.vectors.(VectorReader).Vectors(ctx, indexName(c.name, c.info.Header.Generation), ids)
	if err != nil {
		return nil, &StageError{Stage: StageEmbed, Err: fmt.Errorf("read vectors: %w", err)}
	}
	for i, v := range got {
		if v == nil {
			return nil, &StageError{Stage: StageEmbed, URI: chunks[i].URI, Err: fmt.Errorf("passage %s has no vector: put the source right with `rag verify --repair`, and copy again: %w", ids[i], ErrNotFound)}
		}
		out[ids[i]] = v
		c.report.Vectors++
	}
	return out, nil
}

// prune removes the documents that the source does not have.
func (c *copying) prune(ctx context.Context) error {
	var extra []Entry
	for entry, err := range c.to.catalog.Entries(ctx, c.name, "", "") {
		if err != nil {
			return err
		}
		if !c.known[entry.URI] {
			extra = append(extra, entry)
		}
	}
	removed, failed, err := c.to.removeEntries(ctx, c.name, &c.header, extra)
	c.report.Removed = removed
	if err == nil && len(failed) > 0 {
		err = partialDelete(failed)
	}
	return err
}

// recordTries is how often a document is read that changes while it is read.
const recordTries = 3

// readRecord reads a document whole; nil if there is none. Ledger, text and passages are read one after the other, and an
// ingest may flip the document between them: then it is read again.
func (e *Engine) readRecord(ctx context.Context, collection, uri string) (*Record, error) {
	for range recordTries {
		before, err := e.catalog.Entry(ctx, collection, uri)
		if errors.Is(err, ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		doc, err := e.catalog.Document(ctx, collection, uri)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		ids := make([]string, len(before.Chunks))
		for i, ref := range before.Chunks {
			ids[i] = ref.ID
		}
		chunks, err := e.catalog.Chunks(ctx, collection, ids)
		if err != nil {
			return nil, err
		}
		after, err := e.catalog.Entry(ctx, collection, uri)
		if err == nil && sameEntry(&before, &after) && len(chunks) == len(ids) {
			return &Record{Entry: before, Document: doc, Chunks: chunks}, nil
		}
	}
	return nil, fmt.Errorf("document %q changes while it is read, or is damaged (`rag verify` tells): copy again: %w", uri, ErrUnavailable)
}

// sameEntry reports whether two ledger lines are of the same version of a document.
func sameEntry(a, b *Entry) bool {
	return a.URI == b.URI && a.Digest == b.Digest && a.MetaDigest == b.MetaDigest && a.Pipeline == b.Pipeline && a.Ingested.Equal(b.Ingested) &&
		slices.Equal(a.Chunks, b.Chunks)
}

// replacedBy lists the chunks of an old version that a new one has not; replaced tells whether it has one under the same ID.
func replacedBy(old, now *Entry) (gone []string, replaced bool) {
	live := map[string]bool{}
	for _, ref := range now.Chunks {
		live[ref.ID] = true
	}
	for _, ref := range old.Chunks { // IDs of one document differ
		if live[ref.ID] {
			replaced = true
		} else {
			gone = append(gone, ref.ID)
		}
	}
	return gone, replaced
}
