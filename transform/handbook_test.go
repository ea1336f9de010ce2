package transform_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/loader/pdf"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/transform"
)

// Words that stand on no page find the pictures of real files through their captions.
func TestWordsFindThePicturesOfRealFiles(t *testing.T) {
	for name, c := range map[string]struct {
		page, minSide int
		near          string // stands in the passage
	}{
		"../examples/handbook/incident-response.pdf":      {page: 2, near: "escalation path"},
		"../examples/handbook/calibration-lab-safety.pdf": {page: 3, near: "lab"},
		"../loader/testdata/files/pandoc.docx":            {minSide: 1, near: "mast"},
	} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			script := &ragtest.Script{Replies: []string{`{"caption": "A zeppelin over a glacier."}`}}
			caption, err := transform.NewCaption(script, transform.CaptionConfig{MinSide: c.minSide})
			if err != nil {
				t.Fatal(err)
			}
			config := rag.DefaultConfig()
			config.Embedder.Provider, config.Catalog.Provider = rag.None, "memory"
			eng, err := rag.Open("", rag.WithConfig(config), rag.WithTransformers(caption))
			if err != nil {
				t.Fatal(err)
			}
			defer eng.Close()
			if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Files(name)}}); err != nil {
				t.Fatal(err)
			}
			if text, err := os.ReadFile(name); err != nil || strings.Contains(string(text), "zeppelin") {
				t.Fatalf("the file speaks of zeppelins, or: %v", err)
			}
			res, err := eng.Search(t.Context(), rag.Query{Text: "zeppelin"})
			if err != nil {
				t.Fatal(err)
			}
			if len(res.Hits) != 1 || len(res.Hits[0].Chunk.Images) != 1 {
				t.Fatalf("%d hits, want the one with the picture: %+v", len(res.Hits), res.Hits)
			}
			hit := &res.Hits[0].Chunk
			m := hit.Images[0]
			if m.Page != c.page || (m.Box != [4]float64{}) != (c.page > 0) || !strings.Contains(strings.ToLower(hit.Text), c.near) {
				t.Errorf("picture on page %d in the box %v, in:\n%s", m.Page, m.Box, hit.Text)
			}
			data, err := eng.Image(t.Context(), "", m.ID)
			if err != nil || !strings.HasPrefix(string(data), "\x89PNG") || m.MediaType != "image/png" {
				t.Errorf("%s of %d bytes, %v", m.MediaType, len(data), err)
			}
			if n := len(script.Requests()); n != 1 {
				t.Errorf("the model was asked %d times", n)
			}
		})
	}
}
