package cli

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// dashboardServer is `rag dashboard` as somebody runs it.
type dashboardServer struct {
	t     *testing.T
	cmd   *exec.Cmd
	url   string
	token string
}

// serveDashboard starts one on a free port, and waits until it says where it serves.
func (s *shell) serveDashboard(args ...string) *dashboardServer {
	s.t.Helper()
	d := &dashboardServer{t: s.t, cmd: s.command(append([]string{"dashboard"}, args...)...)}
	stderr, err := d.cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = d.cmd.Process.Kill(); _ = d.cmd.Wait() })
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if _, url, ok := strings.Cut(lines.Text(), "serving "); ok {
			d.url = url
		}
		if _, token, ok := strings.Cut(lines.Text(), "the token is "); ok {
			d.token = token
		}
		if d.url != "" && (d.token != "" || strings.Contains(d.url, "//127.")) {
			go io.Copy(io.Discard, stderr)
			return d
		}
	}
	s.t.Fatalf("it ends before it serves: %v", d.cmd.Wait())
	return nil
}

// get asks for a page.
func (d *dashboardServer) get(path, token string) (int, string) {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, d.url+path, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func TestDashboardServes(t *testing.T) {
	s := withData(t)
	d := s.serveDashboard("--addr", "127.0.0.1:0", "--snapshot")
	if code, body := d.get("browse?q=leave&format=json", ""); code != 200 || !strings.Contains(body, "27 days") {
		t.Errorf("%d %s", code, body)
	}
	s.rag("search", "leave").want(exitDone) // beside a snapshot
	if err := d.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Skipf("no interrupt on this system: %v", err)
	}
	if err := d.cmd.Wait(); err != nil {
		t.Errorf("an interrupt ends it with %v", err)
	}
}

func TestDashboardAsksForAToken(t *testing.T) {
	d := withData(t).serveDashboard("--addr", "0.0.0.0:0")
	d.url = strings.NewReplacer("[::]", "127.0.0.1", "0.0.0.0", "127.0.0.1").Replace(d.url)
	if code, _ := d.get("", ""); code != 401 {
		t.Errorf("without the token: %d; want 401", code)
	}
	if code, _ := d.get("", d.token); code != 200 {
		t.Errorf("with the token %q: %d; want 200", d.token, code)
	}
}

func TestDashboardRefuses(t *testing.T) {
	s := newShell(t)
	s.rag("dashboard", "--addr", "8501").want(exitUsage)
	s.rag("dashboard", "--addr", "127.0.0.1:0", "--token", "short").want(exitFailed)
	s.in(t).rag("dashboard", "--addr", "127.0.0.1:0", "--snapshot", "--dir", "nowhere").want(exitFailed)
}
