// Command rag is the command rag with the providers named postgres: the catalog, the vectors and the words can be in a
// database, and `rag worker` shares a large ingest with other processes.
package main

import (
	"github.com/seed-d8745b77/rag/cli"
	_ "github.com/seed-d8745b77/rag/defaults"
	_ "github.com/seed-d8745b77/rag/postgres"
)

func main() { cli.Main() }
