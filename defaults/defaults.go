// Package defaults links the built-in providers into a program:
//
//	import _ "github.com/seed-d8745b77/rag/defaults"
//
// It registers the local catalog and indexes, the loaders for PDF and what package loader reads, the splitters, the
// fusers, the trace sink, the embedding cache, the rerankers, the query transformers, the verifiers, what reads the domains of collections, and the local embedder with its
// built-in model (about 23 MB of the binary). A program that wants fewer imports the rooms it needs instead.
package defaults

import (
	// Each room registers its providers when it is imported.
	_ "github.com/seed-d8745b77/rag/catalog"
	_ "github.com/seed-d8745b77/rag/domain"
	_ "github.com/seed-d8745b77/rag/embed"
	_ "github.com/seed-d8745b77/rag/embed/local"
	_ "github.com/seed-d8745b77/rag/fusion"
	_ "github.com/seed-d8745b77/rag/llm"
	_ "github.com/seed-d8745b77/rag/loader"
	_ "github.com/seed-d8745b77/rag/loader/ocr"
	_ "github.com/seed-d8745b77/rag/loader/pdf"
	_ "github.com/seed-d8745b77/rag/rerank"
	_ "github.com/seed-d8745b77/rag/rerank/local"
	_ "github.com/seed-d8745b77/rag/rewrite"
	_ "github.com/seed-d8745b77/rag/sparse"
	_ "github.com/seed-d8745b77/rag/splitter"
	_ "github.com/seed-d8745b77/rag/trace"
	_ "github.com/seed-d8745b77/rag/transform"
	_ "github.com/seed-d8745b77/rag/vectorstore"
	_ "github.com/seed-d8745b77/rag/vectorstore/chroma"
	_ "github.com/seed-d8745b77/rag/vectorstore/weaviate"
	_ "github.com/seed-d8745b77/rag/verify"
)
