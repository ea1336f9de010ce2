package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/config"
	"github.com/seed-d8745b77/rag/internal/madedir"
)

// dataDir returns the data folder: --dir, else RAG_DIR, else .rag in the working directory.
func (a *app) dataDir() string {
	if a.dir != "" {
		return a.dir
	}
	if dir := os.Getenv("RAG_DIR"); dir != "" {
		return dir
	}
	return ".rag"
}

// settings reads the configuration: the file named by --config, else rag.yaml in the data folder or the working
// directory, else the defaults.
func (a *app) settings() (config.Loaded, error) {
	path := a.configFile
	if path == "" {
		path = config.Find(a.dataDir())
	}
	return a.loadConfig(path)
}

// loadConfig reads a configuration, and keeps its secrets out of all messages.
func (a *app) loadConfig(path string) (config.Loaded, error) {
	loaded, err := config.Load(path)
	if err == nil {
		a.secrets.addFrom(loaded)
	}
	return loaded, err
}

// change alters the configuration of one run: what a flag of a verb says.
type change func(*rag.Config)

// withData opens the engine over the data folder, which is made if there is none, or over a snapshot of it, and closes it
// after use.
func (a *app) withData(use func(*rag.Engine) error, changes ...change) error {
	var opts []rag.Option
	if a.snapshot {
		opts = append(opts, rag.WithSnapshot())
	}
	return a.withDataIn(a.dataDir(), use, changes, opts...)
}

// withDataToFill is withData for verbs that store: a data folder that they had to make, and then stored nothing in because they
// failed, goes again.
func (a *app) withDataToFill(ctx context.Context, use func(*rag.Engine) error, changes ...change) error {
	made := madedir.Look(a.dataDir())
	if len(made) == 0 || a.snapshot {
		return a.withData(use, changes...)
	}
	kept := false
	err := a.withData(func(eng *rag.Engine) error {
		err := use(eng)
		if err == nil {
			return nil
		}
		have, unknown := eng.Collections(context.WithoutCancel(ctx))
		if len(have) == 0 && unknown == nil {
			kept = made.Undo() != nil // while it is locked: nobody else has stored anything
		}
		return err
	}, changes...)
	if kept { // where open files cannot be removed; those of others cannot either
		_ = made.Undo()
	}
	return err
}

// options are what every engine of the command gets, besides its configuration.
func (a *app) options(loaded *config.Loaded, log *slog.Logger) []rag.Option {
	return []rag.Option{rag.WithLogger(log), rag.WithGetenv(a.secrets.noted(loaded.Getenv)), rag.WithLockWait(a.wait)}
}

func (a *app) withDataIn(dir string, use func(*rag.Engine) error, changes []change, opts ...rag.Option) (err error) {
	loaded, err := a.settings()
	if err != nil {
		return err
	}
	if !a.snapshot {
		if err := rag.CheckDataDir(dir); err != nil {
			return err
		}
	}
	c := loaded.Config
	for _, apply := range changes {
		apply(&c)
	}
	if len(changes) == 0 { // else the file does not say all that is in force
		defer func() { err = loaded.Locate(err) }()
	}
	opts = append(opts, rag.WithConfig(c), rag.WithSecrets(loaded.Secrets...))
	eng, err := rag.Open(dir, append(a.options(&loaded, a.logger()), opts...)...)
	if err != nil {
		return err
	}
	defer func() {
		if closed := eng.Close(); err == nil {
			err = closed
		}
	}()
	return use(eng)
}

// withExistingData is withData for verbs that only make sense after an ingest: it makes no folder.
func (a *app) withExistingData(ctx context.Context, use func(*rag.Engine) error, changes ...change) error {
	nothing := fmt.Errorf("nothing has been ingested into %s yet: run `rag ingest FOLDER` first, or `rag search --path FOLDER \"question\"`: %w",
		visible(a.dataDir()), rag.ErrNotFound)
	if _, err := os.Stat(a.dataDir()); errors.Is(err, fs.ErrNotExist) {
		if _, err := a.settings(); err != nil {
			return err
		}
		return nothing
	}
	return a.withData(func(eng *rag.Engine) error {
		have, err := eng.Collections(ctx)
		if err != nil {
			return err
		}
		if len(have) == 0 {
			return nothing
		}
		return use(eng)
	}, changes...)
}

// withScratchData opens an engine over a folder that is gone afterwards: for runs that must leave nothing behind.
func (a *app) withScratchData(use func(*rag.Engine) error, changes ...change) error {
	return inScratch(func(dir string) error { return a.withDataIn(dir, use, changes) })
}

// inScratch makes a folder and removes it after use.
func inScratch(use func(dir string) error) (err error) {
	dir, err := os.MkdirTemp("", "rag-scratch-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return use(dir)
}

// logger writes to the error stream: what went wrong and was got over, and with --verbose every step.
func (a *app) logger() *slog.Logger {
	level := slog.LevelWarn
	if a.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level}))
}

// exactly makes a command take n arguments, named in the usage error.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < n:
			return usagef(cmd, "missing argument: %s", what)
		case len(args) > n:
			return usagef(cmd, "too many arguments: %q", args[n])
		}
		return nil
	}
}

// fileToWrite makes a command take the file that it writes.
func fileToWrite(cmd *cobra.Command, args []string) error {
	if err := exactly(1, "the file to write")(cmd, args); err != nil {
		return err
	}
	return noDash(cmd, args[0])
}

// noDash refuses a file to write that other programs take for standard output.
func noDash(cmd *cobra.Command, file string) error {
	if file == "-" {
		return usagef(cmd, "- does not stand for standard output: name a file to write (./- is one of that name)")
	}
	return nil
}

// withIngested opens the data for a question, after an ingest where paths are named. What could not be ingested does not
// keep the rest from being asked: the exit code tells of it.
func (a *app) withIngested(ctx context.Context, f ingestFlags, use func(*rag.Engine) error, changes ...change) error {
	if len(f.paths) == 0 {
		return a.withExistingData(ctx, use, changes...)
	}
	req, err := a.request(f)
	if err != nil {
		return err
	}
	return a.withDataToFill(ctx, func(eng *rag.Engine) error {
		report, err := a.runIngest(ctx, eng, req)
		if err != nil && !errors.Is(err, rag.ErrPartial) {
			return err
		}
		a.printIngest(a.err, report)
		if err != nil && ingestCode(report) == exitFailed {
			first := report.Failed[0]
			return fmt.Errorf("nothing of --path could be ingested, the first failure: %s: %s: %w", place(first.URI), first.Stage, first.Err)
		}
		if used := use(eng); used != nil || err == nil {
			return used
		}
		return &reported{exitPartial}
	}, changes...)
}
