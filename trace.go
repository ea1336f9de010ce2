package rag

import (
	"crypto/rand"
	"encoding/hex"
	"time"
)

// Stages. Each has one name everywhere: in spans, ranks, errors and progress.
const (
	// Ingest.
	StageLoad      = "load"
	StageSplit     = "split"
	StageTransform = "transform"
	StageEmbed     = "embed"
	StageUpsert    = "upsert"
	// Search.
	StageQuery  = "query_processing"
	StageDense  = "dense"
	StageSparse = "sparse"
	StageFusion = "fusion"
	StageRerank = "rerank"
	StageShape  = "shape"
	// Answer, after a search.
	StageEvidence = "evidence" // whether the passages found hold an answer
	StagePack     = "pack"     // passages into the prompt
	StageGenerate = "generate" // the chat model writes
	StageExtract  = "extract"  // sentences are chosen
	StageCite     = "cite"     // citations are read
	StageVerify   = "verify"   // and judged
	// Seen in errors and progress only.
	StageCheck  = "check"
	StageCommit = "commit"
	StageClean  = "clean"
)

// Trace types.
const (
	TraceIngest = "ingest"
	TraceQuery  = "query"
	TraceAsk    = "ask"   // the stages of a query, and those of an answer
	TraceAgent  = "agent" // the steps of an agent; its searches have traces of their own
)

// Trace is the record of one ingest or search. Its JSON form is one line of traces.jsonl; docs/formats.md lists the fields.
type Trace struct {
	ID         string       `json:"trace_id"`
	Type       string       `json:"trace_type"` // one of the Trace constants
	Timestamp  time.Time    `json:"timestamp"`
	Collection string       `json:"collection"`
	UserQuery  string       `json:"user_query,omitempty"`  // query
	Mode       string       `json:"mode,omitempty"`        // query
	SourcePath []string     `json:"source_path,omitempty"` // ingest: scopes or URIs asked for, at most 20
	Stages     []Span       `json:"stages"`                // five of an ingest, six of a query, six more of an answer, always in pipeline order
	TotalMS    float64      `json:"total_latency"`         // milliseconds
	TopK       []TopHit     `json:"top_k_results,omitempty"`
	Counts     *Counts      `json:"counts,omitempty"`   // ingest
	Files      []FileTrace  `json:"files,omitempty"`    // ingest: the slowest sources and those that failed, in the order in which they began
	Warnings   []SourceNote `json:"warnings,omitempty"` // ingest: the first 50 of what was lost or guessed in the documents read
	Answer     *AnswerTrace `json:"answer,omitempty"`   // ask
	Notes      []Note       `json:"notes,omitempty"`
	Error      string       `json:"error,omitempty"`
	ErrorKind  string       `json:"error_kind,omitempty"` // as [ErrorKind] of that error
}

// TopHit is a final result in a trace.
type TopHit struct {
	Rank    int     `json:"rank"`
	ChunkID string  `json:"chunk_id"`
	URI     string  `json:"uri"`
	Score   float64 `json:"score"`
	Images  int     `json:"images,omitempty"`  // pictures that stand in it
	Trail   []Rank  `json:"trail,omitempty"`   // as [Hit].Trail
	Snippet string  `json:"snippet,omitempty"` // verbose: the beginning of the passage, at most 200 characters
}

// FileTrace is a source in the trace of an ingest.
type FileTrace struct {
	URI     string     `json:"uri"`
	Action  string     `json:"action,omitempty"` // as in [PlanItem]; "" if it failed before that was known
	Bytes   int64      `json:"bytes"`
	Chunks  int        `json:"chunks"`
	Images  int        `json:"images,omitempty"`
	StartMS float64    `json:"start_ms"` // from the trace's start
	EndMS   float64    `json:"end_ms"`
	Stages  []FileSpan `json:"stages"`          // those it went through, in order
	Error   string     `json:"error,omitempty"` // why it was not ingested
}

// FileSpan is a stage of one source.
type FileSpan struct {
	Stage   string  `json:"stage"`
	StartMS float64 `json:"start_ms"` // from the trace's start
	EndMS   float64 `json:"end_ms"`
	MS      float64 `json:"elapsed_ms"`       // time spent between: less if it has several documents
	Shared  int     `json:"shared,omitempty"` // sources for which it was done at once, if there are several
}

// AnswerTrace is the outcome of an answer.
type AnswerTrace struct {
	Mode        string          `json:"mode"`        // one of the Answer constants
	Reliability string          `json:"reliability"` // as [Answer].Reliability
	Refused     bool            `json:"refused,omitempty"`
	Reason      string          `json:"reason,omitempty"`
	Confidence  float64         `json:"confidence"`
	Verified    bool            `json:"verified"`
	Citations   []CitationTrace `json:"citations,omitempty"`
	Usage       ChatUsage       `json:"usage"`
	Text        string          `json:"text,omitempty"` // verbose
}

// CitationTrace is a citation in a trace.
type CitationTrace struct {
	Marker  int    `json:"marker"`
	ChunkID string `json:"chunk_id"`
	Verdict string `json:"verdict,omitempty"` // "" if it was not looked at
	Claim   string `json:"claim,omitempty"`   // verbose
}

// Counts are the outcomes of an ingest in its trace.
type Counts struct {
	Added     int `json:"added"`
	Updated   int `json:"updated"`
	Moved     int `json:"moved"`
	Unchanged int `json:"unchanged"` // skipped: nothing about them changed
	Deleted   int `json:"deleted"`
	Failed    int `json:"failed"`
	Chunks    int `json:"total_chunks"`
	Images    int `json:"total_images"`
}

// Span status values. The empty status means the stage ran.
const (
	SpanOff     = "off"      // not configured, or not part of the mode
	SpanLeftOut = "left_out" // could not help, and Detail says why
	SpanFailed  = "failed"   // Error says why; the pipeline went on without it
)

// Span is one stage of a trace.
type Span struct {
	Stage      string         `json:"stage"`
	Method     string         `json:"method,omitempty"` // the provider: "flat", "bm25", "rrf"
	Status     string         `json:"status,omitempty"`
	StartMS    float64        `json:"start_ms"`             // when it first began, from the trace's start
	EndMS      float64        `json:"end_ms"`               // and last ended; both 0 for one that did not run
	ElapsedMS  float64        `json:"elapsed_ms"`           // time spent between: less if it ran again and again, more if several workers did
	In         int            `json:"in"`                   // candidates or items that came in
	Out        int            `json:"out"`                  // and that went out
	Candidates []Candidate    `json:"candidates,omitempty"` // query: the best of what the stage ranked, at most 50
	Moves      *Moves         `json:"rank_changes,omitempty"`
	Detail     map[string]any `json:"details,omitempty"` // texts, numbers, truths, lists and maps, as encoding/json reads them
	Error      string         `json:"error,omitempty"`
	ErrorKind  string         `json:"error_kind,omitempty"` // as [ErrorKind] of that error
}

// Candidate is a chunk as one stage ranked it. Ranks are 1-based; null where the chunk was not in that list.
type Candidate struct {
	ChunkID    string  `json:"chunk_id"`
	Rank       int     `json:"rank"`
	Score      float64 `json:"score"`
	RankBefore *int    `json:"rank_before"` // fusion: best rank over both lanes; rerank and shape: place in the list they were given
	RankAfter  *int    `json:"rank_after"`
	RankDelta  *int    `json:"rank_delta"` // before − after: positive moved up; null for a new chunk
	DenseRank  *int    `json:"dense_rank,omitempty"`
	SparseRank *int    `json:"sparse_rank,omitempty"`
	URI        string  `json:"uri,omitempty"`      // verbose: of candidates that were read
	Snippet    string  `json:"snippet,omitempty"`  // verbose: the beginning of the passage, at most 200 characters
	FoundBy    []int   `json:"found_by,omitempty"` // lanes and fusion of a search with sub-queries: the texts that found it, 0 for the question and n for the n-th of "looked_up" behind it
}

// Moves sums up the rank changes of one stage.
type Moves struct {
	MovedUp   int `json:"moved_up"`
	MovedDown int `json:"moved_down"`
	Unchanged int `json:"unchanged"`
	New       int `json:"new"`
	MaxGain   int `json:"max_gain"`
	MaxDrop   int `json:"max_drop"`
	Dropped   int `json:"dropped"` // came in and did not go out
}

// Note says, in a result and its trace, where the pipeline did less than was asked.
type Note struct {
	Stage  string `json:"stage"`
	Reason string `json:"reason"`
}

// newTraceID returns 16 random hex digits.
func newTraceID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	return hex.EncodeToString(b[:])
}
