// Apidocs is the check after each build of the index: the exact store of this folder against its control, by five questions
// that never change. It prints how far their first five passages agree, and fails below nine tenths.
//
//	rag ingest docs && rag copy --to control && go run .
package main

import (
	"context"
	"fmt"
	"log"
	"path/filepath"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/config"
	_ "github.com/seed-d8745b77/rag/defaults"
)

// fixed are the questions: one for each kind of thing that people look up.
var fixed = []string{
	"tessera.linalg.solve",
	"join tensors along a new dimension",
	"what happens to padding tokens in the loss?",
	"repeat random numbers",
	"which types are promoted to float32?",
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	exact, err := open(config.FileName, ".rag")
	if err != nil {
		return err
	}
	defer exact.Close()
	control, err := open(filepath.Join("control", config.FileName), "control")
	if err != nil {
		return err
	}
	defer control.Close()

	report, err := exact.Compare(ctx, rag.CompareRequest{With: control, Questions: fixed, K: 5, Overlap: 0.90})
	if err != nil {
		return err
	}
	for _, gap := range report.Worst {
		fmt.Printf("%.2f  %s\n", gap.Overlap, gap.Question)
	}
	fmt.Printf("mean Jaccard of %d questions: %.2f\n", report.Asked, report.Overlap)
	if !report.OK {
		return fmt.Errorf("the stores differ: %d documents, overlap %.2f", report.Differing, report.Overlap)
	}
	return nil
}

func open(settings, folder string) (*rag.Engine, error) {
	loaded, err := config.Load(settings)
	if err != nil {
		return nil, err
	}
	return rag.Open(folder, rag.WithConfig(loaded.Config), rag.WithGetenv(loaded.Getenv))
}
