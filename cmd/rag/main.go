// Command rag ingests files into a collection and searches it. `rag help` lists the verbs; docs/cli.md describes
// them, the exit codes and the JSON that each verb prints.
package main

import (
	"github.com/seed-d8745b77/rag/cli"
	_ "github.com/seed-d8745b77/rag/defaults"
)

func main() { cli.Main() }
