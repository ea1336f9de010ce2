package rag

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ExplainTarget names what is to be explained. Exactly one of ChunkID, Text and URI must be given.
type ExplainTarget struct {
	ChunkID string // a passage
	Text    string // words of one: the first passage that has them is meant; white space does not matter, and capital letters only where a passage has these
	URI     string // a document: the passage that came furthest, and all in brief

	// Answer follows the passage into an answer as well, which asks the chat model if there is one.
	Answer bool
}

// Explanation says what became of one chunk in a search. Its JSON form is what `rag explain --json` prints.
type Explanation struct {
	Query      string        `json:"query"`
	Collection string        `json:"collection"`
	Mode       Mode          `json:"mode"`
	ChunkID    string        `json:"chunk_id"`
	URI        string        `json:"uri"`
	Returned   bool          `json:"returned"` // it is among the top_k hits
	Rank       *int          `json:"rank"`     // its final rank; null if it was not returned
	Stages     []StageFate   `json:"stages"`
	Verdict    string        `json:"verdict"`  // where it was lost and the nearest change that would have kept it
	Remedies   []Remedy      `json:"remedies"` // that change, which was tried: with all of these it is kept. Empty if nothing was lost, or nothing tried helps
	Passages   []PassageFate `json:"passages,omitempty"`
	TraceID    string        `json:"trace_id"` // of the search that was explained
}

// StageFate is what one stage did with the chunk.
type StageFate struct {
	Stage  string   `json:"stage"`
	Rank   *int     `json:"rank"` // over all chunks that match the filter; null if the stage does not see it
	Score  *float64 `json:"score"`
	Kept   bool     `json:"kept"`   // it went on to the next stage
	Reason string   `json:"reason"` // why not, or why the stage was not used
}

// PassageFate is what became of one passage of a document that is explained.
type PassageFate struct {
	ChunkID string `json:"chunk_id"`
	Ordinal int    `json:"ordinal"` // its place in the document, from 0
	Dense   *int   `json:"dense"`   // ranks in the whole lists; null: not in it
	Sparse  *int   `json:"sparse"`
	Fused   *int   `json:"fused"`
	Rank    *int   `json:"rank"` // final; null if it was not returned
}

// mostPassages is how many passages of a document an explanation lists, the best ones.
const mostPassages = 50

// explaining is the state of one Explain call.
type explaining struct {
	*Engine
	asked *search                      // as it was asked
	whole *search                      // the same, with whole lists
	lanes map[string]map[string]placed // the whole lanes
	fused map[string]int               // places in the whole fused list
	chunk Chunk
	x     *Explanation
}

// Explain runs the query and reports, stage by stage, what became of one chunk: its rank in each whole lane, also
// below the lane's cut, the place where it was lost, and a change that would have kept it. The change is tried before it
// is told. ErrNotFound if the chunk is not live: its document was deleted, or changed so that the passage is another one.
func (e *Engine) Explain(ctx context.Context, q Query, target ExplainTarget) (_ *Explanation, err error) {
	defer e.hide(&err)
	ids, err := e.findTarget(ctx, q.Collection, target)
	if err != nil {
		return nil, err
	}
	asked, err := e.search(ctx, q)
	if err != nil {
		return nil, err
	}
	w := &explaining{Engine: e, asked: asked, lanes: map[string]map[string]placed{}, fused: map[string]int{}, x: &Explanation{
		Query: q.Text, Collection: asked.q.Collection, Mode: asked.result.Mode, Stages: []StageFate{}, Remedies: []Remedy{}, TraceID: asked.id,
	}}
	leave := e.readers.enter(asked.q.Collection)
	err = w.rankAll(ctx)
	leave()
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(ids, w.further)
	if w.chunk, err = e.Chunk(ctx, asked.q.Collection, ids[0]); err != nil {
		return nil, err
	}
	w.x.ChunkID, w.x.URI = w.chunk.ID, w.chunk.URI
	if target.URI != "" {
		if err := w.listPassages(ctx, ids); err != nil {
			return nil, err
		}
	}
	if at := findHit(asked.hits, w.chunk.ID); at >= 0 {
		w.x.Rank, w.x.Returned = new(at+1), true
	}
	return w.x, w.tell(ctx, target.Answer)
}

// tell fills in the stages and the verdict.
func (w *explaining) tell(ctx context.Context, answer bool) error {
	lost := w.excluded()
	if lost == "" {
		w.tellLanes()
		w.tellFusion()
		lost = w.tellRest()
	}
	switch {
	case w.x.Returned && answer:
		return w.tellAnswer(ctx)
	case w.x.Returned:
		w.x.Verdict = fmt.Sprintf("returned at rank %d", *w.x.Rank)
		return nil
	}
	changes, err := w.nearest(ctx)
	if err != nil {
		return err
	}
	w.conclude(lost, changes, "would have returned it")
	return nil
}

// conclude puts the verdict together.
func (w *explaining) conclude(lost string, changes []Remedy, would string) {
	if len(changes) == 0 {
		w.x.Verdict = lost + ": ask with words of the passage"
		return
	}
	w.x.Remedies = changes
	w.x.Verdict = lost + ": " + inWords(changes) + " " + would
}

// findHit returns the index of a chunk among hits, or -1.
func findHit(hits []Hit, id string) int {
	return slices.IndexFunc(hits, func(h Hit) bool { return h.Chunk.ID == id })
}

// findTarget returns the IDs of the chunks that are meant, at least one.
func (e *Engine) findTarget(ctx context.Context, collection string, target ExplainTarget) ([]string, error) {
	given := 0
	for _, s := range []string{target.ChunkID, oneSpaced(target.Text), target.URI} {
		if s != "" {
			given++
		}
	}
	if given != 1 {
		return nil, fmt.Errorf("explain: name the passage by its ID, by words of it, or by its document: one of the three: %w", ErrInvalid)
	}
	if _, err := e.existing(ctx, e.collection(collection)); err != nil {
		return nil, err
	}
	switch {
	case target.ChunkID != "":
		if _, err := e.Chunk(ctx, collection, target.ChunkID); err != nil {
			if errors.Is(err, ErrNotFound) {
				err = fmt.Errorf("passage %s is not live: its document was deleted, or changed so that the passage is another one: %w", target.ChunkID, err)
			}
			return nil, err
		}
		return []string{target.ChunkID}, nil
	case target.URI != "":
		entry, err := e.Entry(ctx, collection, target.URI)
		if err != nil {
			return nil, err
		}
		ids := make([]string, len(entry.Chunks))
		for i, ref := range entry.Chunks {
			ids[i] = ref.ID
		}
		if len(ids) == 0 {
			return nil, fmt.Errorf("document %s has no passages: nothing of it can be found: %w", target.URI, ErrNotFound)
		}
		return ids, nil
	}
	id, err := e.findPassage(ctx, e.collection(collection), oneSpaced(target.Text))
	return []string{id}, err
}

// phraseMatches is how many passages with the words of a text are looked at before all are.
const phraseMatches = 50

// findPassage returns the ID of the first passage, by URI and place, that contains the words. Word indexes find phrases
// at once; where they do not, as with a part of a word, every passage is looked at. One that has the words in other
// capitals is taken if none has them as they are written.
func (e *Engine) findPassage(ctx context.Context, collection, words string) (string, error) {
	h, _, err := e.readHeader(ctx, collection)
	if err != nil {
		return "", err
	}
	has := func(c *Chunk) bool { return containsWords(c.Text, words) }
	phrase := SparseQuery{Text: `"` + unquoted.Replace(words) + `"`, K: phraseMatches, Filter: e.scope, Match: TextMatch{Phrase: true}}
	found, err := e.sparse.Search(ctx, indexName(collection, h.Generation), phrase)
	if err != nil && ctx.Err() != nil {
		return "", ctx.Err()
	}
	ids := make([]string, len(found)) // none where the index failed or cannot look for phrases
	for i, m := range found {
		ids[i] = m.ID
	}
	chunks, err := live(e.catalog.Chunks(ctx, collection, ids))
	if err != nil {
		return "", err
	}
	chunks = slices.DeleteFunc(chunks, func(c Chunk) bool { return !has(&c) })
	if len(chunks) > 0 {
		return slices.MinFunc(chunks, func(a, b Chunk) int {
			return cmp.Or(cmp.Compare(a.URI, b.URI), cmp.Compare(a.Ordinal, b.Ordinal))
		}).ID, nil
	}
	otherCase, lower := "", strings.ToLower(words)
	for c, err := range e.Chunks(ctx, collection, Filter{}) {
		switch {
		case isDamage(err):
			continue
		case err != nil:
			return "", err
		case has(&c):
			return c.ID, nil
		case otherCase == "" && containsWords(strings.ToLower(c.Text), lower):
			otherCase = c.ID
		}
	}
	if otherCase != "" {
		return otherCase, nil
	}
	return "", fmt.Errorf("no passage contains %q: %w", words, ErrNotFound)
}

// further orders chunks by how far they came: hits first, then by their places in the whole lists.
func (w *explaining) further(a, b string) int {
	return slices.Compare(w.places(a), w.places(b))
}

// places are those of a chunk: final, fused, and the better one in a lane; last where it has none.
func (w *explaining) places(id string) []int {
	const last = mostCandidates
	final, fused, lane := last, last, last
	if at := findHit(w.asked.hits, id); at >= 0 {
		final = at
	}
	if rank, ok := w.fused[id]; ok {
		fused = rank
	}
	for _, ranks := range w.lanes {
		if p, ok := ranks[id]; ok {
			lane = min(lane, p.Position)
		}
	}
	return []int{final, fused, lane}
}

// listPassages tells of a document's passages in brief, those that came furthest first.
func (w *explaining) listPassages(ctx context.Context, ids []string) error {
	ids = ids[:min(len(ids), mostPassages)]
	chunks, err := live(w.catalog.Chunks(ctx, w.asked.q.Collection, ids))
	if err != nil {
		return err
	}
	for _, c := range chunks { // in the order of the IDs
		p := PassageFate{ChunkID: c.ID, Ordinal: c.Ordinal}
		if r, ok := w.lanes[StageDense][c.ID]; ok {
			p.Dense = &r.Position
		}
		if r, ok := w.lanes[StageSparse][c.ID]; ok {
			p.Sparse = &r.Position
		}
		if rank, ok := w.fused[c.ID]; ok {
			p.Fused = &rank
		}
		if at := findHit(w.asked.hits, c.ID); at >= 0 {
			p.Rank = new(at + 1)
		}
		w.x.Passages = append(w.x.Passages, p)
	}
	return nil
}
