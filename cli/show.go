package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
)

func newShow(a *app) *cobra.Command {
	var images string
	cmd := &cobra.Command{
		Use:   "show FILE|URI|CHUNK_ID",
		Short: "Show a document with its passages, or one passage",
		Long: `show prints what the collection holds of a document: title, state, what was lost when it was read, its outline,
pictures with their captions, and passages. Of a passage, named by its ID as search prints it, it shows the text, its
place, its metadata and the pictures in it. With --images it writes the pictures to files.`,
		Example: examples("rag show docs/leave.md", "rag show 4f0a7c1be2d3985566778899", "rag show docs/leave.md --images pictures"),
		Args:    exactly(1, "a file, a URI or the ID of a passage"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withExistingData(cmd.Context(), func(eng *rag.Engine) error {
				return a.show(cmd.Context(), eng, args[0], images)
			})
		},
	}
	cmd.Flags().StringVar(&images, "images", "", "folder to write the pictures to; each file is named by its content")
	return cmd
}

// chunkID is the form of chunk IDs; see rag.ChunkID.
var chunkID = regexp.MustCompile(`^[0-9a-f]{24}$`)

func (a *app) show(ctx context.Context, eng *rag.Engine, name, images string) error {
	if chunkID.MatchString(name) {
		c, err := eng.Chunk(ctx, a.collection, name)
		if err == nil {
			return a.showPassage(ctx, eng, &c, images)
		}
		if !errors.Is(err, rag.ErrNotFound) {
			return err
		}
	}
	uri, err := toURI(name)
	if err != nil {
		return err
	}
	doc, err := eng.Document(ctx, a.collection, uri)
	if errors.Is(err, rag.ErrNotFound) {
		return fmt.Errorf("%s is neither a document nor a passage of the collection: `rag list documents` shows what there is: %w", visible(name), rag.ErrNotFound)
	}
	if err != nil {
		return err
	}
	var chunks []rag.Chunk
	for c, err := range eng.Chunks(ctx, a.collection, rag.Eq(rag.FieldURI, uri)) {
		if err != nil {
			return err
		}
		chunks = append(chunks, c)
	}
	files, err := writeIfAsked(images, doc.Images)
	if err != nil {
		return err
	}
	return a.showDocument(&doc, chunks, toPictures(doc.Images, chunks, files))
}

// showPassage reads the pictures of a passage and shows it with them.
func (a *app) showPassage(ctx context.Context, eng *rag.Engine, c *rag.Chunk, images string) (err error) {
	for i := range c.Images {
		m := &c.Images[i]
		if m.Data, err = eng.Image(ctx, a.collection, m.ID); err != nil && !errors.Is(err, rag.ErrNotFound) { // a loader may keep a picture without its bytes
			return err
		}
	}
	files, err := writeIfAsked(images, c.Images)
	if err != nil {
		return err
	}
	return a.showChunk(c, toPictures(c.Images, []rag.Chunk{*c}, files))
}

// writeIfAsked is writePictures if a folder is named.
func writeIfAsked(dir string, images []rag.Image) (map[string]string, error) {
	if dir == "" {
		return nil, nil
	}
	return writePictures(dir, images)
}

// storedDocument is a document as show prints it.
type storedDocument struct {
	document
	DocID  string      `json:"doc_id"`
	URI    string      `json:"uri"`
	Chunks []chunkJSON `json:"chunks"`
}

// placed names a picture of a document: one may stand in several places.
type placed struct {
	id     string
	offset int
}

// chunkJSON is a passage as show prints it.
type chunkJSON struct {
	ChunkID  string    `json:"chunk_id"`
	DocID    string    `json:"doc_id"`
	URI      string    `json:"uri"`
	Title    string    `json:"title"`
	Ordinal  int       `json:"ordinal"`
	Page     *int      `json:"page"`
	Headings []string  `json:"headings"`
	Start    int       `json:"start"`
	End      int       `json:"end"`
	Language string    `json:"language"`
	Context  string    `json:"context"`
	Text     string    `json:"text"`
	Images   []picture `json:"images"`
	Meta     rag.Meta  `json:"meta"`
}

func toChunkJSON(c *rag.Chunk, pictures []picture) chunkJSON {
	return chunkJSON{
		ChunkID: c.ID, DocID: c.DocID, URI: c.URI, Title: c.Title, Ordinal: c.Ordinal, Page: page(c.Page),
		Headings: append([]string{}, c.Headings...), Start: c.Start, End: c.End, Language: c.Language,
		Context: c.Context, Text: c.Text, Images: pictures, Meta: meta(c.Meta),
	}
}

func (a *app) showDocument(d *rag.Document, chunks []rag.Chunk, pictures []picture) error {
	if a.json {
		out := storedDocument{document: toDocument(d), DocID: d.ID, URI: d.URI, Chunks: []chunkJSON{}}
		out.Images = pictures
		byPlace := map[placed]picture{}
		for _, m := range pictures {
			byPlace[placed{m.ID, m.Offset}] = m
		}
		for i := range chunks {
			own := []picture{}
			for _, m := range chunks[i].Images {
				own = append(own, byPlace[placed{m.ID, m.Offset}])
			}
			out.Chunks = append(out.Chunks, toChunkJSON(&chunks[i], own))
		}
		return a.printJSON(struct {
			Document storedDocument `json:"document"`
		}{out})
	}
	a.printDocument(place(d.URI), d)
	a.printPictures(pictures)
	fmt.Fprintf(a.out, "%s\n", a.paint(a.out).bold(count(len(chunks), "passage")))
	if len(chunks) == 0 {
		return nil
	}
	t := newTable("#", "page", "bytes", "chunk", "text").numbers(0, 1, 2)
	for _, c := range chunks {
		number := ""
		if c.Page > 0 {
			number = strconv.Itoa(c.Page)
		}
		t.add(strconv.Itoa(c.Ordinal), number, strconv.Itoa(c.End-c.Start), c.ID, oneLine(c.Text, a.width()/2))
	}
	t.print(a.out, a.paint(a.out), "  ")
	return nil
}

func (a *app) showChunk(c *rag.Chunk, pictures []picture) error {
	if a.json {
		return a.printJSON(struct {
			Chunk chunkJSON `json:"chunk"`
		}{toChunkJSON(c, pictures)})
	}
	p := a.paint(a.out)
	fmt.Fprintf(a.out, "%s\n", p.cyan(place(c.URI))+p.dim(where(c)))
	fmt.Fprintf(a.out, "%s\n", p.dim(fmt.Sprintf("chunk %s · passage %d of its document · bytes %d to %d", c.ID, c.Ordinal, c.Start, c.End)))
	a.printMeta(c.Meta)
	if c.Context != "" {
		fmt.Fprintf(a.out, "%s %s\n", p.bold("indexed with:"), oneLine(c.Context, a.width()))
	}
	a.printPictures(pictures)
	fmt.Fprintln(a.out)
	for _, line := range wrap(strings.Trim(visibleText(c.Text), "\n"), a.width()) {
		fmt.Fprintln(a.out, line)
	}
	return nil
}

// printMeta writes metadata, one key a line.
func (a *app) printMeta(m rag.Meta) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(a.out, "%s %s\n", a.paint(a.out).bold(visible(key)+":"), oneLine(fmt.Sprint(m[key]), a.width()))
	}
}
