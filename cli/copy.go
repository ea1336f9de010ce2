package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/config"
)

type copyFlags struct {
	from, to          string
	otherWords, prune bool
	compareFlags
}

// compareFlags say how two stores are compared.
type compareFlags struct {
	samples int
	overlap float64
}

func newCopy(a *app) *cobra.Command {
	var f copyFlags
	cmd := &cobra.Command{
		Use:   "copy",
		Short: "Copy a collection to another data folder or engine, without embedding it again",
		Long: `copy takes a collection with documents, passages, pictures, metadata and vectors to another store, which may use other
providers: a data folder, or what a configuration file names (DIR|CONFIG: a folder with its rag.yaml, or a configuration file,
whose data folder is the one it lies in). Nothing is read, split or embedded again; words are indexed anew. A copy that
was cut short is finished by the next. In the end both are compared, as verify --against does it over ten passages a question,
and the exit code is 1 if they differ. Another embedder is refused: use export and import, which embeds anew.`,
		Example: examples("rag copy --to /home/me/kb2", "rag copy --from .rag --to postgres/rag.yaml --collection handbook --other-words"),
		Args:    exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.to == "" {
				return usagef(cmd, "--to is missing: name a data folder or a configuration file")
			}
			return a.copy(cmd.Context(), &f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.from, "from", "", "store to read: data folder or configuration file (default: the data folder)")
	flags.StringVar(&f.to, "to", "", "store to write: data folder or configuration file")
	flags.BoolVar(&f.otherWords, "other-words", false, "allow another word index: words will rank otherwise")
	flags.BoolVar(&f.prune, "prune", false, "remove documents that the store read from does not have")
	f.add(cmd, "--from and --to")
	return cmd
}

func (f *compareFlags) add(cmd *cobra.Command, of string) {
	cmd.Flags().IntVar(&f.samples, "samples", 50, "questions, made of passages, by which "+of+" are compared")
	cmd.Flags().Float64Var(&f.overlap, "overlap", 0.90, "least mean overlap of the first passages (Jaccard, 0 to 1)")
}

// copyCompared is how many passages of each question a copy is compared by.
const copyCompared = 10

func (a *app) copy(ctx context.Context, f *copyFlags) (err error) {
	if f.from == "" {
		f.from = a.dataDir()
	}
	from, err := a.openExisting(f.from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := a.openStore(f.to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	bar := a.progress()
	r, err := to.Copy(ctx, rag.CopyRequest{
		From: from, Collection: a.collection, OtherWords: f.otherWords, Prune: f.prune, Progress: bar.step,
		Compare: &rag.CompareRequest{K: copyCompared, Samples: f.samples, Overlap: f.overlap},
	})
	bar.clear()
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("what was copied stays, and the next copy goes on: %w", err)
	}
	if err != nil {
		return err
	}
	if err := a.present(r, func() {
		fmt.Fprintf(a.out, "%s: %s copied, %d unchanged, %d removed; %s, %s, %s; %.1f s\n", a.paint(a.out).bold("collection "+visible(r.Collection)),
			count(r.Copied, "document"), r.Unchanged, r.Removed, count(r.Chunks, "passage"), count(r.Vectors, "vector"), count(r.Images, "picture"), float64(r.ElapsedMS)/1000)
		a.printCompare(r.Check)
	}); err != nil {
		return err
	}
	if !r.Check.OK {
		return &reported{exitFailed}
	}
	return nil
}

// openStore opens the store that a data folder or a configuration file names.
func (a *app) openStore(where string, opts ...rag.Option) (*rag.Engine, error) {
	dir, loaded, err := a.storeSettings(where)
	if err == nil && dir == where { // a configuration file may lie anywhere
		err = rag.CheckDataDir(dir)
	}
	if err != nil {
		return nil, err
	}
	opts = append(opts, rag.WithConfig(loaded.Config), rag.WithSecrets(loaded.Secrets...))
	eng, err := rag.Open(dir, append(a.options(&loaded, a.logger()), opts...)...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", visible(where), loaded.Locate(err))
	}
	return eng, nil
}

// openExisting opens a store to read it: with --snapshot as it is now.
func (a *app) openExisting(where string) (*rag.Engine, error) {
	if _, err := os.Stat(where); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no data folder and no configuration file %s: %w", visible(where), rag.ErrNotFound)
	}
	var opts []rag.Option
	if a.snapshot {
		opts = append(opts, rag.WithSnapshot())
	}
	return a.openStore(where, opts...)
}

// storeSettings reads the configuration of a store: the file itself, else the rag.yaml in the folder, else what the command
// uses.
func (a *app) storeSettings(where string) (dir string, loaded config.Loaded, err error) {
	if st, err := os.Stat(where); err == nil && st.Mode().IsRegular() {
		loaded, err = a.loadConfig(where)
		return filepath.Dir(where), loaded, err
	}
	own := filepath.Join(where, config.FileName)
	if _, err := os.Stat(own); err == nil {
		loaded, err = a.loadConfig(own)
		return where, loaded, err
	}
	loaded, err = a.settings()
	return where, loaded, err
}

// against compares the data with another store.
func (a *app) against(ctx context.Context, eng *rag.Engine, where string, f *compareFlags) (err error) {
	other, err := a.openExisting(where)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, other.Close()) }()
	r, err := eng.Compare(ctx, rag.CompareRequest{With: other, Collection: a.collection, Samples: f.samples, Overlap: f.overlap})
	if err != nil {
		return err
	}
	if err := a.present(r, func() { a.printCompare(r) }); err != nil {
		return err
	}
	if !r.OK {
		return &reported{exitFailed}
	}
	return nil
}

// printCompare writes a comparison for a reader.
func (a *app) printCompare(r *rag.CompareReport) {
	p := a.paint(a.out)
	verdict := p.green("the same")
	if !r.OK {
		verdict = p.red("not the same")
	}
	fmt.Fprintf(a.out, "%s: %d and %d documents, %d and %d passages, %d and %d pictures\n", verdict,
		r.Documents[0], r.Documents[1], r.Chunks[0], r.Chunks[1], r.Images[0], r.Images[1])
	fmt.Fprintf(a.out, "overlap@%d %.3f over %s, at least %.2f\n", r.K, r.Overlap, count(r.Asked, "question"), r.Least)
	for _, list := range []struct {
		what string
		uris []string
	}{{"only in the other", r.Missing}, {"only here", r.Extra}, {"different", r.Different}} {
		for i, uri := range list.uris {
			if i == shownGaps {
				fmt.Fprintf(a.out, "  … and more; --json has the first 100\n")
				break
			}
			fmt.Fprintf(a.out, "  %s: %s\n", list.what, visible(place(uri)))
		}
	}
	for _, w := range r.Worst {
		fmt.Fprintf(a.out, "  overlap %.2f: %s\n", w.Overlap, visible(w.Question))
	}
}
