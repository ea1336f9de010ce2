package rag_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// besideOf asks a set's source of this file name for what lies beside it.
func besideOf(t *testing.T, set rag.Sources, file, name string) (string, error) {
	t.Helper()
	for src, err := range set.All {
		if err != nil || src.Name != file {
			continue
		}
		f, err := src.Beside(t.Context(), name)
		if err != nil {
			return "", err
		}
		defer f.Close()
		b, err := io.ReadAll(f)
		return string(b), err
	}
	t.Fatalf("no source %s", file)
	return "", nil
}

func TestBesideStaysInItsSet(t *testing.T) {
	base := t.TempDir()
	for _, name := range []string{"secret.png", "set/page.md", "set/top.png", "set/sub/deep.md", "set/sub/img/a b.png", "set/.git/x.png", "set/sub/.hidden.png"} {
		if err := os.WriteFile(put(t, base, name), []byte(path.Base(name)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"out.png": "../secret.png", "up": "..", "in.png": "top.png"} {
		if err := os.Symlink(target, filepath.Join(base, "set", link)); err != nil {
			t.Skip("no symbolic links here")
		}
	}
	set := filepath.Join(base, "set")
	page, deep := filepath.Join(set, "page.md"), filepath.Join(set, "sub", "deep.md")
	memory := fstest.MapFS{
		"page.md": {}, "top.png": {Data: []byte("top.png")}, "sub/deep.md": {}, "sub/img/a b.png": {Data: []byte("a b.png")},
		"sub/.hidden.png": {}, ".git/x.png": {}, "in.png": {Data: []byte("top.png"), Mode: fs.ModeSymlink},
	}
	for name, c := range map[string]struct {
		set  rag.Sources
		file string
		name string
		want string // of the file, "": an error
		kind error  // nil with an error wanted: any
	}{
		"beside":                {rag.Dir(set), "page.md", "top.png", "top.png", nil},
		"below":                 {rag.Dir(set), "page.md", "sub/img/a b.png", "a b.png", nil},
		"above, in the set":     {rag.Dir(set), "deep.md", "../top.png", "top.png", nil},
		"from the top":          {rag.Dir(set), "deep.md", "/top.png", "top.png", nil},
		"round about":           {rag.Dir(set), "page.md", "./sub/../top.png", "top.png", nil},
		"a link inside":         {rag.Dir(set), "page.md", "in.png", "top.png", nil},
		"above the set":         {rag.Dir(set), "page.md", "../secret.png", "", rag.ErrInvalid},
		"far above":             {rag.Dir(set), "deep.md", "../../../../etc/passwd", "", rag.ErrInvalid},
		"above the top":         {rag.Dir(set), "deep.md", "/../secret.png", "", rag.ErrInvalid},
		"a link out":            {rag.Dir(set), "page.md", "out.png", "", nil},
		"a linked folder out":   {rag.Dir(set), "page.md", "up/secret.png", "", nil},
		"a hidden folder":       {rag.Dir(set), "page.md", ".git/x.png", "", rag.ErrInvalid},
		"a hidden file":         {rag.Dir(set), "deep.md", ".hidden.png", "", rag.ErrInvalid},
		"a folder":              {rag.Dir(set), "page.md", "sub", "", rag.ErrInvalid},
		"itself":                {rag.Dir(set), "page.md", "", "", rag.ErrInvalid},
		"missing":               {rag.Dir(set), "page.md", "none.png", "", rag.ErrNotFound},
		"of one file":           {rag.Files(page), "page.md", "sub/img/a b.png", "a b.png", nil},
		"above one file":        {rag.Files(deep), "deep.md", "../top.png", "", rag.ErrInvalid},
		"a link out, one file":  {rag.Files(page), "page.md", "out.png", "", nil},
		"in a file system":      {rag.FS(memory, "mem:/"), "deep.md", "../top.png", "top.png", nil},
		"above a file system":   {rag.FS(memory, "mem:/"), "page.md", "../top.png", "", rag.ErrInvalid},
		"a link in one":         {rag.FS(memory, "mem:/"), "page.md", "in.png", "", rag.ErrUnsupported},
		"an os file system":     {rag.FS(os.DirFS(set), "mem:/"), "page.md", "top.png", "top.png", nil},
		"a link out of one":     {rag.FS(os.DirFS(set), "mem:/"), "page.md", "out.png", "", rag.ErrUnsupported},
		"a linked folder of it": {rag.FS(os.DirFS(set), "mem:/"), "page.md", "up/secret.png", "", rag.ErrUnsupported},
	} {
		got, err := besideOf(t, c.set, c.file, c.name)
		if (err == nil) != (c.want != "") || got != c.want || c.kind != nil && !errors.Is(err, c.kind) {
			t.Errorf("%s: %q, %v; want %q, %v", name, got, err, c.want, c.kind)
		}
	}
}

// plan is what a dry run would do with a file.
func (f *fixture) plan(name string) (action, reason string) {
	f.t.Helper()
	for _, p := range f.ingest(func(r *rag.IngestRequest) { r.DryRun = true }).Plan {
		if filepath.Base(p.URI) == name {
			return p.Action, p.Reason
		}
	}
	f.t.Fatalf("%s is not in the plan", name)
	return "", ""
}

// shown are the pictures of a file's document, by their alternative text.
func (f *fixture) shown(name string) map[string][]byte {
	f.t.Helper()
	doc, err := f.Document(f.t.Context(), "", rag.FileURI(filepath.Join(f.docs, name)))
	if err != nil {
		f.t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, m := range doc.Images {
		out[m.Alt] = m.Data
	}
	return out
}

func TestPicturesBesideASource(t *testing.T) {
	for name, page := range map[string]string{
		"guide.md":   "# Masts\n\nA mast: ![mast](img/mast.png)\n\nFrom afar: ![far](https://example.org/far.png)\n\n![lost](img/lost.png)\n",
		"guide.html": `<h1>Masts</h1><p>A mast: <img src="img/mast.png" alt="mast"></p><p><img src="//example.org/far.png" alt="far"><img src="img/lost.png" alt="lost"></p>`,
	} {
		t.Run(name, func(t *testing.T) {
			mast, other, lost := picture(1), picture(2), picture(3)
			f := newFixture(t)
			f.write("docs/"+name, page)
			f.write("docs/img/mast.png", string(mast))
			f.write("docs/img/unused.png", string(picture(9)))
			rep := f.ingest(nil)
			if len(rep.Skipped) != 1 || filepath.Base(rep.Skipped[0].URI) != "unused.png" {
				t.Errorf("passed over: %v", rep.Skipped)
			}
			if len(rep.Warnings) != 1 || !strings.Contains(rep.Warnings[0].Message, "img/lost.png: no such file") {
				t.Errorf("warnings %v, want one about the missing picture", rep.Warnings)
			}
			if diff := cmp.Diff(map[string][]byte{"mast": mast}, f.shown("docs/"+name)); diff != "" {
				t.Errorf("pictures: %s", diff)
			}
			hit := f.search(rag.Query{Text: "masts"}).Hits[0].Chunk
			if len(hit.Images) != 1 || !strings.Contains(hit.Text[hit.Images[0].Offset-hit.Start:], "mast") {
				t.Errorf("pictures of the hit: %+v", hit.Images)
			}
			if action, reason := f.plan(name); action != "unchanged" {
				t.Errorf("%s: %s", action, reason)
			}

			f.write("docs/img/mast.png", string(other))
			if action, reason := f.plan(name); action != "update" || reason != "picture changed: img/mast.png" {
				t.Errorf("a changed picture: %s, %q", action, reason)
			}
			if rep := f.ingest(func(r *rag.IngestRequest) { r.DryRun = true }); len(rep.Skipped) != 1 {
				t.Errorf("a dry run passes over %v", rep.Skipped)
			}
			embedded := f.embedder.Texts()
			if rep = f.ingest(nil); rep.Updated != 1 || f.embedder.Texts() != embedded {
				t.Errorf("a changed picture: %+v, %d texts embedded", rep, f.embedder.Texts()-embedded)
			}
			if diff := cmp.Diff(map[string][]byte{"mast": other}, f.shown("docs/"+name)); diff != "" {
				t.Errorf("a changed picture: %s", diff)
			}
			if _, err := f.Image(t.Context(), "", hit.Images[0].ID); !errors.Is(err, rag.ErrNotFound) {
				t.Errorf("the old picture is there: %v", err)
			}

			f.write("docs/img/lost.png", string(lost))
			if action, reason := f.plan(name); action != "update" || reason != "picture changed: img/lost.png" {
				t.Errorf("a picture that came: %s, %q", action, reason)
			}
			if rep = f.ingest(nil); len(rep.Warnings) != 0 {
				t.Errorf("warnings %v", rep.Warnings)
			}
			if err := os.Remove(filepath.Join(f.docs, "docs", "img", "mast.png")); err != nil {
				t.Fatal(err)
			}
			f.ingest(nil)
			if diff := cmp.Diff(map[string][]byte{"lost": lost}, f.shown("docs/"+name)); diff != "" {
				t.Errorf("a picture that went: %s", diff)
			}
			if rep = f.ingest(nil); rep.Unchanged != 1 {
				t.Errorf("nothing changed: %+v", rep)
			}
			f.sound()
		})
	}
}

func TestPicturesBesideMoveWithTheirFolder(t *testing.T) {
	f := newFixture(t)
	f.write("old/guide.md", "# Masts\n\n![mast](img/mast.png) ![top](/top%20of.png)\n")
	f.write("old/img/mast.png", string(picture(1)))
	f.write("top of.png", string(picture(2)))
	for range 2 {
		if rep := f.ingest(nil); len(rep.Skipped) != 0 {
			t.Errorf("passed over: %v", rep.Skipped)
		}
	}
	if err := os.Rename(filepath.Join(f.docs, "old"), filepath.Join(f.docs, "new")); err != nil {
		t.Fatal(err)
	}
	if rep := f.ingest(nil); rep.Moved != 1 || rep.Embedded != 0 {
		t.Errorf("report %+v", rep)
	}
	if got := f.shown("new/guide.md"); !bytes.Equal(got["mast"], picture(1)) {
		t.Errorf("%d pictures", len(got))
	}
	if rep := f.ingest(nil); rep.Unchanged != 1 {
		t.Errorf("report %+v", rep)
	}
}

// An import knows the pictures of the sources, so that an ingest of those finds them unchanged, or changed.
func TestPicturesBesideOutliveAnExport(t *testing.T) {
	f := newFixture(t)
	f.write("guide.md", "# Masts\n\n![mast](mast.png) ![lost](lost.png)\n")
	f.write("mast.png", string(picture(1)))
	f.ingest(nil)
	file, _ := f.export()
	g := newFixture(t)
	g.docs = f.docs
	for range 2 { // the second time it is unchanged
		set, err := rag.Exported(file)
		if err != nil {
			t.Fatal(err)
		}
		g.ingest(func(r *rag.IngestRequest) { r.Sources = []rag.Sources{set} })
	}
	if rep := g.ingest(nil); rep.Unchanged != 1 {
		t.Errorf("sources after the import: %+v", rep)
	}
	f.write("mast.png", string(picture(2)))
	if action, reason := g.plan("guide.md"); action != "update" || reason != "picture changed: mast.png" {
		t.Errorf("%s, %q", action, reason)
	}
}

func TestLimitsOfWhatLiesBeside(t *testing.T) {
	c := rag.DefaultConfig()
	c.Ingest.MaxImages, c.Ingest.MaxSourceBytes = 3, 2000
	f := newFixture(t, rag.WithConfig(c))
	f.write("many.md", "# Many\n\n![1](1.png) ![2](2.png) ![3](3.png) ![4](4.png) ![1](1.png)\n")
	f.write("large.md", "# Large\n\n![large](large.png) ![text](many.md) ![out](../x.png)\n")
	for _, name := range []string{"1.png", "2.png", "3.png", "4.png"} {
		f.write(name, "\x89PNG\r\n\x1a\n"+name)
	}
	f.write("large.png", "\x89PNG\r\n\x1a\n"+strings.Repeat("x", 2000))
	rep := f.ingest(nil)
	if got := f.shown("many.md"); len(got) != 3 || got["4"] != nil {
		t.Errorf("pictures %q, want the first three", got)
	}
	if got := f.shown("large.md"); len(got) != 0 {
		t.Errorf("pictures %q, want none", got)
	}
	var said []string
	for _, w := range rep.Warnings {
		said = append(said, w.Message)
	}
	for _, want := range []string{"large.png: larger than 2000 bytes", "many.md: it is no picture", "../x.png: it lies outside", "ingest.max_images", "1 of 4 pictures"} {
		if !strings.Contains(strings.Join(said, "\n"), want) {
			t.Errorf("no warning says %q:\n%s", want, strings.Join(said, "\n"))
		}
	}
	if rep = f.ingest(nil); rep.Unchanged != 2 {
		t.Errorf("nothing changed: %+v", rep)
	}
}
