package pdf_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/internal/testdata"
	"github.com/seed-d8745b77/rag/loader/pdf"
	"github.com/seed-d8745b77/rag/ragtest"
)

// damages are what happens to files: bits turn, the end is missing, a block is lost.
var damages = map[string]func(r *rand.Rand, data []byte) []byte{
	"flipped": func(r *rand.Rand, data []byte) []byte {
		for range 1 + r.IntN(20) {
			data[r.IntN(len(data))] ^= 1 << r.IntN(8)
		}
		return data
	},
	"cut": func(r *rand.Rand, data []byte) []byte { return data[:r.IntN(len(data))] },
	"zeroed": func(r *rand.Rand, data []byte) []byte {
		start := r.IntN(len(data))
		clear(data[start:min(len(data), start+1+r.IntN(4096))])
		return data
	},
}

// TestDamaged reads real files that were damaged: each gives a document that keeps the contract or a typed error.
// RAG_DAMAGED=200 tries that many instead of a few of the small ones, and says what they took.
func TestDamaged(t *testing.T) {
	racetest.Skip(t)
	paths, err := filepath.Glob(filepath.Join(testdata.Shared(t, "data", "docs", "pdf"), "*.pdf"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files: %v", err)
	}
	all, _ := strconv.Atoi(os.Getenv("RAG_DAMAGED"))
	n, largest := all, 10<<20
	if all == 0 {
		n, largest = 24, 100<<10
	}
	paths = slices.DeleteFunc(paths, func(p string) bool {
		info, err := os.Stat(p)
		return err != nil || info.Size() > int64(largest)
	})
	kinds := []string{"flipped", "cut", "zeroed"}
	read, longest := 0, time.Duration(0)
	for i := range n {
		path, kind := paths[i%len(paths)], kinds[i%len(kinds)]
		t.Run(fmt.Sprintf("%d %s %s", i, kind, filepath.Base(path)), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			data = damages[kind](rand.New(rand.NewPCG(uint64(i), 6)), data)
			start := time.Now()
			doc, err := load(t, pdf.Config{}, data)
			took := time.Since(start)
			t.Logf("%s, error %v, warnings %v", took.Round(time.Millisecond), err, doc.Warnings)
			longest = max(longest, took)
			if err != nil {
				if !errors.Is(err, rag.ErrInvalid) && !errors.Is(err, rag.ErrUnsupported) {
					t.Errorf("an error of no kind: %v", err)
				}
				return
			}
			read++
			if err := ragtest.CheckDocument(doc); err != nil {
				t.Error(err)
			}
		})
	}
	t.Logf("%d of %d could be read; longest %s; peak memory %s", read, n, longest.Round(time.Millisecond), peakMemory())
}

var peakLine = regexp.MustCompile(`VmHWM:\s*(.*)`)

// peakMemory is the most memory that the process ever had, where the system tells.
func peakMemory() string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "unknown"
	}
	return string(peakLine.FindSubmatch(status)[1])
}
