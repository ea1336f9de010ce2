package cli

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

type ingestOutput struct {
	Added, Updated, Unchanged, Empty int
	Failed                           []struct{ URI, Stage, Error string }
	Warnings                         []struct{ URI, Message string }
}

// failure returns the stage and error of the source whose URI ends with name; "" if it did not fail.
func (r ingestOutput) failure(name string) string {
	for _, f := range r.Failed {
		if strings.HasSuffix(f.URI, "/"+name) {
			return f.Stage + ": " + f.Error
		}
	}
	return ""
}

// One folder with everything that can be wrong: each is reported by URI and stage, and the rest goes in.
func TestFolderOfBadInput(t *testing.T) {
	s := newShell(t)
	s.write("hash.yaml", "embedder: hash\ningest:\n  max_source_bytes: 1048576\n")
	s.handbook()
	s.write("docs/empty.md", "")
	s.write("docs/garbage.pdf", "%PDF-1.7\n\x00\x01\x02\xff\xfe garbage \x80\x81")
	s.write("docs/noise.pdf", "\x00\x01\x02\xff\xfe\x80\x81\x00\x00 no such format")
	s.write("docs/bomb.docx", string(zipBomb(t, 1<<30)))
	s.write("docs/large.txt", strings.Repeat("far too much text\n", 1<<17))
	s.write("outside/secret.txt", "what lies outside stays outside")
	inDocs := func(name string) string { return filepath.Join(s.dir, "docs", name) }
	unix := runtime.GOOS != "windows" // where links need no privilege and names may hold anything
	if unix {
		link(t, "loop", inDocs("loop"))
		link(t, filepath.Join("..", "outside", "secret.txt"), inDocs("out.txt"))
		link(t, "leave.md", inDocs("inside.md"))
		s.write("docs/line\nbreak.md", "The name of this file holds a line break about marmalade.\n")
	}
	notUTF8 := unix && runtime.GOOS != "darwin" // whose file systems refuse such names
	if notUTF8 {
		s.write("docs/caf\xe9.txt", "The name of this file is no UTF-8, it is about porcelain.\n")
	}
	unreadable := unix && os.Getuid() != 0 // root reads everything
	if unreadable {
		s.write("docs/closed/inner.md", "nobody reads this")
		closed := inDocs("closed")
		if err := os.Chmod(closed, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(closed, 0o755) })
	}

	var r ingestOutput
	o := s.rag("ingest", "docs", "no-such-folder", "--json").want(exitPartial).into(&r)
	for _, tt := range []struct {
		name, says string
		applies    bool
	}{
		{"garbage.pdf", "load: ", true},
		{"bomb.docx", "load: ", true},
		{"large.txt", "load: larger than 1 MiB", true},
		{"no-such-folder", "load: no such file or folder", true},
		{"loop", "load: the link leads in a circle", unix},
		{"closed", "load: permission denied", unreadable},
	} {
		if got := r.failure(tt.name); tt.applies && !strings.HasPrefix(got, tt.says) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.says)
		}
	}
	if r.Empty != 1 {
		t.Errorf("got %d empty documents, want 1", r.Empty)
	}
	if strings.Contains(o.stdout, "lies outside") {
		t.Error("a file outside the folder was read")
	}
	for _, good := range []string{"leave.md", "travel.md", "notes.txt", "inside.md", "empty.md"} {
		if got := r.failure(good); got != "" {
			t.Errorf("%s failed: %s", good, got)
		}
	}
	s.rag("search", "stays outside secret", "-m", "sparse").want(exitDone).prints("no passage matches")
	if unix {
		s.rag("search", "marmalade", "-m", "sparse").want(exitDone).prints(filepath.Join("docs", `line\nbreak.md`))
		s.rag("show", "docs/line\nbreak.md").want(exitDone)
	}
	if notUTF8 {
		s.rag("search", "porcelain", "-m", "sparse").want(exitDone).prints(filepath.Join("docs", `caf\xe9.txt`))
	}
	s.rag("ingest", "docs").want(exitPartial).prints("failed "+filepath.Join("docs", "garbage.pdf")+": load: ", ": 6 unchanged, 2 skipped, 5 failed")
	s.rag("verify").want(exitDone)
}

func TestDataFolderIsNoSource(t *testing.T) {
	s := newShell(t)
	s.write("docs/a.md", "One document.\n")
	s.rag("ingest", ".", "--dir", "kb").want(exitDone)
	s.rag("ingest", ".", "--dir", "kb").want(exitDone).prints(": 2 unchanged\n")
	if o := s.rag("list", "documents", "--dir", "kb").want(exitDone); strings.Contains(o.stdout, "kb") {
		t.Errorf("the data folder was read:\n%s", o.stdout)
	}
}

func TestNothingCanBeIngested(t *testing.T) {
	s := newShell(t)
	s.write("garbage.pdf", "%PDF-1.7\n\x00\x01\x02\xff")
	var r ingestOutput
	s.rag("ingest", "no-such-folder", "garbage.pdf", "--json").want(exitFailed).into(&r)
	if len(r.Failed) != 2 {
		t.Errorf("got %+v, want two failures", r)
	}
	var e errorJSON
	s.rag("search", "--path", "no-such-folder", "anything", "--json").want(exitFailed).into(&e)
	if !strings.Contains(e.Error.Message, "no such file or folder") {
		t.Errorf("got %+v", e)
	}
}

func TestSearchAfterPartialIngest(t *testing.T) {
	s := newShell(t)
	s.handbook()
	var res searchOutput
	s.rag("search", "--path", "docs", "--path", "no-such-folder", "coffee", "--json").want(exitPartial).says("failed no-such-folder: load: ").into(&res)
	if len(res.Hits) == 0 {
		t.Error("the rest was not searched")
	}
}

func TestDamagedDataFolder(t *testing.T) {
	s := newShell(t)
	const junk = "this is no database, and it is longer than a header would be"
	db := s.write(".rag/rag.db", strings.Repeat(junk, 1000))
	before, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	s.rag("search", "anything").want(exitFailed).says("rag.db")
	after, err := os.ReadFile(db)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the damaged file was touched (%v)", err)
	}
	s.write("file", "")
	s.rag("ingest", "file", "--dir", "file").want(exitFailed).says("data folder")
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

// zipBomb returns a DOCX file whose document of size bytes takes about a thousandth of that. It compresses one piece
// and repeats what comes out, since compressing the whole would take seconds.
func zipBomb(t *testing.T, size int) []byte {
	t.Helper()
	const piece = 1 << 20
	head := []byte(`<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>`)
	deflated := func(b []byte) []byte {
		var out bytes.Buffer
		w, err := flate.NewWriter(&out, flate.BestSpeed)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil { // no last block: more follows
			t.Fatal(err)
		}
		return out.Bytes()
	}
	spaces := bytes.Repeat([]byte(" "), piece)
	sum := crc32.Update(0, crc32.IEEETable, head)
	body := deflated(head)
	small := deflated(spaces)
	for range size / piece {
		sum = crc32.Update(sum, crc32.IEEETable, spaces)
		body = append(body, small...)
	}
	body = append(body, 0x03, 0x00) // an empty last block
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	types, err := z.Create("[Content_Types].xml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := types.Write([]byte(`<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`)); err != nil {
		t.Fatal(err)
	}
	raw, err := z.CreateRaw(&zip.FileHeader{
		Name: "word/document.xml", Method: zip.Deflate, CRC32: sum,
		CompressedSize64: uint64(len(body)), UncompressedSize64: uint64(len(head) + size/piece*piece),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := raw.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
