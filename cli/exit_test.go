package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
)

func TestClassify(t *testing.T) {
	for _, tt := range []struct {
		err  error
		kind string
		code int
	}{
		{errors.New("anything"), "failed", exitFailed},
		{fmt.Errorf("open: %w", rag.ErrLocked), "locked", exitLocked},
		{fmt.Errorf("c: %w", rag.ErrFingerprint), "fingerprint", exitFingerprint},
		{errors.Join(rag.ErrPartial, rag.ErrInvalid), "partial", exitPartial},
		{fmt.Errorf("%w: %w", rag.ErrUnavailable, rag.ErrInvalid), "unavailable", exitFailed},
		{rag.ErrNotFound, "not_found", exitFailed},
		{rag.ErrUnknownProvider, "unknown_provider", exitFailed},
		{fmt.Errorf("interrupted: %w", context.Canceled), "canceled", exitFailed},
		{&usageError{"rag", "no"}, "usage", exitUsage},
		{&reported{exitPartial}, "failed", exitPartial},
	} {
		kind, code := classify(tt.err)
		if kind != tt.kind || code != tt.code {
			t.Errorf("classify(%v): got %s, %d, want %s, %d", tt.err, kind, code, tt.kind, tt.code)
		}
	}
}

func TestErrorKindsAreDocumented(t *testing.T) {
	for _, k := range kinds {
		if !strings.Contains(reference, "`"+rag.ErrorKind(k.err)+"`") {
			t.Errorf("the reference does not name the error kind %s", rag.ErrorKind(k.err))
		}
	}
}

func TestUsageErrors(t *testing.T) {
	s := newShell(t)
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"serch", "x"}, `unknown command "serch", did you mean "search"?`},
		{[]string{"--nope"}, "unknown flag: --nope"},
		{[]string{"search", "--nope", "x"}, "unknown flag: --nope"},
		{[]string{"search"}, "no question given"},
		{[]string{"search", "  "}, "no question given"},
		{[]string{"search", "x", "--top-k", "many"}, `--top-k: want a whole number, got "many"`},
		{[]string{"search", "x", "--overlap", "x"}, "unknown flag"},
		{[]string{"verify", "--overlap", "x"}, `--overlap: want a number, got "x"`},
		{[]string{"search", "x", "--wait", "5"}, `--wait: want a time such as 30s or 5m, got "5"`},
		{[]string{"search", "x", "--wait", "-5s"}, "--wait: want a time such as 30s or 5m that is not negative, got -5s"},
		{[]string{"serve", "http", "--concurrent", "-1"}, "--concurrent: want a whole number that is not negative, got -1"},
		{[]string{"search", "x", "--top-k", "0"}, "at least 1"},
		{[]string{"search", "x", "--mode", "hybird"}, `did you mean "hybrid"?`},
		{[]string{"search", "x", "--fuzzy", "3"}, "from 0 to 2"},
		{[]string{"search", "x", "--filter", "year"}, `column 5: expected an operator after "year"`},
		{[]string{"search", "x", "--filter", "手册 == x"}, `found "==", did you mean "="?` + "\n  手册 == x\n       ^"},
		{[]string{"search", "x", "--as-of", "yesterday"}, "--as-of"},
		{[]string{"ingest"}, "no file or folder given"},
		{[]string{"ingest", "docs", "--watch", "--dry-run"}, "--watch does not go with --dry-run"},
		{[]string{"delete"}, "no document named"},
		{[]string{"delete", "a.md", "--all"}, "not both"},
		{[]string{"show"}, "missing argument"},
		{[]string{"show", "a", "b"}, "too many arguments"},
		{[]string{"load"}, "missing argument"},
		{[]string{"list", "files"}, "collections and documents"},
		{[]string{"verify", "x"}, "too many arguments"},
		{[]string{"explain", "x"}, "one of --chunk, --text and --document"},
		{[]string{"export", "-"}, "name a file to write"},
		{[]string{"backup", "-"}, "name a file to write"},
		{[]string{"eval", "generate", "--out", "-"}, "name a file to write"},
		{[]string{"tune", "--test-set", "x", "--out", "-"}, "name a file to write"},
		{[]string{"config", "prnt"}, `did you mean "print"?`},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			s := s.in(t)
			o := s.rag(tt.args...).want(exitUsage).says(tt.says, "--help` shows the usage")
			if o.stdout != "" {
				t.Errorf("standard output: %s", o.stdout)
			}
			var e errorJSON
			s.rag(append([]string{"--json"}, tt.args...)...).want(exitUsage).into(&e)
			if e.Error.Kind != "usage" || !strings.Contains(e.Error.Message, tt.says) {
				t.Errorf("with --json: got %+v", e)
			}
		})
	}
}

func TestLockedDataFolder(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.rag("ingest", "docs").want(exitDone)

	holder := exec.CommandContext(t.Context(), os.Args[0], filepath.Join(s.dir, ".rag"))
	holder.Env = append(os.Environ(), role+"="+roleHold)
	holder.Stderr = os.Stderr
	stdin, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, stdout, "open")
	var e errorJSON
	s.rag("search", "coffee", "--json").want(exitLocked).into(&e)
	if e.Error.Kind != "locked" || !strings.Contains(e.Error.Message, fmt.Sprint(holder.Process.Pid)) {
		t.Errorf("got %+v, want the holder's process %d named", e, holder.Process.Pid)
	}
	s.rag("search", "coffee", "--snapshot").want(exitDone).prints("notes.txt")
	s.rag("list", "--snapshot").want(exitDone).prints("default")
	s.rag("show", "docs/notes.txt", "--snapshot").want(exitDone).prints("coffee machine")
	s.rag("verify", "--snapshot").want(exitDone).prints("ok")
	s.rag("export", "all.jsonl", "--snapshot").want(exitDone).prints("3 documents")
	s.rag("backup", "--snapshot", "copy.backup").want(exitDone)
	s.rag("delete", "--all", "--snapshot", "--yes").want(exitFailed).says("the data is open as a snapshot, which can only be read")
	s.rag("ingest", "docs", "--snapshot").want(exitFailed).says("the data is open as a snapshot")
	s.rag("ingest", "docs", "--snapshot", "--dry-run", "--verbose").want(exitDone).prints("unchanged")

	waiting := s.command("search", "coffee", "--wait", "1h")
	if err := waiting.Start(); err != nil {
		t.Fatal(err)
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := holder.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := waiting.Wait(); err != nil {
		t.Errorf("a search that waits: %v", err)
	}
	s.rag("search", "coffee").want(exitDone)
}

func TestCollectionOfAnotherPipeline(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.rag("ingest", "docs").want(exitDone)
	s.write("other.yaml", "embedder: other\n")
	s.rag("search", "coffee", "--config", "other.yaml").want(exitFingerprint).says("hash/1", "hash/2")
	s.rag("ingest", "docs", "--config", "other.yaml").want(exitFingerprint)
	s.rag("search", "coffee").want(exitDone)
}

func TestInterruptedIngest(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot send an interrupt here")
	}
	s := newShell(t)
	s.handbook()
	s.write("hang.yaml", "embedder: hang\n")
	cmd := s.command("ingest", "docs", "--config", "hang.yaml")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	rest := waitFor(t, stderr, "embedding")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(rest)
	if err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitFailed {
		t.Errorf("got %v, want exit code %d", err, exitFailed)
	}
	if !strings.Contains(string(said), "the next ingest finishes the work") {
		t.Errorf("got %q", said)
	}
	s.rag("ingest", "docs").want(exitDone).prints("3 added")
	s.rag("verify").want(exitDone)
}

// The kind at an error's end is not printed, so the text in front of it must say by itself what is wrong.
func TestErrorsSayWhatIsWrongWithoutTheirKind(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.rag("ingest", "docs").want(exitDone)
	s.write("model.yaml", "embedder: {provider: local, model: nope}\n")
	for want, args := range map[string][]string{
		`no collection "nope"`:       {"search", "coffee", "-c", "nope"},
		`unknown model "nope"`:       {"list", "--config", "model.yaml"},
		`unknown model "nope" (`:     {"models", "where", "nope"},
		`no passage contains "nope"`: {"explain", "coffee", "--text", "nope"},
	} {
		s.rag(args...).want(exitFailed).says(want)
	}
}

func TestAKilledReindexIsTold(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.write("hang.yaml", "embedder: hang\nembed_cache: none\n")
	s.write("other.yaml", "embedder: other\n")
	other := []string{"--config", "other.yaml"}
	run := func(args ...string) outcome { return s.rag(append(args, other...)...) }
	run("ingest", "docs").want(exitDone)
	cmd := s.command("reindex", "--config", "hang.yaml")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, stderr, "embedding")
	run("search", "coffee").want(exitLocked).says("--snapshot reads beside it")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	var report rag.VerifyReport
	run("verify", "--json").into(&report)
	if !report.Unfinished || report.Run != rag.RunReindex {
		t.Errorf("unfinished %t, run %q, want %q", report.Unfinished, report.Run, rag.RunReindex)
	}
	run("verify").want(exitFailed).prints("a reindex was cut short: the indexes in use are whole")
	run("search", "coffee").want(exitDone)
	run("verify", "--repair").want(exitDone)
	run("verify").want(exitDone)
}

// waitFor reads lines until one is the text, and returns the reader of what follows.
func waitFor(t *testing.T, r io.Reader, text string) io.Reader {
	t.Helper()
	br := bufio.NewReader(r)
	for {
		line, err := br.ReadString('\n')
		if strings.TrimSpace(line) == text {
			return br
		}
		if err != nil {
			t.Fatalf("the process ended before it said %q: %v", text, err)
		}
	}
}
