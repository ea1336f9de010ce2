// Command rag with another stack behind it: vectors in the graph of github.com/coder/hnsw over bbolt, embeddings and a
// cross-encoder through hugot, PDF through unipdf, Word files through nguyenthenguyen/docx, Markdown through goldmark. rag.yaml
// chooses them; what no package of these does (words, fusion, passages, traces) is the project's own.
package main

import (
	_ "github.com/seed-d8745b77/rag/catalog"               // bbolt
	_ "github.com/seed-d8745b77/rag/embed"                 // the cache of vectors
	_ "github.com/seed-d8745b77/rag/embed/hugot"           // ONNX models that embed
	_ "github.com/seed-d8745b77/rag/fusion"                //
	_ "github.com/seed-d8745b77/rag/loader"                // goldmark
	_ "github.com/seed-d8745b77/rag/loader/nguyendocx"     // nguyenthenguyen/docx
	_ "github.com/seed-d8745b77/rag/loader/unipdf"         // unipdf
	_ "github.com/seed-d8745b77/rag/rerank/hugot"          // ONNX models that rerank
	_ "github.com/seed-d8745b77/rag/rewrite"               //
	_ "github.com/seed-d8745b77/rag/sparse"                //
	_ "github.com/seed-d8745b77/rag/splitter"              //
	_ "github.com/seed-d8745b77/rag/trace"                 //
	_ "github.com/seed-d8745b77/rag/transform"             //
	_ "github.com/seed-d8745b77/rag/vectorstore/coderhnsw" // coder/hnsw over records in bbolt
	_ "github.com/seed-d8745b77/rag/verify"                //

	"github.com/seed-d8745b77/rag/cli"
)

func main() { cli.Main() }
