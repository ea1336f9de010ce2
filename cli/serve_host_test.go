package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// host starts `rag` with these arguments, has it begin a call, says "ready" and waits to be killed: nobody closes its pipes
// then but the system. A shell between the two tells the exit code on descriptor 3.
func host(args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command("sh", append([]string{"-c", `"$0" "$@"; echo "exit $?" >&3`, self}, args...)...)
	cmd.Env = append(os.Environ(), role+"="+roleMain)
	cmd.ExtraFiles = []*os.File{os.NewFile(3, "code")}
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	stderr, errErr := cmd.StderrPipe()
	if errIn != nil || errOut != nil || errErr != nil {
		return fmt.Errorf("pipes: %w, %w, %w", errIn, errOut, errErr)
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","arguments":{"query":"days of leave"}}}`)
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if lines.Text() == "waiting" {
			fmt.Println("ready")
			_, err := io.Copy(io.Discard, os.Stdin)
			return err
		}
	}
	return fmt.Errorf("the server ends without a call: %w", cmd.Wait())
}

// A host that is killed leaves no server behind: it ends the call under way, with exit code 0, although nobody reads its log
// any more.
func TestServeMCPEndsWhenItsHostIsKilled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no sh, and no descriptors to inherit")
	}
	s := withData(t)
	cmd := s.command("serve", "mcp", "--verbose", "--config", s.write("waits.yaml", "embedder: waits\n"))
	cmd.Env = append(cmd.Env, role+"="+roleHost)
	code, inherited, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer code.Close()
	cmd.ExtraFiles = []*os.File{inherited}
	in, errIn := cmd.StdinPipe() // open until the end: it is not what ends the host
	out, errOut := cmd.StdoutPipe()
	if errIn != nil || errOut != nil {
		t.Fatal(errIn, errOut)
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inherited.Close()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the host says %q, %v", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	said, err := io.ReadAll(code) // ends when no process has the descriptor any more
	if err != nil || strings.TrimSpace(string(said)) != "exit 0" {
		t.Errorf("the server leaves %q, %v", said, err)
	}
	s.tracesSay("context canceled")
}
