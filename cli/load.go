package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
)

func newLoad(a *app) *cobra.Command {
	var ocr bool
	cmd := &cobra.Command{
		Use:   "load FILE",
		Short: "Show what a reader makes of a file, and store nothing",
		Long: `load reads a file as ingest would and prints what it finds: title, text, outline, pages, and what was lost. It needs no
data folder and stores nothing.`,
		Example: examples("rag load report.pdf", "rag load report.pdf --json"),
		Args:    exactly(1, "a file"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.load(cmd.Context(), args[0], ocr) },
	}
	addOCR(cmd, &ocr)
	return cmd
}

// loadJSON is what load prints.
type loadJSON struct {
	URI       string     `json:"uri"`
	Loader    string     `json:"loader"`
	Documents []document `json:"documents"`
}

func (a *app) load(ctx context.Context, path string, ocr bool) error {
	loaded, err := a.settings()
	if err != nil {
		return err
	}
	if ocr {
		ocrChange(&loaded.Config)
	}
	loaders, err := rag.NewLoaders(loaded.Config)
	if err != nil {
		return err
	}
	for src, err := range rag.Files(path).All {
		if err != nil {
			return fmt.Errorf("load %s: %w", visible(path), err)
		}
		docs, loader, err := loaders.Load(ctx, src)
		if err != nil {
			return fmt.Errorf("load %s: %w", visible(path), err)
		}
		return a.printLoaded(src.URI, loader, docs)
	}
	return nil
}

func (a *app) printLoaded(uri, loader string, docs []rag.Document) error {
	if a.json {
		out := loadJSON{URI: uri, Loader: loader}
		for i := range docs {
			out.Documents = append(out.Documents, toDocument(&docs[i]))
		}
		return a.printJSON(out)
	}
	for i := range docs {
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		a.printDocument(place(docs[i].URI)+" · read by "+loader, &docs[i])
		a.printPictures(toPictures(docs[i].Images, nil, nil))
		fmt.Fprintln(a.out)
		fmt.Fprintln(a.out, strings.TrimRight(visibleText(docs[i].Text), "\n"))
	}
	return nil
}
