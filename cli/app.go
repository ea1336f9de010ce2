package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
)

// streams are what a run reads from and writes to.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// app is one run of the command: its streams and the flags that all verbs share.
type app struct {
	streams
	secrets    *secrets      // which no message tells
	dir        string        // data folder
	collection string        // "": the configured one
	configFile string        // "": looked for
	snapshot   bool          // read the data as they are now, though another process may write
	wait       time.Duration // for another process that has the data open
	json       bool
	verbose    bool
	noColor    bool
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, std streams) (code int) {
	a := &app{streams: std, secrets: &secrets{}}
	a.err = hiding{std.err, a.secrets}
	defer func() {
		if p := recover(); p != nil {
			if a.verbose {
				fmt.Fprintf(a.err, "%s\n", debug.Stack())
			}
			code = a.fail(fmt.Errorf("internal error, please report it: %v", p))
		}
	}()
	root := newRoot(a)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("interrupted: %w", err)
	}
	a.json = a.json || slices.Contains(args, "--json") // the flags before it may not have been read
	return a.fail(err)
}

// fail tells the user about an error, unless the verb has, and returns the exit code.
func (a *app) fail(err error) int {
	if err == nil {
		return exitDone
	}
	_, code := classify(err)
	var done *reported
	if errors.As(err, &done) {
		return code
	}
	if a.json {
		if err := a.printJSON(a.errorJSON(err)); err != nil {
			fmt.Fprintf(a.err, "rag: %v\n", err)
		}
		return code
	}
	p := a.paint(a.err)
	fmt.Fprintf(a.err, "%s %s\n", p.red("rag:"), visibleText(message(err.Error())))
	var usage *usageError
	if errors.As(err, &usage) {
		fmt.Fprintf(a.err, "%s\n", p.dim("`"+usage.command+" --help` shows the usage"))
	}
	if code == exitLocked {
		fmt.Fprintf(a.err, "%s\n", p.dim("--wait 1m waits for it, --snapshot reads beside it"))
	}
	return code
}

// note tells the user something that is no error, on the error stream.
func (a *app) note(format string, args ...any) {
	fmt.Fprintf(a.err, "%s %s\n", a.paint(a.err).yellow("note:"), visible(fmt.Sprintf(format, args...)))
}

// noteLess tells the user where less was done than was asked.
func (a *app) noteLess(notes []rag.Note) {
	for _, n := range notes {
		a.note("%s: %s", n.Stage, n.Reason)
	}
}

// newRoot assembles the command.
func newRoot(a *app) *cobra.Command {
	cobra.EnableCommandSorting = false // in the order of use
	root := &cobra.Command{
		Use:     "rag",
		Version: version(),
		Short:   "Find passages in your own files, and answer questions from them",
		Long: `rag reads PDF, Word, PowerPoint, Excel, HTML, Markdown, EPUB, mail, tables, JSON, code and text into a data folder,
finds passages in them, by meaning and by words at once, and answers questions from them, with sources. It needs no
service, no key and no download.`,
		Example:       examples("rag ask --path docs \"how long is the notice period?\"", "rag ingest docs", "rag search \"what is the meal allowance abroad?\" --top-k 3"),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	a.requireVerb(root)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return notNegative(cmd) }
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usagef(cmd, "%s", flagMessage(err)) })
	f := root.PersistentFlags()
	f.SortFlags = false
	f.StringVar(&a.dir, "dir", "", "data folder (default $RAG_DIR, else .rag in the working directory)")
	f.StringVarP(&a.collection, "collection", "c", "", "collection (default: the configured one, \"default\")")
	f.StringVar(&a.configFile, "config", "", "configuration file (default: rag.yaml in the data folder, else in the working directory)")
	f.BoolVar(&a.snapshot, "snapshot", false, "only read, and that as the data are now: also while another process writes")
	f.DurationVar(&a.wait, "wait", 0, "how long to wait for another process that has the data folder open")
	f.BoolVar(&a.json, "json", false, "print one JSON object and nothing else")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "say what is being done; with search, print each stage's list")
	f.BoolVar(&a.noColor, "no-color", false, "no colour, also on a terminal (as does NO_COLOR)")
	root.AddCommand(
		newInit(a), newIngest(a), newWorker(a), newQueue(a), newSearch(a), newAsk(a), newChat(a), newCalibrate(a), newDelete(a), newList(a), newShow(a), newLoad(a), newVerify(a), newReindex(a),
		newCompact(a), newBackup(a), newRestore(a), newExport(a), newImport(a), newCopy(a),
		newExplain(a), newTrace(a), newEval(a), newExperiment(a), newTune(a), newServe(a), newDashboard(a), newConfig(a), newModels(a), newVersion(a), newMan(root), newHelpAll(root),
	)
	root.SetIn(a.in)
	root.SetOut(a.out) // before the commands of completion are made: they keep it
	root.SetErr(a.err)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	_ = root.MarkPersistentFlagDirname("dir")                    // both are flags of this command:
	_ = root.MarkPersistentFlagFilename("config", "yaml", "yml") // there is no error
	return root
}

// requireVerb makes a command that only holds verbs say so when none, or an unknown one, is given.
func (a *app) requireVerb(cmd *cobra.Command) {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		hint := ""
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			hint = fmt.Sprintf(", did you mean %q?", near[0])
		}
		return usagef(cmd, "unknown command %q%s", args[0], hint)
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if a.json {
			return usagef(cmd, "no command given")
		}
		if err := cmd.Help(); err != nil {
			return err
		}
		return &reported{exitUsage}
	}
}
