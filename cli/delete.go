package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
)

func newDelete(a *app) *cobra.Command {
	var all, yes bool
	var filters []string
	cmd := &cobra.Command{
		Use:   "delete FILE|FOLDER|URI... | --filter TEXT | --all",
		Short: "Remove documents, or a whole collection",
		Long: `delete removes documents from a collection, with their passages and pictures. A file is named by its path, also when it
is gone from the disk; what is not a file by its URI, as list --documents --json shows it. A folder, or a name that ends in a slash, means
every document below it. With --filter go the documents whose own metadata match, of those that are named or of all. Of a file that gave several documents
all go; one of them alone is named as it is listed, with # and its number (mail.eml#2), and comes back with the next version of the file that an
ingest reads. What a manifest said of a document goes with it, also where an ingest with --prune removed the document before. With --all the whole collection goes.`,
		Example: examples("rag delete docs/old.md", "rag delete docs/archive/", "rag delete --filter 'year < 2020'", "rag delete --all --yes"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case all && len(args)+len(filters) > 0:
				return usagef(cmd, "name documents or give --all, not both")
			case !all && len(args)+len(filters) == 0:
				return usagef(cmd, "no document named; --all deletes the whole collection")
			case all && !yes:
				if err := a.confirm(cmd); err != nil {
					return err
				}
			}
			filter, err := parseFilters(filters)
			if err != nil {
				return usagef(cmd, "%v", err)
			}
			if len(filters) > 0 && filter.IsZero() {
				return usagef(cmd, "the filter matches everything; --all deletes the whole collection")
			}
			req := rag.DeleteRequest{Collection: a.collection, Filter: filter, All: all}
			for _, name := range args {
				uri, err := toURI(name)
				if err != nil {
					return err
				}
				if isFolder(name) {
					uri = strings.TrimSuffix(uri, "/") + "/"
				}
				req.URIs = append(req.URIs, uri)
			}
			return a.delete(cmd.Context(), req)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringArrayVarP(&filters, "filter", "f", nil, "delete only documents whose metadata match; may come several times, all must hold")
	cmd.Flags().BoolVar(&all, "all", false, "delete the whole collection")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// confirm asks before everything is deleted. Where nobody can answer, --yes must.
func (a *app) confirm(cmd *cobra.Command) error {
	_, tty := terminal(a.in)
	if !tty || a.json {
		return usagef(cmd, "--all deletes a whole collection: add --yes")
	}
	name := a.collection
	if name == "" {
		loaded, err := a.settings()
		if err != nil {
			return err
		}
		name = loaded.Config.Collection
	}
	fmt.Fprintf(a.err, "delete the whole collection %s in %s? [y/N] ", visible(name), visible(a.dataDir()))
	answer, err := bufio.NewReader(a.in).ReadString('\n')
	if err != nil || !strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "y") {
		return errors.New("nothing was deleted")
	}
	return nil
}

func (a *app) delete(ctx context.Context, req rag.DeleteRequest) error {
	return a.withExistingData(ctx, func(eng *rag.Engine) error {
		report, err := eng.Delete(ctx, req)
		if report == nil || err != nil && !errors.Is(err, rag.ErrPartial) {
			return err
		}
		if err := a.present(report, func() { a.printDelete(req, report) }); err != nil {
			return err
		}
		switch {
		case err == nil && len(report.NotFound) == 0: // a filter that nothing matches is no failure
			return nil
		case report.Documents+report.Forgotten == 0:
			return &reported{exitFailed}
		}
		return &reported{exitPartial}
	})
}

// printDelete writes what a delete did for a reader.
func (a *app) printDelete(req rag.DeleteRequest, r *rag.DeleteReport) {
	p := a.paint(a.out)
	fmt.Fprintf(a.out, "%s: %s and %s deleted, and %s that nothing else shows\n", p.bold("collection "+visible(r.Collection)), count(r.Documents, "document"), count(r.Chunks, "passage"), count(r.Images, "picture"))
	if r.Forgotten > 0 {
		fmt.Fprintf(a.out, "forgotten what was remembered of %s gone before\n", count(r.Forgotten, "file"))
	}
	for _, uri := range req.URIs {
		if source := rag.SourceURI(uri); source != uri && !slices.Contains(r.NotFound, uri) {
			fmt.Fprintf(a.out, "%s is one of several documents of %s: the others stay, and it comes back with the next version of the file that an ingest reads\n", place(uri), place(source))
		}
	}
	for _, uri := range r.NotFound {
		fmt.Fprintf(a.out, "%s %s\n", p.yellow("not in the collection:"), place(uri))
	}
	for _, f := range r.Failed {
		fmt.Fprintf(a.out, "%s the %s index may still have %s, which no search shows: %s; the next ingest or `rag verify --repair` removes them\n", p.red("failed"), f.Index, count(f.Chunks, "passage"), visible(f.Error))
	}
}
