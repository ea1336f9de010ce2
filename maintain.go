package rag

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
)

// Collections lists the collections by name.
func (e *Engine) Collections(ctx context.Context) (_ []CollectionInfo, err error) {
	defer e.hide(&err)
	all, err := e.catalog.Collections(ctx)
	if e.IsView() {
		for i := range all {
			all[i].Header.Pending, all[i].Header.Touched, all[i].Header.Away = nil, nil, nil // they name documents
		}
	}
	return all, err
}

// Documents yields the ledger of a collection by URI. "" means the configured collection; an unknown one is ErrNotFound.
func (e *Engine) Documents(ctx context.Context, collection string) iter.Seq2[Entry, error] {
	return e.DocumentsAfter(ctx, collection, "", "")
}

// DocumentsAfter yields the part of the ledger whose URIs begin with prefix ("": any) and come behind after ("": from the first
// on), by URI: whoever shows it page by page asks for what comes behind the last URI of a page, and breaks where the next is
// full. It reads little more than it yields. "" means the configured collection; an unknown one is ErrNotFound.
func (e *Engine) DocumentsAfter(ctx context.Context, collection, prefix, after string) iter.Seq2[Entry, error] {
	name := e.collection(collection)
	return func(yield func(Entry, error) bool) {
		if _, err := e.existing(ctx, name); err != nil {
			yield(Entry{}, err)
			return
		}
		for entry, err := range e.catalog.Entries(ctx, name, prefix, after) {
			if !yield(entry, err) || err != nil {
				return
			}
		}
	}
}

// Entry returns a document's line in the ledger, or ErrNotFound.
func (e *Engine) Entry(ctx context.Context, collection, uri string) (Entry, error) {
	return e.catalog.Entry(ctx, e.collection(collection), uri)
}

// Document returns a stored document with its text and pictures, or ErrNotFound.
func (e *Engine) Document(ctx context.Context, collection, uri string) (Document, error) {
	return e.catalog.Document(ctx, e.collection(collection), uri)
}

// Chunks yields the chunks that match the filter, by URI and place in the document.
func (e *Engine) Chunks(ctx context.Context, collection string, f Filter) iter.Seq2[Chunk, error] {
	return e.catalog.Scan(ctx, e.collection(collection), f)
}

// Chunk returns one live chunk, or ErrNotFound.
func (e *Engine) Chunk(ctx context.Context, collection, id string) (Chunk, error) {
	name := e.collection(collection)
	got, err := e.catalog.Chunks(ctx, name, []string{id})
	if err != nil {
		return Chunk{}, err
	}
	if len(got) == 0 {
		return Chunk{}, fmt.Errorf("no chunk %q in collection %q: %w", id, name, ErrNotFound)
	}
	return got[0], nil
}

// DocumentChunks returns chunks of a document in their order: at most n (0: all) from the 0-based place from on. "" means the
// configured collection; a document that is not there is ErrNotFound.
func (e *Engine) DocumentChunks(ctx context.Context, collection, uri string, from, n int) ([]Chunk, error) {
	entry, err := e.Entry(ctx, collection, uri)
	if err != nil {
		return nil, err
	}
	refs := entry.Chunks[min(max(from, 0), len(entry.Chunks)):]
	if n > 0 {
		refs = refs[:min(n, len(refs))]
	}
	ids := make([]string, len(refs))
	for i, ref := range refs {
		ids[i] = ref.ID
	}
	return e.catalog.Chunks(ctx, e.collection(collection), ids)
}

// Load reads one source with the loader an ingest would choose, and keeps nothing. It returns the loader's name too.
func (e *Engine) Load(ctx context.Context, src Source) ([]Document, string, error) {
	return e.loaders.Load(ctx, src)
}

// VerifyReport compares the indexes of a collection with its catalog. Its JSON form is what `rag verify --json` prints.
type VerifyReport struct {
	Collection string      `json:"collection"`
	OK         bool        `json:"ok"` // no problems, no orphans, nothing missing, no run was cut short, nothing wrong with the vectors' index
	Documents  int         `json:"documents"`
	Chunks     int         `json:"chunks"`
	Vectors    int         `json:"vectors"`    // records in the vector store
	Postings   int         `json:"postings"`   // records in the sparse index
	Orphans    []IndexGap  `json:"orphans"`    // in an index, not in the catalog
	Missing    []IndexGap  `json:"missing"`    // in the catalog, not in an index
	Stale      []PlanItem  `json:"stale"`      // documents that another pipeline made than this engine's, or under other rules than the domain's: all of them can be found, and the next ingest makes them anew
	Unfit      []UnfitMeta `json:"unfit"`      // what was given with documents and the domain does not allow
	Unchecked  []string    `json:"unchecked"`  // indexes that cannot list their records: only what a run left in them is known
	Problems   []Problem   `json:"problems"`   // what is damaged or was built with other settings; if there is any, orphans and missing are not looked for
	Unfinished bool        `json:"unfinished"` // a run was cut short; the next ingest or a repair finishes it
	Run        string      `json:"run"`        // which: one of the Run constants; "" if none was, or it is not known
	Recall     *Recall     `json:"recall"`     // of the vectors' index; nil if it is exact, or there is none
	Repaired   bool        `json:"repaired"`   // what is listed was put right: After tells whether all of it

	After *VerifyReport `json:"after,omitempty"` // of a repair: what is found once it is done
}

// IndexGap is a chunk that one side has and the other has not.
type IndexGap struct {
	Index   string `json:"index"` // StageDense or StageSparse
	ChunkID string `json:"chunk_id"`
}

// Verify reads back all that is held of the collection and compares its indexes with its catalog, ID by ID. What is
// wrong is in the report, not an error; the error says what kept it from looking: damage by which the collection cannot
// be listed any more is ErrInvalid.
func (e *Engine) Verify(ctx context.Context, collection string) (_ *VerifyReport, err error) {
	defer e.hide(&err)
	if err := e.whole("verify"); err != nil {
		return nil, err
	}
	name := e.collection(collection)
	info, unlock, err := e.turn(ctx, name) // a run under way would look like a difference
	if err != nil {
		return nil, err
	}
	defer unlock()
	return e.verify(ctx, info)
}

// verify is Verify for who has the collection's turn.
func (e *Engine) verify(ctx context.Context, info CollectionInfo) (*VerifyReport, error) {
	rep := newVerifyReport(info)
	if err := e.check(ctx, rep, info.Header); err != nil || len(rep.Problems) > 0 {
		return rep, err
	}
	rep, err := e.compareIndexes(ctx, info.Name, info.Header)
	if err != nil {
		return nil, err
	}
	if err := e.checkMetadata(ctx, rep, info.Header); err != nil {
		return nil, err
	}
	return rep, e.measureRecall(ctx, rep, info.Header)
}

// Repair verifies the collection and puts right what differs: orphans are deleted, missing records made from the
// catalog, a damaged index, or a faulty one of vectors, built anew. The report lists what was found, and where that was put
// right its After what is found now. What is damaged in the catalog stays: the report says what to do.
func (e *Engine) Repair(ctx context.Context, collection string) (_ *VerifyReport, err error) {
	defer e.hide(&err)
	if err := e.writable("repair"); err != nil {
		return nil, err
	}
	name := e.collection(collection)
	info, unlock, err := e.turn(ctx, name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := e.checkHeader(name, info.Header, true, true); err != nil {
		return nil, err
	}
	rep, err := e.repair(ctx, info)
	if err != nil || !rep.Repaired {
		return rep, err
	}
	if info, _, err = e.info(ctx, name); err != nil {
		return rep, err
	}
	rep.After, err = e.verify(ctx, info)
	return rep, err
}

// repair puts right what differs. The caller has the collection's turn to write.
func (e *Engine) repair(ctx context.Context, info CollectionInfo) (*VerifyReport, error) {
	found := newVerifyReport(info)
	if err := e.check(ctx, found, info.Header); err != nil || !found.Mendable() {
		return found, err
	}
	if len(found.Problems) > 0 {
		e.log.Info("building damaged indexes anew", "collection", info.Name, "problems", len(found.Problems))
		_, err := e.rebuild(ctx, info, false, nil)
		found.Repaired = err == nil
		return found, err
	}
	rep, err := e.reconcile(ctx, info.Name, info.Header)
	if err != nil {
		return nil, err
	}
	if err := e.measureRecall(ctx, rep, info.Header); err != nil {
		return nil, err
	}
	return rep, e.rebuildVectors(ctx, rep, info.Header)
}

// newVerifyReport is the report of a collection of which only the list of collections was read.
func newVerifyReport(info CollectionInfo) *VerifyReport {
	return &VerifyReport{
		Collection: info.Name, Documents: info.Documents, Chunks: info.Chunks, Unfinished: info.Header.Dirty, Run: info.Header.Run,
		Orphans: []IndexGap{}, Missing: []IndexGap{}, Stale: []PlanItem{}, Unfit: []UnfitMeta{}, Problems: []Problem{}, Unchecked: []string{},
	}
}

// compareIndexes fills a report.
func (e *Engine) compareIndexes(ctx context.Context, name string, h Header) (*VerifyReport, error) {
	rep := newVerifyReport(CollectionInfo{Name: name, Header: h})
	live := map[string]bool{}
	var order []string
	for entry, err := range e.catalog.Entries(ctx, name, "", "") {
		if err != nil {
			return nil, err
		}
		rep.Documents++
		if reason := e.stalePipeline(entry); reason != "" {
			rep.Stale = append(rep.Stale, PlanItem{URI: entry.URI, Action: "update", Reason: reason})
		}
		for _, ref := range entry.Chunks {
			live[ref.ID] = true
			order = append(order, ref.ID)
		}
	}
	rep.Chunks = len(order)
	for _, index := range e.indexes() {
		if index.stage == StageDense && h.Embedder == "" {
			continue
		}
		lister, ok := index.deleter.(IDLister)
		if !ok {
			rep.Unchecked = append(rep.Unchecked, index.stage)
			for _, id := range h.Touched {
				if !live[id] {
					rep.Orphans = append(rep.Orphans, IndexGap{index.stage, id})
				}
			}
			continue
		}
		count := &rep.Vectors
		if index.stage == StageSparse {
			count = &rep.Postings
		}
		has := make(map[string]bool, len(live))
		for id, err := range lister.IDs(ctx, indexName(name, h.Generation)) {
			if err != nil {
				return nil, err
			}
			*count++
			has[id] = true
			if !live[id] {
				rep.Orphans = append(rep.Orphans, IndexGap{index.stage, id})
			}
		}
		for _, id := range order {
			if !has[id] {
				rep.Missing = append(rep.Missing, IndexGap{index.stage, id})
			}
		}
	}
	rep.OK = len(rep.Orphans) == 0 && len(rep.Missing) == 0 && !rep.Unfinished
	return rep, nil
}

// reconcile makes the indexes agree with the catalog and clears the header's mark. The caller has the collection's
// turn to write.
func (e *Engine) reconcile(ctx context.Context, name string, h Header) (*VerifyReport, error) {
	rep, err := e.compareIndexes(ctx, name, h)
	if err != nil {
		return nil, err
	}
	if rep.OK {
		return rep, nil
	}
	e.log.Info("repairing collection", "collection", name, "orphans", len(rep.Orphans), "missing", len(rep.Missing), "unfinished", rep.Unfinished)
	var orphans []string
	for _, gap := range rep.Orphans {
		orphans = append(orphans, gap.ChunkID)
	}
	slices.Sort(orphans)
	if err := e.unindex(ctx, indexName(name, h.Generation), slices.Compact(orphans)); err != nil {
		return nil, err
	}
	if err := e.dropOthers(ctx, name, h.Generation); err != nil {
		return nil, &StageError{Stage: StageClean, Err: err}
	}
	again := map[string]bool{}
	for _, gap := range rep.Missing {
		again[gap.ChunkID] = true
	}
	for _, uri := range h.Pending {
		entry, err := e.catalog.Entry(ctx, name, uri)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, ref := range entry.Chunks {
			again[ref.ID] = true
		}
	}
	if err := e.reindex(ctx, name, h.Generation, again); err != nil {
		return nil, err
	}
	h.settle()
	rep.Repaired = true
	return rep, e.catalog.Commit(ctx, name, []Change{{Header: &h}})
}

// reindex makes index records of live chunks from the catalog.
func (e *Engine) reindex(ctx context.Context, name string, generation int, ids map[string]bool) error {
	list := make([]string, 0, len(ids))
	for id := range ids {
		list = append(list, id)
	}
	slices.Sort(list)
	for part := range slices.Chunk(list, groupChunks) {
		chunks, err := e.catalog.Chunks(ctx, name, part)
		if err != nil {
			return err
		}
		group := make([]*Chunk, len(chunks))
		for i := range chunks {
			group[i] = &chunks[i]
		}
		if err := e.reindexGroup(ctx, indexName(name, generation), "", group, &ReindexReport{}); err != nil {
			return err
		}
	}
	return nil
}
