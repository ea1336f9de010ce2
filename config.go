package rag

import (
	"encoding/json"
	"fmt"
)

// Config holds the choices of an engine as data; rag.yaml has the same keys (package config reads it). The zero
// value of each field means its default; [DefaultConfig] spells the defaults out.
type Config struct {
	Collection  string                     `json:"collection"`   // collection used where a call names none
	ModelDir    string                     `json:"model_dir"`    // folder of model folders, for providers that name none of their own; "": none, see docs/models.md
	Catalog     ProviderConfig             `json:"catalog"`      // system of record
	Loaders     map[string]json.RawMessage `json:"loaders"`      // settings by loader name; all linked loaders are used, but those whose settings are the text "none"
	OCR         ProviderConfig             `json:"ocr"`          // reads scanned pages, for loaders that can use it; provider "none": their pages stay without text
	Splitter    ProviderConfig             `json:"splitter"`     // document to chunks
	Transforms  []ProviderConfig           `json:"transforms"`   // in order; nil: the heading path as context
	Embedder    ProviderConfig             `json:"embedder"`     // text to vector; provider "none": sparse only
	EmbedCache  ProviderConfig             `json:"embed_cache"`  // keeps vectors across runs; provider "none": nothing is kept
	VectorStore ProviderConfig             `json:"vector_store"` // dense index
	SparseIndex ProviderConfig             `json:"sparse_index"` // word index
	Fusion      ProviderConfig             `json:"fusion"`       // joins the lanes
	Rerank      ProviderConfig             `json:"rerank"`       // provider "none": no reranking
	LLM         ProviderConfig             `json:"llm"`          // chat model; provider "none": none
	VisionLLM   ProviderConfig             `json:"vision_llm"`   // chat model that sees pictures; provider "none": the one of llm
	Verifier    ProviderConfig             `json:"verifier"`     // judges the citations of an answer; provider "none": they are not looked at
	Retrieval   RetrievalConfig            `json:"retrieval"`
	Answer      AnswerConfig               `json:"answer"`
	Ingest      IngestConfig               `json:"ingest"`
	Trace       ProviderConfig             `json:"trace"` // where calls are recorded; provider "none": nowhere. The setting "detail", a TraceDetail, is the engine's for every provider

	Agent      json.RawMessage `json:"agent"`      // settings of package agent, an object; nil: all defaults
	Evaluation json.RawMessage `json:"evaluation"` // settings of package eval, an object; nil: all defaults

	QueryTransforms []ProviderConfig `json:"query_transforms"` // in order; none: questions are looked up as they are
}

// None as a provider name leaves a slot empty: the embedder (sparse search only), the
// embedding cache, the reranker, the trace sink.
const None = "none"

// ProviderConfig names a provider and carries its settings. In JSON and YAML both stand in one object:
// {"provider": "bm25", "k1": 1.2}.
type ProviderConfig struct {
	Provider string          // registered name
	Settings json.RawMessage // object of the other keys; nil: all defaults
}

// MarshalJSON writes provider and settings as one object.
func (p ProviderConfig) MarshalJSON() ([]byte, error) {
	all := map[string]json.RawMessage{}
	if len(p.Settings) > 0 {
		if err := json.Unmarshal(p.Settings, &all); err != nil {
			return nil, err
		}
	}
	name, err := json.Marshal(p.Provider)
	if err != nil {
		return nil, err
	}
	all["provider"] = name
	return json.Marshal(all)
}

// UnmarshalJSON reads an object with "provider" and settings, or just the provider's name as a string.
func (p *ProviderConfig) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, &p.Provider); err == nil {
		p.Settings = nil
		return nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return fmt.Errorf("a provider is a name or an object with the key provider: %w", ErrInvalid)
	}
	if raw, ok := all["provider"]; ok {
		if err := json.Unmarshal(raw, &p.Provider); err != nil {
			return fmt.Errorf("provider: %v: %w", err, ErrInvalid)
		}
		delete(all, "provider")
	}
	p.Settings = nil
	if len(all) > 0 {
		settings, err := json.Marshal(all)
		if err != nil {
			return err
		}
		p.Settings = settings
	}
	return nil
}

// MaxTopK is the most hits that a search returns, and the most candidates of a stage.
const MaxTopK = 10_000

// RetrievalConfig sets the sizes of the search pipeline.
type RetrievalConfig struct {
	TopK         int     `json:"top_k" range:"[1,10000]"`                // hits returned; default 10
	DenseTopK    int     `json:"dense_top_k" range:"[1,10000]"`          // candidates of the dense lane; default 100
	SparseTopK   int     `json:"sparse_top_k" range:"[1,10000]"`         // candidates of the sparse lane; default 100
	FusionTopK   int     `json:"fusion_top_k" range:"[1,10000]"`         // candidates kept after fusion; default 50
	EnableDense  *bool   `json:"enable_dense"`                           // default true
	EnableSparse *bool   `json:"enable_sparse"`                          // default true
	DenseWeight  float64 `json:"dense_weight" range:"(0,1000]"`          // lane weight in fusion; default 0.7, see bench/quality
	SparseWeight float64 `json:"sparse_weight" range:"(0,1000]"`         // lane weight in fusion; default 1
	RerankTopN   int     `json:"rerank_top_n" range:"[1,10000]"`         // pairs given to the reranker; those behind stay behind, in the order of fusion, and their scores go on below the last pair's; default 20
	RerankMS     int     `json:"rerank_timeout_ms" range:"[1,86400000]"` // longest the reranker may take; default 2000
	RerankWeight float64 `json:"rerank_weight" range:"(0,1]"`            // share of the reranker in the final score, above 0 to 1; the rest is fusion's, both stretched to [0, 1]; default 1: the reranker's own score

	Diversity      float64 `json:"diversity" range:"[0,1]"`            // 0 to 1: how much a hit loses by being like better ones, the rest is its score's share; default 0: nothing
	MaxPerDocument int     `json:"max_per_document" range:"[0,10000]"` // most hits of one document; default 0: any number
	Collapse       float64 `json:"collapse" range:"[0,1]"`             // 0 to 1: a passage that shares this part of its phrases with a better one is left out; default 0: none is; 0.9: near-duplicates, 1: the same words
	Neighbours     int     `json:"neighbours" range:"[0,100]"`         // passages given with a hit from before and behind it; default 0
	Parent         bool    `json:"parent"`                             // give the section of a hit with it; default false
	Highlight      *bool   `json:"highlight"`                          // tell where words of the query stand in a hit; default true

	RewriteMS int `json:"rewrite_timeout_ms" range:"[1,86400000]"` // longest that one query transform may take; default 10,000
}

// AnswerConfig sets how a question is answered from the passages found. The prompts are templates (text/template) over
// [PromptData]; each may stand in a file instead, whose path is relative to the working directory.
type AnswerConfig struct {
	Passages      int     `json:"passages" range:"[1,1000]"`           // passages that an answer is made from at most; default 8
	ContextTokens int     `json:"context_tokens" range:"[1,10000000]"` // tokens of them that a chat model is shown at most; default 3000
	Sentences     int     `json:"sentences" range:"[1,100]"`           // sentences of an extractive answer at most; default 3
	MaxTokens     int     `json:"max_tokens" range:"[1,10000000]"`     // longest reply of the chat model, in tokens; default 1024
	TimeoutMS     int     `json:"timeout_ms" range:"[1,86400000]"`     // longest the chat model may take; after that sentences of the sources are the answer; default 60,000
	RefuseBelow   float64 `json:"refuse_below" range:"[-1,1] but 0"`   // confidence, 0 to 1, below which there is no answer; default 0.4; below 0: every question is answered
	ReliableFrom  float64 `json:"reliable_from" range:"(0,1]"`         // confidence, 0 to 1, from which on an answer can be reliable; default 0.75
	System        string  `json:"system"`                              // template of the system message; "": the built-in one
	SystemFile    string  `json:"system_file"`                         // or the file it is in
	Prompt        string  `json:"prompt"`                              // template of the message with question and sources; "": the built-in one
	PromptFile    string  `json:"prompt_file"`                         // or the file it is in
}

// IngestConfig bounds an ingest. What goes beyond max_pages, max_images or max_chunks is left out of the document, whose
// state is then partial, with a warning; what goes beyond the others makes the source fail. Each but workers is at least 1.
type IngestConfig struct {
	Workers           int   `json:"workers" range:"[0,1024]"`                     // sources read at once; 0: GOMAXPROCS
	MaxSourceBytes    int64 `json:"max_source_bytes" range:"[1,1099511627776]"`   // of a source; default 64 MiB
	MaxUnpackedBytes  int64 `json:"max_unpacked_bytes" range:"[1,1099511627776]"` // of the parts of a packed source, such as a Word file, unless its loader's settings say otherwise; default 512 MiB
	MaxPages          int   `json:"max_pages" range:"[1,1000000000]"`             // of a document; default 10,000
	MaxImages         int   `json:"max_images" range:"[1,1000000000]"`            // pictures of a document; default 1,000
	MaxChunks         int   `json:"max_chunks" range:"[1,1000000000]"`            // passages of a document; default 50,000
	DocumentTimeoutMS int   `json:"document_timeout_ms" range:"[1,86400000]"`     // longest that reading, splitting and transforming a source may take; default 600,000 (10 minutes)
	WatchQuietMS      int   `json:"watch_quiet_ms" range:"[1,86400000]"`          // of a watch: how long nothing must have changed before a pass; default 500
	WatchMaxMS        int   `json:"watch_max_ms" range:"[1,86400000]"`            // of a watch: longest that a pass waits while changes go on; default 5000
}

// DefaultConfig returns the configuration of an engine opened without options.
func DefaultConfig() Config {
	return Config{
		Collection:  "default",
		Catalog:     ProviderConfig{Provider: "bolt"},
		OCR:         ProviderConfig{Provider: None},
		Splitter:    ProviderConfig{Provider: "recursive"},
		Transforms:  []ProviderConfig{{Provider: "context"}},
		Embedder:    ProviderConfig{Provider: "local"},
		EmbedCache:  ProviderConfig{Provider: "file"},
		VectorStore: ProviderConfig{Provider: "hnsw"},
		SparseIndex: ProviderConfig{Provider: "bm25"},
		Fusion:      ProviderConfig{Provider: "rrf"},
		Rerank:      ProviderConfig{Provider: None},
		LLM:         ProviderConfig{Provider: None},
		VisionLLM:   ProviderConfig{Provider: None},

		QueryTransforms: []ProviderConfig{},

		Verifier: ProviderConfig{Provider: "overlap"},
		Answer: AnswerConfig{
			Passages: 8, ContextTokens: 3000, Sentences: 3, MaxTokens: 1024, TimeoutMS: 60_000, RefuseBelow: 0.4, ReliableFrom: 0.75,
		},
		Retrieval: RetrievalConfig{
			TopK: 10, DenseTopK: 100, SparseTopK: 100, FusionTopK: 50,
			EnableDense: new(true), EnableSparse: new(true), DenseWeight: 0.7, SparseWeight: 1,
			RerankTopN: 20, RerankMS: 2000, RerankWeight: 1, RewriteMS: 10_000,
			Highlight: new(true),
		},
		Ingest: IngestConfig{
			MaxSourceBytes: 64 << 20, MaxUnpackedBytes: 512 << 20,
			MaxPages: 10_000, MaxImages: 1000, MaxChunks: 50_000, DocumentTimeoutMS: 600_000,
			WatchQuietMS: 500, WatchMaxMS: 5000,
		},
		Trace: ProviderConfig{Provider: "jsonl"},
	}
}
