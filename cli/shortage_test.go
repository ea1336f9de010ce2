//go:build unix

package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-d8745b77/rag"
)

// burst is how many documents come at once.
const burst = 1000

// letters writes short documents, each of two sections that say which document they are of.
func (s *shell) letters(n int) {
	s.t.Helper()
	for i := range n {
		s.write(fmt.Sprintf("docs/letter%04d.md", i), letter(i))
	}
}

func letter(i int) string {
	return fmt.Sprintf("# Letter %d\n\nThe beginning of letter%04d.\n\n## End\n\nThe end of letter%04d.\n", i, i, i)
}

// wholeLetters counts the documents of a data folder, and asserts that each is whole, with all its passages.
func (s *shell) wholeLetters(dir string) (n int) {
	s.t.Helper()
	eng, err := rag.Open(filepath.Join(s.dir, dir), rag.WithSnapshot(), rag.WithConfig(func() rag.Config {
		c := rag.DefaultConfig()
		c.Embedder.Provider = "hash"
		return c
	}()))
	if err != nil {
		s.t.Fatal(err)
	}
	defer eng.Close()
	for entry, err := range eng.Documents(s.t.Context(), "") {
		if err != nil {
			s.t.Fatal(err)
		}
		n++
		var i int
		if _, err := fmt.Sscanf(filepath.Base(entry.URI), "letter%d.md", &i); err != nil {
			s.t.Fatal(err)
		}
		doc, err := eng.Document(s.t.Context(), "", entry.URI)
		if err != nil {
			s.t.Fatal(err)
		}
		ids := make([]string, len(entry.Chunks))
		for at, k := range entry.Chunks {
			ids[at] = k.ID
		}
		var passages string
		for k, err := range eng.Chunks(s.t.Context(), "", rag.Eq(rag.FieldURI, entry.URI)) {
			if err != nil {
				s.t.Fatal(err)
			}
			if !slices.Contains(ids, k.ID) {
				s.t.Errorf("%s has a passage that its entry does not have", entry.URI)
			}
			passages += k.Text
		}
		for _, text := range []string{doc.Text, passages} {
			if !strings.Contains(text, fmt.Sprintf("The beginning of letter%04d.", i)) || !strings.Contains(text, fmt.Sprintf("The end of letter%04d.", i)) {
				s.t.Errorf("%s is not whole: %q", entry.URI, text)
			}
		}
	}
	return n
}

// verifyJSON is what these tests read of a verification.
type verifyJSON struct {
	OK         bool
	Unfinished bool
	Problems   []any
	Missing    []any
}

// resumed asserts that an ingest that was cut short left whole documents, and that the next one does the rest.
func (s *shell) resumed(dir string, all int) {
	s.t.Helper()
	kept := s.wholeLetters(dir)
	if kept == 0 || kept == all {
		s.t.Fatalf("%d of %d documents are there: it was not in the middle", kept, all)
	}
	var v verifyJSON
	if s.rag("verify", "--dir", dir, "--json").want(exitFailed).into(&v); !v.Unfinished || len(v.Problems) != 0 || len(v.Missing) != 0 {
		s.t.Errorf("%+v", v)
	}
	s.rag("ingest", "docs", "--dir", dir).want(exitDone).prints(fmt.Sprintf("%d added, %d unchanged", all-kept, kept))
	if got := s.wholeLetters(dir); got != all {
		s.t.Errorf("%d documents in the end, want %d", got, all)
	}
	if s.rag("verify", "--dir", dir, "--json").want(exitDone).into(&v); !v.OK {
		s.t.Errorf("%+v", v)
	}
}

// TestABurstIsInterrupted asks an ingest of a thousand documents to end in the middle.
func TestABurstIsInterrupted(t *testing.T) {
	s := newShell(t)
	s.letters(burst)
	cmd := s.command("ingest", "docs", "--dir", "kb", "--config", s.write("halfway.yaml", "embedder: halfway\n"))
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := ""
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if said += lines.Text() + "\n"; lines.Text() == "halfway" {
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitFailed || !strings.Contains(said, "interrupted: every document has its whole old or its whole new version, and the next ingest finishes the work") {
		t.Fatalf("%v: %s", err, said)
	}
	s.resumed("kb", burst)
}

// onSmallDisk runs a script where the folder small is a file system of that size, which only the script sees. $RAG is the command.
func (s *shell) onSmallDisk(size, script string) string {
	s.t.Helper()
	tools := []string{"unshare", "-Urm", "sh", "-c"}
	small := filepath.Join(s.dir, "small")
	if err := os.Mkdir(small, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		s.t.Fatal(err)
	}
	mount := fmt.Sprintf("mount -t tmpfs -o size=%s tmpfs %s", size, small)
	if out, err := exec.CommandContext(s.t.Context(), tools[0], append(tools[1:], mount)...).CombinedOutput(); err != nil {
		s.t.Skipf("no small disk can be made here: %v: %s", err, out)
	}
	rag := s.command("--dir", "small/kb")
	cmd := exec.CommandContext(s.t.Context(), tools[0], append(tools[1:], mount+"\n"+script)...)
	cmd.Dir, cmd.Env = s.dir, append(rag.Env, "RAG="+strings.Join(rag.Args, " "))
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// TestTheDiskIsFull ingests until the disk is full, and more when there is room again.
func TestTheDiskIsFull(t *testing.T) {
	s := newShell(t)
	s.letters(burst)
	got := s.onSmallDisk("2m", `
$RAG ingest docs && exit 1
echo; echo searched
$RAG search "end of letter0000" --top-k 1 --snapshot || exit 1
cp -r small/kb full
while echo more >>small/fill; do :; done 2>/dev/null
echo; echo opened
$RAG ingest docs && exit 1
rm small/fill
exit 0`)
	full, rest, _ := strings.Cut(got, "\nsearched\n")
	found, opened, _ := strings.Cut(rest, "\nopened\n")
	const remedy = "no space left on device: make room on the disk, then do it again: what was written before is whole"
	if !strings.Contains(full, remedy) || !strings.Contains(opened, remedy) {
		t.Errorf("it is not told what to do: %s\nand when it is opened: %s", full, opened)
	}
	if !strings.Contains(found, "letter0000") {
		t.Errorf("a full disk is searched: %s", found)
	}
	s.resumed("full", burst)
}

// TestTheFolderIsReadOnly: what cannot be written is told so, and a snapshot can be read.
func TestTheFolderIsReadOnly(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.rag("ingest", "docs", "--dir", "kb").want(exitDone)
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, 0o555)
		}
		return os.Chmod(path, 0o444)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // or the folder could not be removed
		for _, dir := range []string{"", "docs", "kb", "kb/embeddings"} {
			_ = os.Chmod(filepath.Join(s.dir, dir), 0o755) // some are not there
		}
	})
	if err := os.Chmod(filepath.Dir(s.dir), 0o755); err != nil { // of this test: nobody may pass
		t.Fatal(err)
	}
	t.Setenv(restriction, "nobody")
	for _, args := range [][]string{
		{"search", "notice period"}, {"ingest", "docs"}, {"delete", "docs/leave.md", "--yes"}, {"verify"}, {"reindex"}, {"compact"}, {"dashboard", "--addr", "127.0.0.1:0"},
	} {
		s.rag(append(args, "--dir", "kb")...).want(exitFailed).says("permission denied: let this user write to the folder, or read a snapshot of it")
	}
	s.rag("ingest", "docs", "--dir", "new").want(exitFailed).says("make data folder: ", "permission denied: let this user write to the folder")
	s.rag("search", "notice period", "--dir", "kb", "--snapshot").want(exitDone).prints("three months")
	s.rag("verify", "--dir", "kb", "--snapshot").want(exitDone)
}

// TestFewFilesMayBeOpen ingests and serves with 64 open files, of which clients that stay connected would take all.
func TestFewFilesMayBeOpen(t *testing.T) {
	s := newShell(t)
	s.letters(burst / 5)
	t.Setenv(restriction, "files=64")
	s.rag("ingest", "docs", "--dir", "kb").want(exitDone).prints(fmt.Sprintf("%d added", burst/5))
	a := s.serveAPI("--write", "--dir", "kb", "--addr", "127.0.0.1:0")
	var stay []*caller
	for range 100 {
		stay = append(stay, a.call())
	}
	for _, c := range stay[:20] {
		if code, body := c.do("POST", "/v1/search", "application/json", `{"query":"end of letter0007"}`); code != http.StatusOK || !strings.Contains(body, "letter0007") {
			t.Fatalf("%d %s", code, body)
		}
	}
	form := "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"late/letter.md\"\r\n\r\nThe beginning of a late letter.\r\n--x--\r\n"
	code, body := stay[0].do("POST", "/v1/ingest", "multipart/form-data; boundary=x", form)
	var job struct {
		ID string `json:"job_id"`
	}
	if err := json.Unmarshal([]byte(body), &job); err != nil || code != http.StatusAccepted {
		t.Fatalf("%d %s", code, body)
	}
	if code, body := stay[0].do("GET", "/v1/jobs/"+job.ID+"/events", "", ""); code != http.StatusOK || !strings.Contains(body, `"added":1`) {
		t.Errorf("%d %s", code, body)
	}
	for _, c := range stay {
		_ = c.conn.Close() // the test may have failed it
	}
	if code, body := a.call().do("GET", "/v1/documents?prefix=upload:", "", ""); code != http.StatusOK || !strings.Contains(body, "late/letter.md") {
		t.Errorf("when they have gone: %d %s", code, body)
	}
}

// caller is a client that stays connected.
type caller struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func (a *apiServer) call() *caller {
	a.t.Helper()
	conn, err := new(net.Dialer).DialContext(a.t.Context(), "tcp", strings.TrimPrefix(a.url, "http://"))
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = conn.Close() })
	return &caller{a.t, conn, bufio.NewReader(conn)}
}

// do makes a request on the connection.
func (c *caller) do(method, path, kind, body string) (code int, answer string) {
	c.t.Helper()
	_, err := fmt.Fprintf(c.conn, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", method, path, kind, len(body), body)
	if err != nil {
		c.t.Fatal(err)
	}
	res, err := http.ReadResponse(c.in, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return res.StatusCode, string(b)
}
