package cli

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// apiServer is `rag serve http` as somebody runs it.
type apiServer struct {
	t          *testing.T
	cmd        *exec.Cmd
	url, token string
}

// serveAPI starts one on a free port, and waits until it says where it serves.
func (s *shell) serveAPI(args ...string) *apiServer {
	s.t.Helper()
	a := &apiServer{t: s.t, cmd: s.command(append([]string{"serve", "http"}, args...)...)}
	stderr, err := a.cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := a.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = a.cmd.Process.Kill(); _ = a.cmd.Wait() })
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if _, url, ok := strings.Cut(lines.Text(), "serving "); ok {
			a.url = url
		}
		if _, token, ok := strings.Cut(lines.Text(), "the token is "); ok {
			a.token = token
		}
		if a.url != "" && (a.token != "" || strings.Contains(a.url, "//127.")) {
			go io.Copy(io.Discard, stderr)
			return a
		}
	}
	s.t.Fatalf("it ends before it serves: %v", a.cmd.Wait())
	return nil
}

func (a *apiServer) post(path, token, body string) (int, string) {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), http.MethodPost, a.url+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func TestServeHTTP(t *testing.T) {
	s := withData(t)
	a := s.serveAPI("--addr", "127.0.0.1:0")
	if code, body := a.post("/v1/search", "", `{"query":"leave"}`); code != 200 || !strings.Contains(body, "27 days") {
		t.Errorf("%d %s", code, body)
	}
	s.rag("search", "leave").want(exitDone) // beside it
	if code, _ := a.post("/v1/ingest", "", `{"path":"/"}`); code != 403 {
		t.Errorf("without --write: %d", code)
	}
	if err := a.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Skipf("no interrupt on this system: %v", err)
	}
	if err := a.cmd.Wait(); err != nil {
		t.Errorf("an interrupt ends it with %v", err)
	}
}

func TestServeHTTPAsksForAToken(t *testing.T) {
	a := withData(t).serveAPI("--addr", "0.0.0.0:0")
	a.url = strings.NewReplacer("[::]", "127.0.0.1", "0.0.0.0", "127.0.0.1").Replace(a.url)
	if code, _ := a.post("/v1/search", "", `{"query":"leave"}`); code != 401 {
		t.Errorf("without the token: %d", code)
	}
	if code, body := a.post("/v1/search", a.token, `{"query":"leave"}`); code != 200 {
		t.Errorf("with the token: %d %s", code, body)
	}
}

func TestServeHTTPRefuses(t *testing.T) {
	s := newShell(t)
	s.rag("serve", "http", "--addr", "8080").want(exitUsage)
	s.rag("serve", "http", "--allow-ingest", ".").want(exitUsage)
	s.rag("serve", "http", "--addr", "127.0.0.1:0", "--tokens", s.write("t.json", "x")).want(exitFailed)
	s.rag("serve", "http", "--addr", "127.0.0.1:0", "--queue", "-1").want(exitUsage)
}

// The examples of docs/http.md are run as they stand, one after the other, with the address and the folder of a test; the
// comment behind each block says what must stand in what it prints.
func TestExamplesOfHTTPDocs(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl on this machine")
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "http.md"))
	if err != nil {
		t.Fatal(err)
	}
	s := newShell(t)
	s.write("papers/leave.md", "---\nyear: 2025\n---\n# Leave\n\nEvery employee has 27 days of paid leave.\n")
	s.write("notes.md", "# Notes\n\nThe office is closed on Friday.\n")
	a := s.serveAPI("--addr", "127.0.0.1:0", "--dir", "kb", "--write", "--allow-ingest", filepath.Join(s.dir, "papers"))
	blocks := regexp.MustCompile("(?s)```sh\n(curl.*?)```\n<!-- prints: (.*?) -->").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 8 {
		t.Fatalf("only %d examples", len(blocks))
	}
	job := ""
	for _, b := range blocks {
		line := strings.NewReplacer("http://127.0.0.1:8080", a.url, "/home/me/papers", filepath.Join(s.dir, "papers"), "$JOB", job).Replace(b[1])
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Dir = s.dir
		out, err := cmd.Output()
		if err != nil || !strings.Contains(string(out), b[2]) {
			t.Fatalf("%s\n%v: %s; want %s", line, err, out, b[2])
		}
		if m := regexp.MustCompile(`"job_id":"(\w+)"`).FindSubmatch(out); m != nil {
			job = string(m[1])
		}
	}
}
