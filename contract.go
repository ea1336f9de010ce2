package rag

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"
)

// Every provider is safe for concurrent use unless it says otherwise. A slice passed in is the caller's again
// when the call returns; a slice returned is the caller's. Providers that hold resources implement io.Closer.

// Loader reads one kind of source. Implement [Formatter] too: without it the loader is used only for sources whose
// MediaType is its registered name. The first document of a source gets the source's URI, the n-th gets "#n" behind it.
type Loader interface {
	// Load parses src and yields its documents in order. It opens src when iteration begins and closes it before
	// iteration ends, also when the caller breaks. An error comes with a zero Document and ends the sequence:
	// ErrUnsupported if the bytes are not in its format, ErrInvalid if they are but cannot be read, the context's error
	// if it is done. A source without text gives a document (State "empty") or an error, never nothing.
	Load(ctx context.Context, src Source) iter.Seq2[Document, error]
}

// Formatter is implemented by loaders that the engine can choose by type. A loader without it is only used
// for sources whose MediaType is its registered name.
type Formatter interface {
	// Formats lists what the loader reads; it never changes.
	Formats() []Format
}

// Format tells how a loader's sources are recognised. The engine asks in this order: the declared media type,
// content (Match, unless Weak), the file name's extension, content again (Weak Match).
type Format struct {
	Name       string                 // "pdf", "markdown"
	Extensions []string               // with dot, lower case: ".md"
	MediaTypes []string               // "text/markdown"
	Match      func(head []byte) bool // looks at up to SniffLen first bytes; nil: content tells nothing
	Weak       bool                   // Match also fits other formats: an extension goes before it
}

// SniffLen is the number of first bytes of a source that Format.Match is given at most.
const SniffLen = 4096

// Splitter cuts a document into chunks.
type Splitter interface {
	// Split returns chunks in document order with Text, Start, End, Page, Headings set; the engine sets the rest.
	Split(ctx context.Context, doc Document) ([]Chunk, error)
}

// Transformer improves what the indexes see of a document's chunks.
type Transformer interface {
	// Transform works on the chunks of one document. It may drop chunks, with the pictures in them, and set Context,
	// Captions and Meta, never Text.
	Transform(ctx context.Context, doc Document, chunks []Chunk) ([]Chunk, error)
}

// EmbedRole says on which side of the search a text stands: some models want another prefix for each.
type EmbedRole string

// The two roles.
const (
	AsPassage  EmbedRole = "passage"
	AsQuestion EmbedRole = "question"
)

// Embedder turns texts into vectors.
type Embedder interface {
	// Model describes the model; it never changes.
	Model() EmbedModel
	// Embed returns one vector per text, in order, each Dims long, finite and not zero whatever the text holds. Called
	// with 1 to MaxBatch texts, none empty. A done context ends it soon, with the context's error.
	Embed(ctx context.Context, role EmbedRole, texts []string) ([][]float32, error)
}

// EmbedModel describes an embedding model.
type EmbedModel struct {
	Name           string   // "all-MiniLM-L6-v2-int8"
	Revision       string   // changes when the weights or the way they are used change
	Dims           int      // length of a vector
	MaxTokens      int      // longest input in tokens, special tokens included; 0: unknown
	MaxBatch       int      // most texts a call; 0: 64
	QuestionPrefix string   // put before questions by the embedder itself
	PassagePrefix  string   // put before passages by the embedder itself
	Pooling        string   // "mean", "cls"; "" if unknown
	Languages      []string // BCP 47 primary tags in which the vectors mean something; nil: any
}

// defaultBatch is how many texts an embedder is given at once if its model does not say.
const defaultBatch = 64

// BatchSize is how many texts the embedder takes at once: MaxBatch, or what stands for none.
func (m EmbedModel) BatchSize() int {
	if m.MaxBatch < 1 {
		return defaultBatch
	}
	return m.MaxBatch
}

// Fingerprint names everything that decides a vector. It stands in the header of each collection.
func (m EmbedModel) Fingerprint() string {
	parts := []string{m.Name, m.Revision, strconv.Itoa(m.Dims), strconv.Itoa(m.MaxTokens), m.Pooling}
	if m.QuestionPrefix != "" || m.PassagePrefix != "" {
		parts = append(parts, strconv.Quote(m.QuestionPrefix), strconv.Quote(m.PassagePrefix))
	}
	return strings.Join(parts, "/")
}

// TokenCounter is implemented by embedders that know their tokens. Splitters size chunks by it.
type TokenCounter interface {
	// CountTokens returns the number of tokens of text without special tokens.
	CountTokens(text string) int
}

// VectorRecord is what a vector store is given of a chunk.
type VectorRecord struct {
	ID       string
	DocID    string
	Vector   []float32 // unit length
	Meta     Meta      // Chunk.Fields
	Validity Validity
}

// VectorQuery asks a vector store.
type VectorQuery struct {
	Vector []float32 // unit length
	K      int       // at most K matches; 0: none
	Filter Filter    // zero: everything
}

// Match is what an index returns.
type Match struct {
	ID    string
	Score float64 // higher is better
}

// VectorStore ranks vectors by cosine.
type VectorStore interface {
	// Upsert is durable when it returns, and replaces records of the same ID. The first write to a collection fixes
	// its dimension; another length is ErrDimension. A vector that is zero or not finite is ErrInvalid; then nothing
	// of the call is written.
	Upsert(ctx context.Context, collection string, recs []VectorRecord) error
	// Search returns up to K matches by descending cosine, ties by ID: exactly min(K, matches of Filter), whatever its
	// selectivity. An unknown collection gives none. A vector of another length than the collection's is ErrDimension, an
	// invalid filter ErrInvalid. A store that cannot apply the filter returns ErrUnsupported and the engine over-fetches
	// until it has K.
	Search(ctx context.Context, collection string, q VectorQuery) ([]Match, error)
	// Delete removes records; absent IDs are not an error.
	Delete(ctx context.Context, collection string, ids []string) error
}

// TextRecord is what a sparse index is given of a chunk.
type TextRecord struct {
	ID       string
	DocID    string
	Text     string // with context and captions
	Title    string // the document's title, for indexes that weigh it apart from Text
	Headings string // the sections the text stands in, a line each, outermost first; as Title
	Language string // BCP 47; "" if unknown
	Meta     Meta   // Chunk.Fields
	Validity Validity
}

// SparseQuery asks a sparse index.
type SparseQuery struct {
	Text   string
	K      int       // at most K matches; 0: none
	Filter Filter    // zero: everything
	Match  TextMatch // zero: by words. An index that cannot do what it asks for returns ErrUnsupported
}

// TextMatch says how the words of a query are looked for. The zero value looks for each word as it is stemmed, and no
// word must be there.
type TextMatch struct {
	Phrase bool // what stands in double quotes ("", “”, „“, „”, «», »«, 「」, 『』) must be in a text word by word; a stop word in it fits any word
	Prefix bool // a word with * behind it stands for all words that begin so
	Fuzzy  int  // most letters that a word of a text may differ by, 0 to 2. Words below 3 letters must be equal, below 6 differ by 1. A word that differs counts less
}

// MaxFuzzy is the greatest [TextMatch] Fuzzy: with 3 letters changed, most words are other words.
const MaxFuzzy = 2

// Validate reports ErrInvalid for a Fuzzy out of range.
func (m TextMatch) Validate() error {
	if m.Fuzzy < 0 || m.Fuzzy > MaxFuzzy {
		return fmt.Errorf("fuzzy is %d: it must be from 0 to %d: %w", m.Fuzzy, MaxFuzzy, ErrInvalid)
	}
	return nil
}

// SparseIndex ranks texts by their words. The rules of [VectorStore] hold: durable upserts that replace, exactly
// min(K, matches) results (only records that share a term with the query match), ties by ID.
type SparseIndex interface {
	// Upsert is durable when it returns, and replaces records of the same ID.
	Upsert(ctx context.Context, collection string, recs []TextRecord) error
	// Search returns up to K matches by descending score, ties by ID. An unknown collection gives none.
	Search(ctx context.Context, collection string, q SparseQuery) ([]Match, error)
	// Delete removes records; absent IDs are not an error.
	Delete(ctx context.Context, collection string, ids []string) error
}

// Optional interfaces of vector stores and sparse indexes.
type (
	// IDLister yields the IDs of all records of a collection; verify and repair need it.
	IDLister interface {
		// IDs yields each ID once, in any order; an unknown collection has none.
		IDs(ctx context.Context, collection string) iter.Seq2[string, error]
	}
	// Dropper removes a whole collection; an unknown one is not an error.
	Dropper interface {
		// Drop is durable when it returns.
		Drop(ctx context.Context, collection string) error
	}
	// VectorReader gives stored vectors back, in the order of ids, nil where there is none. With it, a moved or
	// re-described passage is not embedded again.
	VectorReader interface {
		// Vectors returns as many vectors as there are ids.
		Vectors(ctx context.Context, collection string, ids []string) ([][]float32, error)
	}
	// Highlighter is implemented by sparse indexes that can show by which words a text is found.
	Highlighter interface {
		// Highlight returns for each record where words that the query asks for stand in its Text, in any order. Of the
		// records it looks at Text and Language, of the query not at K and Filter.
		Highlight(ctx context.Context, collection string, q SparseQuery, recs []TextRecord) ([][]TextRange, error)
	}
	// Coverer is implemented by sparse indexes that can tell which words of a question texts have. Without it an
	// answer's evidence weighs all words alike.
	Coverer interface {
		// Cover looks of the records at Text and Language.
		Cover(ctx context.Context, collection, question string, recs []TextRecord) (Coverage, error)
	}
)

// Coverage says which words of a question texts have.
type Coverage struct {
	Weights []float64 // of each word asked for: the rarer in the collection, the greater; above 0
	Found   [][]bool  // for each text, in order, whether it has each of the words
}

// Fingerprinter is implemented by providers whose output depends on a version or on settings. What it returns is
// part of the pipeline fingerprint: when it changes, the sources it touches are ingested again. A provider without
// it is known by its type.
type Fingerprinter interface {
	// Fingerprint is short and printable: "bm25/auto/v2".
	Fingerprint() string
}

// Ranking is one list of a lane, best first. A lane has several where a search looks up several texts, see [SubQuery].
type Ranking struct {
	Stage   string  // StageDense or StageSparse
	Weight  float64 // weight of the lane, or the list's share of it; 0 drops the list
	Matches []Match
}

// Fuser joins the lanes' lists into one: pure and deterministic, best first, ties by ID, each ID once.
type Fuser func(lists []Ranking) []Match

// Reranker scores passages against a query.
type Reranker interface {
	// Rerank returns one score per text, in order. The engine sorts, cuts, keeps the deadline and records ranks,
	// so a provider cannot lose, invent or duplicate a hit.
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}

// RerankDescriber is implemented by rerankers that can say what they are. Without it, passages are given whole and
// no score is remembered.
type RerankDescriber interface {
	// RerankModel describes the model; it never changes.
	RerankModel() RerankModel
}

// RerankModel describes a reranker.
type RerankModel struct {
	Name      string   // everything that decides a score: model, revision, settings. Scores are remembered under it; "": they are not
	MaxTokens int      // longest pair of query and text in tokens, special tokens included; 0: any length. Of a longer text the engine gives the best window
	Listwise  bool     // a score depends on the texts asked with it, so it is not remembered
	Languages []string // BCP 47 primary tags in which the scores mean something; nil: any. A question in another is not reranked
}

// EmbedKey names a vector in an [EmbedCache]: a SHA-256 over model, role and text.
type EmbedKey [32]byte

// EmbedCache keeps vectors across runs, so that an ingest that was cut short embeds nothing twice. It saves time and
// decides nothing: the engine goes on without one that fails. What it cannot read back unharmed it does not have.
type EmbedCache interface {
	// Get returns the vectors kept under keys, in order, nil where there is none.
	Get(ctx context.Context, keys []EmbedKey) ([][]float32, error)
	// Put keeps a vector under each key. It is durable when it returns, until the cache is full and it is among the oldest.
	Put(ctx context.Context, keys []EmbedKey, vectors [][]float32) error
}

// Catalog is the system of record.
type Catalog interface {
	// Entry returns the ledger line of a URI, or ErrNotFound.
	Entry(ctx context.Context, collection, uri string) (Entry, error)
	// Document returns a stored document with its text and images, or ErrNotFound.
	Document(ctx context.Context, collection, uri string) (Document, error)
	// Image returns the bytes of a picture that a document of the collection has, by [Image] ID, or ErrNotFound.
	Image(ctx context.Context, collection, id string) ([]byte, error)
	// Commit applies the changes in order and atomically: all or none. The first commit makes the collection.
	Commit(ctx context.Context, collection string, changes []Change) error
	// Chunks returns the live chunks among ids, in the order asked; absent ones are left out.
	Chunks(ctx context.Context, collection string, ids []string) ([]Chunk, error)
	// Scan yields the live chunks whose Fields and Validity match the filter, by URI and ordinal.
	Scan(ctx context.Context, collection string, f Filter) iter.Seq2[Chunk, error]
	// Entries yields the lines of the ledger whose URI begins with prefix ("": all) and comes behind after ("": from the first
	// on), by URI. A page begins where the last one ended, and an ingest asks for those of each
	// source that it writes, so it must not look at all others.
	Entries(ctx context.Context, collection, prefix, after string) iter.Seq2[Entry, error]
	// Collections lists the collections by name.
	Collections(ctx context.Context) ([]CollectionInfo, error)
	// Drop removes a collection; an unknown one is not an error.
	Drop(ctx context.Context, collection string) error
}

// CollectionLocker is implemented by catalogs that several processes write to at once: the engine takes the lock of a
// collection for each call that writes to it. Searches take none.
type CollectionLocker interface {
	// LockCollection makes the caller the only writer of the collection until it calls unlock. It waits up to wait for
	// another; then it is ErrLocked, and the message names who holds it. The lock of a process that dies is free at once.
	LockCollection(ctx context.Context, collection string, wait time.Duration) (unlock func(), err error)
}

// WorkQueue is implemented by catalogs through which several processes share an ingest: each collection has a queue of
// sources, of which each is claimed by one worker at a time, see [Engine.Enqueue] and [Engine.Work]. Times are told by the
// catalog's own clock, so that machines need not agree on theirs.
type WorkQueue interface {
	CollectionLocker
	// ShareCollection makes the caller one of several writers of the collection until it calls unlock. Who shares it and
	// who locks it exclude each other; who waits to lock it goes before those who come to share it. It waits as
	// LockCollection does. Where nobody else shares it, first is called, and when the caller is the last to leave, last;
	// meanwhile the caller is its only writer. When first returns no error, all Touched are forgotten.
	ShareCollection(ctx context.Context, collection string, wait time.Duration, first func() error) (unlock func(last func() error) error, err error)
	// Enqueue adds sources, in order. One that is in the queue is to be worked on anew, also if a worker is at it. Where
	// all was worked on, what is done is forgotten first.
	Enqueue(ctx context.Context, collection string, sources []QueuedSource) error
	// Claim gives a worker up to n sources for the span of a lease: those that wait, and those whose lease ran out, which
	// count as lost; those that were lost least often first, then by their order in the queue.
	Claim(ctx context.Context, collection, worker string, n int, lease time.Duration) ([]QueueClaim, error)
	// Renew gives claims another lease, keeps their Touched, and returns the URIs of those that are still held. It is
	// durable when it returns.
	Renew(ctx context.Context, collection string, claims []QueueClaim, lease time.Duration) (held []string, err error)
	// CommitClaimed is Commit under the condition that all claims are still held; else it is ErrLocked.
	CommitClaimed(ctx context.Context, collection string, claims []QueueClaim, changes []Change) error
	// Settle ends claims. Of one that is not held any more nothing counts but Touched: the source is worked on again, after
	// the present holder, and its next claim has them.
	Settle(ctx context.Context, collection string, ends []QueueEnd) error
	// Queue tells how far the work is, with up to most failures. A collection without a queue has an empty one.
	Queue(ctx context.Context, collection string, most int) (QueueStatus, error)
}

// Entry is one document's line in the catalog.
type Entry struct {
	URI        string
	DocID      string
	Title      string
	State      string   // as in Document
	Digest     [32]byte // SHA-256 of the source's bytes
	MetaDigest [32]byte // SHA-256 of the metadata, title and policy of the source, under its domain
	Pipeline   string   // fingerprints of loader, splitter and transforms that made it, as JSON
	Size       int64    // bytes of the source
	Language   string
	Meta       Meta
	Validity   Validity
	Warnings   []Warning
	Chunks     []ChunkRef // in document order
	Images     int        // pictures in the document
	Parts      []Part     // files beside the source that its loader asked for, in the order of their names
	Given      *Given     // with the source; nil: of a version that did not keep it
	Ingested   time.Time  // when this version was committed
}

// Part is a file beside a source that its documents were made with, such as a picture that a page shows.
type Part struct {
	Name   string   // as [Source] Beside was asked for it
	Digest [32]byte // SHA-256 of its bytes; zero if it could not be read
}

// ChunkRef names a chunk in a ledger line and tells what the indexes hold of it.
type ChunkRef struct {
	ID    string
	Input string // digest of the text that was embedded
	Index string // digest of everything the indexes were given
}

// Change is one step of a commit; exactly one field is set.
type Change struct {
	Header *Header // replaces the collection's header
	Put    *Record // the document of this URI is now this one
	Remove string  // the document of this URI goes, with its chunks, and pictures no other document has
}

// Record is a document with its ledger line and its chunks.
type Record struct {
	Entry    Entry
	Document Document
	Chunks   []Chunk
}

// Header says by what a collection was built.
type Header struct {
	Embedder string    `json:"embedder"` // EmbedModel.Fingerprint
	Dims     int       `json:"dims"`
	Sparse   string    `json:"sparse"` // fingerprint of the sparse index: analyzer and settings
	Created  time.Time `json:"created"`
	Dirty    bool      `json:"dirty"`             // an ingest, delete or reindex is under way, or was cut short: indexes may hold more than the catalog
	Run      string    `json:"run,omitempty"`     // with Dirty: which, one of the Run constants; "" in data of earlier versions
	Pending  []string  `json:"pending,omitempty"` // URIs whose records in the indexes may be newer than the catalog's
	Touched  []string  `json:"touched,omitempty"` // with an index that cannot list its records: chunk IDs that it may have and the catalog not

	// Generation counts the times the collection was built anew beside itself. It is part of the name under which the
	// indexes know the collection (0: its own name), so a commit of the header flips from one build to the next.
	Generation int `json:"generation,omitempty"`

	Calibration *Calibration `json:"calibration,omitempty"` // of the confidence in answers; nil: the default

	Domain    *DomainRecord `json:"domain,omitempty"`    // whose rules ingests and searches follow; nil: none
	Manifests []string      `json:"manifests,omitempty"` // URIs of files that said what documents are, and are none, sorted

	// Away is what had been given with sources whose documents a prune removed: it stands again when they come back. Those that
	// went last come last.
	Away []AwaySource `json:"away,omitempty"`
}

// AwaySource is a source that is gone, and what had been given with it.
type AwaySource struct {
	URI   string `json:"uri"`
	Given Given  `json:"given"`
}

// CollectionInfo describes a collection.
type CollectionInfo struct {
	Name      string
	Header    Header
	Documents int
	Chunks    int
	Images    int       // pictures; one that stands in several documents is counted once
	Updated   time.Time // newest Entry.Ingested; zero if empty
}

// TraceSink keeps traces.
type TraceSink interface {
	// Record must not hold on to t after it returns.
	Record(ctx context.Context, t *Trace) error
}
