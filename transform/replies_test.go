package transform

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

func TestASharedQuestionIsAskedOnce(t *testing.T) {
	const readers = 16
	var arrived sync.WaitGroup
	arrived.Add(readers)
	script := &ragtest.Script{Reply: func(rag.ChatRequest) string {
		arrived.Wait() // all have asked for it, or are about to
		return "yes"
	}}
	a, err := newAsker("step", "task", script, LLMConfig{})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range readers {
		all.Go(func() {
			arrived.Done()
			var got string
			err := a.ask(t.Context(), "about", question("task", "text", nil), func(reply string) error { got = reply; return nil })
			if err != nil || got != "yes" {
				t.Errorf("reply %q, error %v", got, err)
			}
		})
	}
	all.Wait()
	if n := len(script.Requests()); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestWaitingForAReplyEndsWithTheContext(t *testing.T) {
	r := NewReplies("")
	end, err := r.turn(t.Context(), "key")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.turn(ctx, "key"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	end()
	if end, err = r.turn(t.Context(), "key"); err != nil {
		t.Fatal(err)
	}
	end()
}

func TestRepliesNotUsedForLongestGo(t *testing.T) {
	dir := t.TempDir()
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 5 {
		path := filepath.Join(dir, fmt.Sprintf("%d.json", i))
		used := day.AddDate(0, 0, (i+3)%5) // 2 is the oldest, then 3
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, used, used)); err != nil {
			t.Fatal(err)
		}
	}
	prune(dir, 3)
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range left {
		left[i] = filepath.Base(left[i])
	}
	if diff := cmp.Diff([]string{"0.json", "1.json", "4.json"}, left); diff != "" {
		t.Error(diff)
	}
}

func TestAReplyThatIsReadCountsAsUsed(t *testing.T) {
	r := NewReplies(t.TempDir())
	key := replyKey("asker", "", rag.ChatRequest{})
	r.put(key, "yes")
	old := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(r.path(key), old, old); err != nil {
		t.Fatal(err)
	}
	if reply, ok := r.get(key); !ok || reply != "yes" {
		t.Fatalf("get = %q, %v", reply, ok)
	}
	if info, err := os.Stat(r.path(key)); err != nil || !info.ModTime().After(old) {
		t.Errorf("used %v, error %v", info.ModTime(), err)
	}
}
