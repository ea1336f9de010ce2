package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
)

func newList(a *app) *cobra.Command {
	var documents bool
	cmd := &cobra.Command{
		Use:       "list [collections|documents]",
		Short:     "List the collections, or the documents of one",
		Long:      `list shows the collections of the data folder, or with documents (or --documents) what is in one of them.`,
		Example:   examples("rag list", "rag list documents --collection default"),
		ValidArgs: []string{"collections", "documents"},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return usagef(cmd, "too many arguments: %q", args[1])
			case len(args) == 1 && args[0] == "documents":
				documents = true
			case len(args) == 1 && args[0] != "collections":
				return usagef(cmd, "list %q: there are collections and documents to list", args[0])
			}
			return a.withExistingData(cmd.Context(), func(eng *rag.Engine) error {
				if documents {
					return a.listDocuments(cmd.Context(), eng)
				}
				return a.listCollections(cmd.Context(), eng)
			})
		},
	}
	cmd.Flags().BoolVarP(&documents, "documents", "d", false, "list documents")
	return cmd
}

// collectionJSON is a collection as list prints it.
type collectionJSON struct {
	Name       string     `json:"name"`
	Documents  int        `json:"documents"`
	Chunks     int        `json:"chunks"`
	Embedder   *string    `json:"embedder"`
	Dims       int        `json:"dims"`
	Sparse     string     `json:"sparse"`
	Created    time.Time  `json:"created"`
	Updated    *time.Time `json:"updated"`
	Unfinished bool       `json:"unfinished"`
	Recall     *float64   `json:"recall"` // of the vectors, as last measured; null: they are searched exactly, or there are none
}

func (a *app) listCollections(ctx context.Context, eng *rag.Engine) error {
	infos, err := eng.Collections(ctx)
	if err != nil {
		return err
	}
	out := make([]collectionJSON, len(infos))
	t := newTable("collection", "documents", "passages", "updated", "recall", "embedder").numbers(1, 2, 4)
	for i, c := range infos {
		h := c.Header
		out[i] = collectionJSON{
			Name: c.Name, Documents: c.Documents, Chunks: c.Chunks, Dims: h.Dims, Sparse: h.Sparse,
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
		measured := ""
		if recall.Sampled > 0 {
			measured, out[i].Recall = strconv.FormatFloat(recall.Value, 'f', 3, 64), &recall.Value
		} else if h.Embedder != "" {
			measured = "exact"
		}
		name := visible(c.Name)
		if h.Dirty {
			name += " (unfinished)"
		}
		t.add(name, strconv.Itoa(c.Documents), strconv.Itoa(c.Chunks), when(c.Updated), measured, visible(embedder))
	}
	if a.json {
		return a.printJSON(struct {
			Collections []collectionJSON `json:"collections"`
		}{out})
	}
	t.print(a.out, a.paint(a.out), "")
	return nil
}

// documentJSON is a document's line in the catalog as list prints it.
type documentJSON struct {
	URI      string    `json:"uri"`
	DocID    string    `json:"doc_id"`
	Title    string    `json:"title"`
	State    string    `json:"state"`
	Language string    `json:"language"`
	Bytes    int64     `json:"bytes"`
	Digest   string    `json:"digest"`
	Chunks   int       `json:"chunks"`
	Images   int       `json:"images"`
	Ingested time.Time `json:"ingested"`
	Warnings []warning `json:"warnings"`
	Meta     rag.Meta  `json:"meta"`
}

func (a *app) listDocuments(ctx context.Context, eng *rag.Engine) error {
	docs := []documentJSON{}
	t := newTable("document", "state", "passages", "size", "ingested", "title").numbers(2, 3)
	for e, err := range eng.Documents(ctx, a.collection) {
		if err != nil {
			return err
		}
		docs = append(docs, documentJSON{
			URI: e.URI, DocID: e.DocID, Title: e.Title, State: e.State, Language: e.Language, Bytes: e.Size,
			Digest: hex.EncodeToString(e.Digest[:]), Chunks: len(e.Chunks), Images: e.Images, Ingested: e.Ingested,
			Warnings: warnings(e.Warnings), Meta: meta(e.Meta),
		})
		t.add(place(e.URI), e.State, strconv.Itoa(len(e.Chunks)), size(e.Size), when(e.Ingested), oneLine(e.Title, titleWidth))
	}
	name := a.collection
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
