package boltkv_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag/internal/boltkv"
	"github.com/seed-d8745b77/rag/internal/boltkv/fault"
)

// The test binary runs itself as another process: childMode says what it does there, childDir where.
const (
	childMode = "BOLTKV_TEST_CHILD"
	childDir  = "BOLTKV_TEST_DIR"
)

func TestMain(m *testing.M) {
	switch mode := os.Getenv(childMode); mode {
	case "":
		os.Exit(m.Run())
	case "hold", "commit":
		if err := child(mode, os.Getenv(childDir)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// child opens the database, prints a line, and then holds it until its input ends, or commits until it is killed.
func child(mode, dir string) error {
	if n, err := strconv.Atoi(os.Getenv(childKill)); err == nil {
		defer fault.Intercept(fault.KillAt(n, float64(n%3)/2))()
	}
	db, err := boltkv.Open(dir)
	if err != nil {
		return err
	}
	fmt.Println("open")
	if mode == "hold" {
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // ends with the parent
		return db.Close()
	}
	for {
		n, err := commitNext(db)
		if err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// keptNumbers is how many numbers have records: a child that commits for a minute must not fill the disk.
const keptNumbers = 100

// recordsAt is how many records there are with the counter, itself among them.
func recordsAt(n uint64) uint64 { return min(n, keptNumbers)*50 + 1 }

// commitNext writes the next number: a counter, and 50 records of it in place of those of the oldest, all in one transaction.
func commitNext(db *boltkv.DB) (n uint64, err error) {
	err = db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte("numbers"))
		if err != nil {
			return err
		}
		n = counter(b) + 1
		for i := range 50 {
			key := binary.BigEndian.AppendUint64(nil, n*50+uint64(i))
			if err := b.Put(key, make([]byte, 1500)); err != nil {
				return err
			}
			if n > keptNumbers {
				if err := b.Delete(binary.BigEndian.AppendUint64(nil, (n-keptNumbers)*50+uint64(i))); err != nil {
					return err
				}
			}
		}
		return b.Put([]byte("counter"), binary.BigEndian.AppendUint64(nil, n))
	})
	return n, err
}

func counter(b *bolt.Bucket) uint64 {
	if v := b.Get([]byte("counter")); v != nil {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

// startChild runs the test binary as another process and returns what it says.
func startChild(t *testing.T, mode, dir string) (cmd *exec.Cmd, lines *bufio.Scanner) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(exe)
	cmd.Env = append(os.Environ(), childMode+"="+mode, childDir+"="+dir)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // fails if it has ended already
		_ = cmd.Wait()
	})
	return cmd, bufio.NewScanner(out)
}

// openChild is startChild, and waits until it has opened the database.
func openChild(t *testing.T, mode, dir string) (cmd *exec.Cmd, lines *bufio.Scanner) {
	t.Helper()
	cmd, lines = startChild(t, mode, dir)
	if !lines.Scan() || lines.Text() != "open" {
		t.Fatalf("the child said %q, want open", lines.Text())
	}
	return cmd, lines
}
