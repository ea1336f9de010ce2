package cli

import (
	"bufio"
	"os"
	"runtime"
	"strings"
	"testing"
)

// chatWith runs chat with lines as its input.
func (s *shell) chatWith(lines string, args ...string) outcome {
	s.t.Helper()
	cmd := s.command(append([]string{"chat"}, args...)...)
	var stdout, stderr strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(lines), &stdout, &stderr
	_ = cmd.Run() // the exit code tells
	return outcome{s.t, "rag chat", stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

func TestChatThroughAPipe(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.rag("ingest", "docs").want(exitDone)
	o := s.chatWith("/sources\nhello\n\nhow many days of annual leave does everybody have?\n/sources\n/trace\n/source\n/help\nexit\nnever asked\n").want(exitDone)
	o.prints("Hello! What would you like to know?", "thirty days of annual leave", "[1] ", "leave.md", "intent search", "trace ", "/reset").
		says("nothing has been asked yet", `"/source" is no command, did you mean "/sources"?`)
	if strings.Contains(o.stdout, "> ") || strings.Contains(o.stdout, "never") {
		t.Errorf("printed:\n%s", o.stdout)
	}
	s.chatWith("what do you know?\n", "--agent").want(exitDone) // the input ends without exit
	s.chatWith("x\n", "--json").want(exitUsage)
}

func TestChatNeedsDocumentsAndGoodSettings(t *testing.T) {
	s := newShell(t)
	s.chatWith("hello\n").want(exitFailed).says("nothing has been ingested")
	s.handbook()
	s.rag("ingest", "docs").want(exitDone)
	s.write("bad.yaml", "embedder: hash\nagent: {max_iter: 3}\n")
	s.chatWith("hello\n", "--config", "bad.yaml").want(exitFailed).says(`agent.max_iter: unknown key`)
	s.rag("config", "check", "--config", "bad.yaml").want(exitFailed).says(`agent.max_iter: unknown key`)
	s.write("course.yaml", "embedder: hash\nagent: {labels: course}\n")
	s.rag("config", "check", "--config", "course.yaml").want(exitDone)
	s.rag("config", "print", "--config", "course.yaml").want(exitDone).prints("agent.labels")
	s.chatWith("hello\n", "--config", "course.yaml").want(exitDone).prints("I don't know.", "off topic")
}

// An interrupt ends the answer; the next question is asked.
func TestInterruptEndsTheAnswer(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be sent an interrupt")
	}
	s := newShell(t)
	s.handbook()
	s.rag("ingest", "docs").want(exitDone)
	s.write("hang.yaml", "embedder: hang\n")
	cmd := s.command("chat", "--config", "hang.yaml")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stdout strings.Builder
	cmd.Stdout = &stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	send := func(line string) {
		if _, err := in.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	send("how many days of annual leave does everybody have?")
	said := bufio.NewScanner(errs)
	broken := false
	for said.Scan() {
		switch line := said.Text(); {
		case strings.Contains(line, "embedding") && !broken:
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		case strings.Contains(line, "broken off"):
			broken = true
			send("hello")
			send("exit")
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if !broken || !strings.Contains(stdout.String(), "What would you like to know?") {
		t.Errorf("broken off %v, printed:\n%s", broken, stdout.String())
	}
}

// rag ask routes, and with --agent but no chat model it says what it does instead.
func TestAskRoutes(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.rag("ingest", "docs").want(exitDone)
	var got struct {
		Intent, Answer, Mode string
		Notes                []struct{ Stage, Reason string }
	}
	s.rag("ask", "hello", "--json").want(exitDone).into(&got)
	if got.Intent != "chat" || got.Mode != "chat" {
		t.Errorf("%+v", got)
	}
	s.rag("ask", "--agent", "how many days of annual leave does everybody have?", "--json").want(exitDone).into(&got)
	if got.Intent != "search" || got.Mode != "extractive" || len(got.Notes) == 0 || !strings.Contains(got.Notes[len(got.Notes)-1].Reason, "there is no chat model") {
		t.Errorf("%+v", got)
	}
}
