package rag

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-d8745b77/rag/internal/lang"
)

// prepared is a source that was read and is to be written.
type prepared struct {
	action string // as in PlanItem
	file   *FileTrace
	docs   []preparedDoc
	stale  []Entry // documents this source no longer gives, or the one it was moved from
}

// preparedDoc is one document with its chunks and what stood under its URI before.
type preparedDoc struct {
	Record
	old Entry // of the same URI, or of the URI it was moved from; zero if none
}

// prepare checks a source and, unless it is unchanged, loads, splits and transforms it. It returns nil if there is
// nothing to write. A *StageError is the source's own failure; any other error is the catalog's.
func (r *ingestRun) prepare(ctx context.Context, src Source, file *FileTrace) (*prepared, error) {
	ctx, cancel := r.config.Ingest.deadline(ctx)
	defer cancel()
	p, err := r.prepareInTime(ctx, src, file)
	if err == nil || ctx.Err() == nil {
		return p, err
	}
	var stage *StageError
	switch {
	case errors.As(err, &stage):
		stage.Err = context.Cause(ctx)
	case errors.Is(err, ctx.Err()): // the catalog was asked after the time was up
		err = &StageError{StageLoad, src.URI, context.Cause(ctx)}
	}
	return nil, err
}

func (r *ingestRun) prepareInTime(ctx context.Context, src Source, file *FileTrace) (*prepared, error) {
	start := r.now()
	data, err := r.loaders.read(ctx, src)
	if err != nil {
		return nil, &StageError{StageLoad, src.URI, err}
	}
	rd, err := r.reading(src, data)
	if err != nil {
		return nil, &StageError{StageLoad, src.URI, err}
	}
	was, err := r.before(ctx, src, &rd.want)
	if err != nil {
		return nil, err
	}
	if src, err = r.say(&rd, src, &was.first); err != nil {
		return nil, &StageError{StageLoad, src.URI, err}
	}
	if err := r.compareNames(ctx, &rd, &was.first); err != nil {
		return nil, err
	}
	action, reason, err := r.check(ctx, rd, was)
	if err != nil {
		return nil, err
	}
	file.Action, file.Bytes = action, rd.want.Size
	r.tellUnfit(&rd, action)
	switch {
	case r.req.DryRun:
		if action != "unchanged" && r.isManifest(src, data) {
			r.note(src.URI, StageLoad, manifestNote)
		}
		r.use(src.URI, was.first.Parts) // as far as it is known: the document is not read
		r.plan(src.URI, action, reason)
		return nil, nil
	case action == "unchanged":
		r.use(src.URI, was.first.Parts)
		r.mu.Lock()
		r.report.Unchanged++
		r.ended(src.URI, action, "")
		r.mu.Unlock()
		return nil, nil
	}
	made, err := rd.parse(ctx, src)
	if err != nil {
		return nil, &StageError{StageLoad, src.URI, err}
	}
	if r.isManifest(src, data) {
		made.docs[0].Warnings = append(made.docs[0].Warnings, Warning{Message: manifestNote})
	}
	r.timed(StageLoad, start, 1, len(made.docs), file)
	r.tell(SourceStep{URI: src.URI, Stage: StageSplit})
	r.parsedBy(rd.loader)
	rd.want.Parts = made.parts
	r.use(src.URI, made.parts)
	p, err := r.assemble(ctx, rd.want, made, file)
	if err != nil {
		return nil, err
	}
	p.action, p.file = action, file
	return p, r.replace(ctx, p, src, was)
}

// reading is what the ledger is to hold of a source, and how its documents are got.
type reading struct {
	loader string                                                // name of the one that reads it; "" for a document of an export
	kept   bool                                                  // what is said of the source was given to an earlier ingest
	want   Entry                                                 // but for what its documents say of themselves, and Parts
	parts  func(ctx context.Context, was []Part) ([]Part, error) // what those of the ledger are now
	parse  func(context.Context, Source) (*parsed, error)
}

// reading tells by a source's bytes how it is read.
func (r *ingestRun) reading(src Source, data []byte) (rd reading, err error) {
	if was := src.stored; was != nil {
		doc, err := storedDocument(src.URI, data)
		if err != nil {
			return rd, err
		}
		rd.want = Entry{
			URI: src.URI, Title: doc.Title, Meta: doc.Meta, Size: was.size, Digest: was.digest, MetaDigest: was.metaDigest,
			Pipeline: r.pipelineAfter(was.loader).String(), Given: was.given,
		}
		rd.parts = func(context.Context, []Part) ([]Part, error) { return was.parts, nil }
		rd.parse = func(context.Context, Source) (*parsed, error) {
			return &parsed{docs: []Document{*doc}, parts: was.parts}, nil
		}
		return rd, nil
	}
	loader, err := r.loaders.choose(src, data)
	if err != nil {
		return rd, err
	}
	rd.want = Entry{URI: src.URI, Size: int64(len(data)), Digest: sha256Sum(data), Pipeline: r.pipeline(loader).String()}
	rd.loader = loader.name
	rd.parts = (&partReader{open: src.Beside, limits: r.config.Ingest}).now
	rd.parse = func(ctx context.Context, src Source) (*parsed, error) {
		return r.loaders.parse(ctx, loader, src, data)
	}
	return rd, nil
}

// before finds what stands in the ledger under a source's URI, or stood under the one it had before it was moved; zero if
// it is new.
func (r *ingestRun) before(ctx context.Context, src Source, want *Entry) (*goneSource, error) {
	old, err := r.catalog.Entry(ctx, r.name, want.URI)
	switch {
	case !errors.Is(err, ErrNotFound):
		return &goneSource{first: old}, err
	case src.stored != nil || r.held != nil: // what an export or a queue does not have is not gone
		return &goneSource{}, nil
	}
	return r.claimGone(ctx, want)
}

// say completes what is said of a source, and what the ledger is to hold of that. A document of an export comes with it.
func (r *ingestRun) say(rd *reading, src Source, was *Entry) (Source, error) {
	if src.stored != nil {
		return src, nil
	}
	src, given, err := r.describe(src, was, &rd.kept)
	rd.want.Title, rd.want.Meta, rd.want.Given, rd.want.MetaDigest = src.Title, src.Meta, &given, src.metaDigest()
	return src, err
}

// check compares a source with what stood in the ledger before: action and reason are those of a PlanItem.
func (r *ingestRun) check(ctx context.Context, rd reading, was *goneSource) (action, reason string, err error) {
	want, old := &rd.want, &was.first
	switch {
	case old.URI == "":
		return "add", "new", nil
	case old.URI != want.URI:
		return "move", "was " + old.URI, nil
	case old.Digest != want.Digest:
		return "update", "content changed", nil
	}
	parts, err := rd.parts(ctx, old.Parts)
	switch {
	case err != nil:
		return "", "", &StageError{StageLoad, want.URI, err}
	case !slices.Equal(parts, old.Parts):
		return "update", partChange(old.Parts, parts), nil
	case old.MetaDigest != want.MetaDigest, want.Given != nil && !sameGiven(old.Given, *want.Given):
		return "update", metaChange(*old, want.Title, want.Meta), nil
	case old.Pipeline != r.config.Ingest.atLimits(want.Pipeline, old.Pipeline):
		return "update", pipelineChange(old.Pipeline, r.config.Ingest.atLimits(want.Pipeline, old.Pipeline)), nil
	case r.req.Force:
		return "update", "forced", nil
	}
	return "unchanged", "", nil
}

// assemble splits and transforms the documents of one source.
func (r *ingestRun) assemble(ctx context.Context, want Entry, made *parsed, file *FileTrace) (*prepared, error) {
	p := &prepared{}
	steps := r.steps.document()
	ctx = steps.within(ctx)
	for i := range made.docs {
		doc := &made.docs[i]
		doc.ID = DocumentID(r.name, doc.URI)
		if doc.Language == "" {
			doc.Language = lang.Detect(doc.Text[:min(len(doc.Text), languageSample)])
		}
		chunks, hit, err := r.cut(ctx, doc, file)
		if err != nil {
			return nil, err
		}
		made.limits = append(made.limits, hit...)
		entry := want
		entry.URI, entry.DocID, entry.Title, entry.State = doc.URI, doc.ID, doc.Title, doc.State
		entry.Language, entry.Meta, entry.Validity, entry.Warnings = doc.Language, doc.Meta, doc.Validity, doc.Warnings
		entry.Images = len(doc.Images)
		file.Images += len(doc.Images)
		file.Chunks += len(chunks)
		for j := range chunks {
			entry.Chunks = append(entry.Chunks, chunkRef(&chunks[j]))
		}
		p.docs = append(p.docs, preparedDoc{Record: Record{Entry: entry, Document: *doc, Chunks: chunks}})
	}
	for i := range p.docs {
		p.docs[i].Entry.Pipeline = r.config.Ingest.outcome(want.Pipeline, steps.fallback(), made.limits)
	}
	return p, nil
}

// replace finds what the documents of a source take the place of: what stands under their URIs, or stood under those they
// had before the source was moved. What nothing takes the place of is stale.
func (r *ingestRun) replace(ctx context.Context, p *prepared, src Source, was *goneSource) error {
	old := map[string]Entry{src.URI: was.first} // by the URI of the document that takes its place
	if p.action == "move" {
		p.stale = append(append(p.stale, was.first), was.further...)
		for _, entry := range was.further {
			old[src.URI+strings.TrimPrefix(entry.URI, was.first.URI)] = entry
		}
	}
	var further []Entry
	if src.stored == nil { // what an export does not have is not gone
		var err error
		if further, err = r.furtherEntries(ctx, r.name, src.URI); err != nil {
			return err
		}
	}
	for _, entry := range further {
		old[entry.URI] = entry
	}
	given := make(map[string]bool, len(p.docs))
	for i := range p.docs {
		d := &p.docs[i]
		d.old, given[d.Entry.URI] = old[d.Entry.URI], true
	}
	p.stale = append(p.stale, slices.DeleteFunc(further, func(e Entry) bool { return given[e.URI] })...)
	return nil
}

// languageSample is how many bytes of a document decide its language.
const languageSample = 8 << 10

// cut splits a document and lets the transformers work on its chunks.
func (r *ingestRun) cut(ctx context.Context, doc *Document, file *FileTrace) (chunks []Chunk, hit []string, err error) {
	start := r.now()
	if chunks, err = r.splitter.Split(ctx, *doc); err != nil {
		return nil, nil, &StageError{StageSplit, doc.URI, err}
	}
	chunks = slices.DeleteFunc(chunks, func(c Chunk) bool { return !strings.ContainsFunc(c.Text, isWord) })
	placeImages(doc, chunks) // before the cut: a picture of a passage that is left out belongs to no other
	chunks, hit = r.config.Ingest.cutChunks(doc, chunks)
	if err := r.identify(doc, chunks); err != nil {
		return nil, nil, &StageError{StageSplit, doc.URI, err}
	}
	r.timed(StageSplit, start, 1, len(chunks), file)

	start = r.now()
	before := len(chunks)
	for _, t := range r.transformers {
		if chunks, err = t.Transform(ctx, *doc, chunks); err != nil {
			return nil, nil, &StageError{StageTransform, doc.URI, err}
		}
	}
	for i := range chunks {
		c := &chunks[i]
		if c.Start < 0 || c.End > len(doc.Text) || c.Start > c.End || c.Text != doc.Text[c.Start:c.End] {
			return nil, nil, &StageError{StageTransform, doc.URI, fmt.Errorf("a transformer changed the text of chunk %d: %w", i, ErrInvalid)}
		}
		// What a document says of itself is no transformer's to change.
		if c.Title, c.Validity = doc.Title, doc.Validity; c.Meta == nil {
			c.Meta = Meta{}
		}
		maps.Copy(c.Meta, doc.Meta)
		if c.Meta, err = c.Meta.Clean(); err != nil {
			return nil, nil, &StageError{StageTransform, doc.URI, err}
		}
	}
	r.timed(StageTransform, start, before, len(chunks), file)
	r.measure(chunks)
	return chunks, hit, nil
}

// isWord reports whether a character can be searched for: a passage of rules and blanks alone answers nothing.
func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.So, r)
}

// identify gives chunks what they take over from their document, and their IDs.
func (r *ingestRun) identify(doc *Document, chunks []Chunk) error {
	seen := map[string]int{}
	for i := range chunks {
		c := &chunks[i]
		if c.Start < 0 || c.End > len(doc.Text) || c.Start >= c.End || c.Text != doc.Text[c.Start:c.End] {
			return fmt.Errorf("the splitter's chunk %d is not the document's text [%d:%d]: %w", i, c.Start, c.End, ErrInvalid)
		}
		c.ID = ChunkID(doc.ID, c.Text, seen[c.Text])
		seen[c.Text]++
		c.DocID, c.URI, c.Title, c.Ordinal, c.Language = doc.ID, doc.URI, doc.Title, i, doc.Language
		c.Validity = doc.Validity
		if c.Meta == nil {
			c.Meta = Meta{}
		}
		for k, v := range doc.Meta {
			if _, own := c.Meta[k]; !own {
				c.Meta[k] = v
			}
		}
	}
	return nil
}

// chunkRef digests what the embedder and the indexes are given of a chunk.
func chunkRef(c *Chunk) ChunkRef {
	text := c.IndexText()
	return ChunkRef{
		ID:    c.ID,
		Input: shortDigest(text),
		Index: shortDigest(text, strings.Join(c.Headings, "\n"), c.Language, string(canonical(c.Fields())), string(mustJSON(c.Validity))),
	}
}

// shortDigest is 16 hex digits of a SHA-256: enough to tell versions of one passage apart.
func shortDigest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// canonical encodes metadata with sorted keys, as encoding/json does for maps.
func canonical(m Meta) []byte {
	if len(m) == 0 {
		return []byte("{}")
	}
	var buf bytes.Buffer
	if err := json.NewEncoder(&buf).Encode(m); err != nil {
		return []byte(err.Error()) // Clean refuses such values later, with a better message
	}
	return buf.Bytes()
}

// noteFailure records a source's failure. In a folder, a file that no loader reads is no failure but is listed.
func (r *ingestRun) noteFailure(src Source, e *StageError, file *FileTrace) {
	if errors.Is(e.Err, errNoLoader) && r.scopeOf(src.URI) != "" {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.report.Skipped = append(r.report.Skipped, SourceNote{src.URI, e.Stage, "no loader reads this kind of file"})
		r.ended(src.URI, ActionSkipped, "no loader reads this kind of file")
		return
	}
	r.fail(e.Stage, src.URI, e.Err)
	file.Error = e.Error()
	r.keepFile(file)
}

// plan notes what a dry run would do.
func (r *ingestRun) plan(uri, action, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Plan = append(r.report.Plan, PlanItem{uri, action, reason})
	r.ended(uri, action, reason)
	switch action {
	case "add":
		r.report.Added++
	case "update":
		r.report.Updated++
	case "move":
		r.report.Moved++
	case "unchanged":
		r.report.Unchanged++
	}
}

// sortNotes puts the lists of a report in the order of their URIs: workers end in any order.
func sortNotes(rep *IngestReport) {
	slices.SortStableFunc(rep.Failed, func(a, b SourceFailure) int { return cmp.Compare(a.URI, b.URI) })
	byURI := func(a, b SourceNote) int { return cmp.Compare(a.URI, b.URI) }
	slices.SortStableFunc(rep.Skipped, byURI)
	slices.SortStableFunc(rep.Warnings, byURI)
	slices.SortStableFunc(rep.Plan, func(a, b PlanItem) int { return cmp.Compare(a.URI, b.URI) })
}
