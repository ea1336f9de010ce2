package cli

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
)

func newList(a *app) *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:   "list [collections|documents]",
		Short: "List the collections, or the documents of one",
		Long: `list shows the collections of the data folder, or the one named by --collection; with documents (or --documents), what is in it. With --as-of, and
of collections with a domain that has dates, it tells what is in force, what needs review because it gives no date, and what is expired.`,
		Example:   examples("rag list", "rag list documents --collection default", "rag list --as-of 2026-03-01"),
		ValidArgs: []string{"collections", "documents"},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return usagef(cmd, "too many arguments: %q", args[1])
			case len(args) == 1 && args[0] == "documents":
				f.documents = true
			case len(args) == 1 && args[0] != "collections":
				return usagef(cmd, "list %q: there are collections and documents to list", args[0])
			}
			d, err := f.domain.load()
			if err != nil {
				return err
			}
			if _, err := date(cmd, f.asOf, d); err != nil { // before data is opened
				return err
			}
			return a.withExistingData(cmd.Context(), func(eng *rag.Engine) error {
				asOf := func(collection string) (time.Time, error) {
					d, err := f.domain.of(cmd.Context(), eng, collection)
					if err != nil {
						return time.Time{}, err
					}
					return date(cmd, f.asOf, d)
				}
				if !f.documents {
					return a.listCollections(cmd.Context(), eng, a.collection, asOf)
				}
				collection := a.collection
				if d != nil && collection == "" {
					collection = d.Collection
				}
				at, err := asOf(collection)
				if err != nil {
					return err
				}
				return a.listDocuments(cmd.Context(), eng, collection, at)
			})
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVarP(&f.documents, "documents", "d", false, "list documents")
	cmd.Flags().StringVar(&f.asOf, "as-of", "", "tell what is in force on this day (2026-12-31) or at this instant (RFC 3339)")
	f.domain.add(cmd, "its collection, its time zone, and today for --as-of")
	return cmd
}

type listFlags struct {
	documents bool
	asOf      string
	domain    domainFlag
}

// collectionJSON is a collection as list prints it.
type collectionJSON struct {
	Name       string            `json:"name"`
	Documents  int               `json:"documents"`
	Status     *rag.StatusCounts `json:"status"`
	Chunks     int               `json:"chunks"`
	Images     int               `json:"images"`
	Domain     *string           `json:"domain"` // that it remembers; null: none
	Embedder   *string           `json:"embedder"`
	Dims       int               `json:"dims"`
	Sparse     string            `json:"sparse"`
	Created    time.Time         `json:"created"`
	Updated    *time.Time        `json:"updated"`
	Unfinished bool              `json:"unfinished"`
	Recall     *float64          `json:"recall"` // of the vectors, as last measured; null: they are searched exactly, or there are none
}

// listCollections lists all collections, or the named one, each as of a time; the zero time tells no status.
func (a *app) listCollections(ctx context.Context, eng *rag.Engine, only string, asOf func(collection string) (time.Time, error)) error {
	infos, err := eng.Collections(ctx)
	if err != nil {
		return err
	}
	if only != "" {
		infos = slices.DeleteFunc(infos, func(c rag.CollectionInfo) bool { return c.Name != only })
		if len(infos) == 0 {
			return fmt.Errorf("no collection %q: `rag list` shows those that are there: %w", only, rag.ErrNotFound)
		}
	}
	out := make([]collectionJSON, len(infos))
	times := make([]time.Time, len(infos))
	for i, c := range infos {
		if times[i], err = asOf(c.Name); err != nil {
			return err
		}
	}
	dated := slices.ContainsFunc(times, func(t time.Time) bool { return !t.IsZero() })
	t := collectionTable(dated, slices.ContainsFunc(infos, func(c rag.CollectionInfo) bool { return c.Header.Domain != nil }))
	for i, c := range infos {
		h := c.Header
		out[i] = collectionJSON{
			Name: c.Name, Documents: c.Documents, Chunks: c.Chunks, Images: c.Images, Dims: h.Dims, Sparse: h.Sparse,
			Created: h.Created, Unfinished: h.Dirty,
		}
		if !c.Updated.IsZero() {
			out[i].Updated = &c.Updated
		}
		embedder := rag.None
		if h.Embedder != "" {
			embedder, out[i].Embedder = h.Embedder, &h.Embedder
		}
		recall, err := eng.Recall(ctx, c.Name)
		if err != nil {
			return err
		}
		measured := recallColumn(recall, h.Embedder)
		if recall.Sampled > 0 {
			out[i].Recall = &recall.Value
		}
		name := visible(c.Name)
		if h.Dirty {
			name += " (unfinished)"
		}
		row := []string{name, strconv.Itoa(c.Documents), strconv.Itoa(c.Chunks), strconv.Itoa(c.Images), when(c.Updated), measured, visible(embedder)}
		status := []string{"", "", ""}
		if !times[i].IsZero() {
			counts, err := eng.Statuses(ctx, c.Name, times[i])
			if err != nil {
				return err
			}
			out[i].Status = &counts
			status = []string{strconv.Itoa(counts.Current), strconv.Itoa(counts.NeedsReview), strconv.Itoa(counts.Expired)}
		}
		if dated {
			row = slices.Insert(row, 2, status...)
		}
		if h.Domain != nil {
			out[i].Domain = &h.Domain.Name
			row = append(row, visible(h.Domain.Name))
		}
		t.add(row...)
	}
	if a.json {
		return a.printJSON(struct {
			Collections []collectionJSON `json:"collections"`
		}{out})
	}
	t.print(a.out, a.paint(a.out), "")
	return nil
}

// recallColumn tells the recall of a collection's vectors: as measured, or that they are searched exactly.
func recallColumn(r rag.Recall, embedder string) string {
	switch {
	case r.Sampled > 0:
		return strconv.FormatFloat(r.Value, 'f', 3, 64)
	case embedder != "":
		return "exact"
	}
	return ""
}

// collectionTable has columns for what is in force, where some collections have dates, and for their domains, where some
// have one.
func collectionTable(dated, ruled bool) *table {
	head := []string{"collection", "documents", "passages", "pictures", "updated", "recall", "embedder"}
	numbers := []int{1, 2, 3, 5}
	if dated {
		head = slices.Insert(head, 2, "current", "needs review", "expired")
		numbers = []int{1, 2, 3, 4, 5, 6, 8}
	}
	if ruled {
		head = append(head, "domain")
	}
	return newTable(head...).numbers(numbers...)
}

// documentJSON is a document's line in the catalog as list prints it.
type documentJSON struct {
	URI      string    `json:"uri"`
	DocID    string    `json:"doc_id"`
	Title    string    `json:"title"`
	State    string    `json:"state"`
	Status   *string   `json:"status"`
	Language string    `json:"language"`
	Bytes    int64     `json:"bytes"`
	Digest   string    `json:"digest"`
	Chunks   int       `json:"chunks"`
	Images   int       `json:"images"`
	Ingested time.Time `json:"ingested"`
	Warnings []warning `json:"warnings"`
	Meta     rag.Meta  `json:"meta"`
}

func (a *app) listDocuments(ctx context.Context, eng *rag.Engine, collection string, asOf time.Time) error {
	docs := []documentJSON{}
	t := newTable("document", "state", "passages", "size", "ingested", "title").numbers(2, 3)
	for e, err := range eng.Documents(ctx, collection) {
		if err != nil {
			return err
		}
		docs = append(docs, documentJSON{
			URI: e.URI, DocID: e.DocID, Title: e.Title, State: e.State, Language: e.Language, Bytes: e.Size,
			Digest: hex.EncodeToString(e.Digest[:]), Chunks: len(e.Chunks), Images: e.Images, Ingested: e.Ingested,
			Warnings: warnings(e.Warnings), Meta: meta(e.Meta),
		})
		state := e.State
		if status := e.Validity.Status(asOf); status != "" {
			docs[len(docs)-1].Status = &status
			state += ", " + strings.ReplaceAll(status, "_", " ")
		}
		t.add(place(e.URI), state, strconv.Itoa(len(e.Chunks)), size(e.Size), when(e.Ingested), oneLine(e.Title, titleWidth))
	}
	name := collection
	if name == "" {
		name = eng.Config().Collection
	}
	if a.json {
		return a.printJSON(struct {
			Collection string         `json:"collection"`
			Documents  []documentJSON `json:"documents"`
		}{name, docs})
	}
	if len(docs) == 0 {
		fmt.Fprintf(a.out, "collection %s holds no documents\n", visible(name))
		return nil
	}
	t.print(a.out, a.paint(a.out), "")
	return nil
}

// titleWidth is how many columns of a title a table shows.
const titleWidth = 40
