package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	_ "image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag/internal/racetest"
)

// drawing is a PNG that is large enough to be no decoration.
func drawing(t *testing.T, shade uint8) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 100, 100))
	for i := range img.Pix {
		img.Pix[i] = shade + uint8(i%5)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPicturesAreListedAndWritten(t *testing.T) {
	s := newShell(t)
	one, two := drawing(t, 1), drawing(t, 100)
	var page strings.Builder
	page.WriteString("<html><body><h1>Masts</h1><p>How masts are built.</p>")
	for i, data := range [][]byte{one, two, one} {
		fmt.Fprintf(&page, `<p>See <img alt="mast %d" src="data:image/png;base64,%s"></p>`, i, base64.StdEncoding.EncodeToString(data))
	}
	s.write("masts.html", page.String())
	s.rag("ingest", "masts.html").want(exitDone)
	s.rag("search", "masts").want(exitDone).prints("picture ", " · image/png · mast 0", " · image/png · mast 2")
	checkJSON(t, "JSON of search", s.rag("search", "masts", "--json").want(exitDone))
	s.rag("list").want(exitDone).prints("pictures")
	s.rag("show", "masts.html").want(exitDone).prints("pictures", "mast 1")

	var shown struct {
		Document struct {
			Images []picture
			Chunks []struct {
				ChunkID string `json:"chunk_id"`
				Images  []picture
			}
		}
	}
	o := s.rag("show", "masts.html", "--images", "out", "--json").want(exitDone).into(&shown)
	checkJSON(t, "JSON of show", o)
	files, err := os.ReadDir(filepath.Join(s.dir, "out"))
	if err != nil || len(files) != 2 || len(shown.Document.Images) != 3 {
		t.Fatalf("%d files of %d pictures, %v; want 2 of 3", len(files), len(shown.Document.Images), err)
	}
	for i, m := range shown.Document.Images {
		data, err := os.ReadFile(filepath.Join(s.dir, m.File))
		if err != nil || !bytes.Equal(data, [][]byte{one, two, one}[i]) || m.File != filepath.Join("out", m.ID+".png") {
			t.Errorf("picture %d is in %s, %d bytes, %v", i, m.File, len(data), err)
		}
	}
	s.rag("show", "masts.html", "--images", "out").want(exitDone).prints(filepath.Join("out", shown.Document.Images[0].ID+".png")) // there already

	s.write("other/"+shown.Document.Images[1].ID+".png", "somebody's file")
	s.rag("show", "masts.html", "--images", "other").want(exitFailed).says("is no copy of the picture")
	if b, err := os.ReadFile(filepath.Join(s.dir, "other", shown.Document.Images[1].ID+".png")); err != nil || string(b) != "somebody's file" {
		t.Errorf("the file was changed: %q, %v", b, err)
	}

	chunk := shown.Document.Chunks[0]
	if len(chunk.Images) == 0 || chunk.Images[0].ID != shown.Document.Images[0].ID {
		t.Fatalf("the first passage has %+v", chunk.Images)
	}
	var passage struct{ Chunk struct{ Images []picture } }
	s.rag("show", chunk.ChunkID, "--json", "--images", "passage").want(exitDone).into(&passage)
	if got := passage.Chunk.Images; len(got) != len(chunk.Images) || got[0].Bytes != len(one) || got[0].File == "" {
		t.Errorf("the passage has %+v", got)
	}
	s.rag("show", chunk.ChunkID).want(exitDone).prints("pictures", "mast 0")
}

func TestPicturesBesideMarkdown(t *testing.T) {
	s := newShell(t)
	s.write("docs/guide.md", "# Masts\n\nHow masts are built: ![the mast](img/mast.png)\n")
	s.write("docs/img/mast.png", string(drawing(t, 1)))
	o := s.rag("ingest", "docs").want(exitDone)
	if strings.Contains(o.stdout, "mast.png") {
		t.Errorf("the picture is listed as passed over:\n%s", o.stdout)
	}
	s.rag("search", "masts").want(exitDone).prints(" · image/png · the mast")
	s.rag("load", "docs/guide.md").want(exitDone).prints("pictures", "the mast")
	s.write("docs/img/mast.png", string(drawing(t, 100)))
	s.rag("ingest", "docs", "--dry-run").want(exitDone).prints("picture changed: img/mast.png")
	s.rag("delete", "docs/guide.md").want(exitDone).prints("1 document", "1 picture that nothing else shows")
}

// A picture in a passage reaches a client of the protocol as one, and small enough for it.
func TestPicturesAreServed(t *testing.T) {
	racetest.Skip(t)
	s := newShell(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	img := image.NewNRGBA(image.Rect(0, 0, 900, 700))
	for i := range img.Pix {
		img.Pix[i] = uint8(rnd.Uint32()) | 0x80 // noise does not compress
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil || b.Len() < 1<<20 {
		t.Fatalf("%d bytes, %v", b.Len(), err)
	}
	s.write("docs/noise.png", b.String())
	s.write("docs/masts.md", "# Masts\n\nHow masts are built.\n\n![a mast in fog](noise.png)\n")
	s.rag("ingest", "docs/masts.md").want(exitDone)
	v := s.serveMCP()
	var res struct {
		Content []struct{ Type, MIMEType, Text, Data string }
	}
	m := v.ask("tools/call", `{"name":"query_knowledge_hub","arguments":{"query":"how are masts built?"}}`)
	if err := json.Unmarshal(m.Result, &res); err != nil || len(res.Content) != 2 {
		t.Fatalf("%v: %.300s", err, m.Result)
	}
	text, shown := res.Content[0], res.Content[1]
	if text.Type != "text" || !strings.Contains(text.Text, "Picture 1 is from [1]: a mast in fog") {
		t.Errorf("%+v", text)
	}
	data, err := base64.StdEncoding.DecodeString(shown.Data)
	if err != nil || shown.Type != "image" || len(shown.Data) > 1<<20 {
		t.Fatalf("a %s of %d bytes, %v", shown.Type, len(shown.Data), err)
	}
	decoded, format, err := image.Decode(bytes.NewReader(data))
	if err != nil || "image/"+format != shown.MIMEType || decoded.Bounds().Dx() < 300 {
		t.Errorf("%s %v, %v", shown.MIMEType, decoded, err)
	}
	v.end()
}
