// Command course is the command rag with one more model built in: multilingual-e5-small, for eight languages.
//
//	go install ./examples/course
//	COURSE_EMBEDDER=multilingual course ingest docs --domain course.yaml --dir multilingual
package main

import (
	"github.com/seed-d8745b77/rag/cli"
	_ "github.com/seed-d8745b77/rag/defaults"
	_ "github.com/seed-d8745b77/rag/embed/local/multilingual" // provider "multilingual"
)

func main() { cli.Main() }
