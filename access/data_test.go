package access_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/access"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/ragtest"
)

func TestFollowingOpensWhatHasChanged(t *testing.T) {
	stamp, opened := "1", 0
	var fails error
	f := access.Follow(func(context.Context) (*rag.Engine, error) {
		if fails != nil {
			return nil, fails
		}
		opened++
		return rag.Open("", rag.WithEmbedder(&ragtest.HashEmbedder{}))
	}, func() string { return stamp }, nil)
	lend := func() (*rag.Engine, func()) {
		t.Helper()
		e, done, err := f.Lend(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return e, done
	}
	fails = errors.New("no folder")
	if _, _, err := f.Lend(t.Context()); !errors.Is(err, fails) {
		t.Errorf("error %v", err)
	}
	fails = nil
	first, done := lend()
	if again, done := lend(); again != first || opened != 1 {
		t.Error("what has not changed is opened again")
	} else {
		done()
	}
	stamp = "2"
	var second *rag.Engine
	for second = first; second == first; { // opening has its pauses
		var done func()
		second, done = lend()
		done()
	}
	if _, err := first.Collections(t.Context()); err != nil {
		t.Errorf("an engine in use is closed: %v", err)
	}
	done()
	if _, err := first.Search(t.Context(), rag.Query{Text: "x"}); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("an engine that nobody uses is open: %v", err)
	}
	fails, stamp = errors.New("locked"), "3"
	if e, done := lend(); e != second {
		t.Error("the state before is not lent")
	} else {
		done()
	}
	f.Close()
	if _, _, err := f.Lend(t.Context()); err == nil {
		t.Error("closed data is lent")
	}
}
