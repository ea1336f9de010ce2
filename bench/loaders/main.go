// Loaders reads the shared documents with our loaders and with the tools that people use instead, and prints how much
// of the text each finds, in which order, and at what cost.
//
//	go build -o loaders ./bench/loaders
//	./loaders -docs ../shared/data/docs -python VENV/bin/python pdf
//
// Tools that are not installed are named and left out. The pages of bench/loaders.md are this program's output.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// bench is what the comparisons share.
type bench struct {
	docs    string // folder of the documents, one folder a format
	python  string // Python with the peers
	rounds  int    // how often each file is read for its time; the least counts
	only    string // part of the names of the files to read; "": all
	loaders *rag.Loaders
}

// comparisons by format.
var comparisons = map[string]func(context.Context, *bench) error{
	"pdf":  comparePDF,
	"docx": compareDOCX,
	"html": compareHTML,
}

func main() {
	b := bench{}
	flag.StringVar(&b.docs, "docs", "", "folder of the shared documents")
	flag.StringVar(&b.python, "python", "python3", "Python with the peers")
	flag.IntVar(&b.rounds, "rounds", 3, "how often each file is read for its time; the least counts")
	flag.StringVar(&b.only, "only", "", "read only files whose name holds this")
	flag.Parse()
	if err := b.run(context.Background(), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "loaders:", err)
		os.Exit(1)
	}
}

func (b *bench) run(ctx context.Context, formats []string) error {
	loaders, err := rag.NewLoaders(rag.DefaultConfig())
	if err != nil {
		return err
	}
	b.loaders = loaders
	for _, f := range formats {
		compare, ok := comparisons[f]
		if !ok {
			return fmt.Errorf("no comparison for %q", f)
		}
		if err := compare(ctx, b); err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
	}
	return nil
}

// files returns the documents of a format, sorted.
func (b *bench) files(folder, ext string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(b.docs, folder, "*"+ext))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no *%s in %s", ext, filepath.Join(b.docs, folder))
	}
	return slices.DeleteFunc(paths, func(p string) bool { return !strings.Contains(filepath.Base(p), b.only) }), nil
}

// load reads a file as the engine would.
func (b *bench) load(ctx context.Context, path string) (rag.Document, error) {
	for src, err := range rag.Files(path).All {
		if err != nil {
			return rag.Document{}, err
		}
		docs, _, err := b.loaders.Load(ctx, src)
		if err != nil {
			return rag.Document{}, err
		}
		return docs[0], nil
	}
	return rag.Document{}, fmt.Errorf("no file %s", path)
}
