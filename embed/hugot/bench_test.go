//go:build unix && !ORT && !ALL

package hugot_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/embed/hugot"
	"github.com/seed-d8745b77/rag/embed/local"
	"github.com/seed-d8745b77/rag/internal/encoder"
	"github.com/seed-d8745b77/rag/internal/onnx/onnxtest"
	"github.com/seed-d8745b77/rag/internal/testdata"
)

// BenchmarkEngines compares hugot's backend in Go with our encoder: the same model, fp32, the built-in int8 too. The
// engines take turns within an iteration, so that what else the machine does falls on all alike; the figures are
// texts per second of CPU time, medians over the iterations.
//
//	RAG_SHARED=… go test -run '^$' -bench Engines -benchtime 3x ./embed/hugot
func BenchmarkEngines(b *testing.B) {
	const texts = 8 // a full batch of hugot's; our encoder takes any number
	from := testdata.Shared(b, "models", "all-minilm-l6-v2")
	converted := b.TempDir()
	onnxtest.Write(b, from, converted, onnxtest.Options{})
	theirs := open(b, hugot.Config{Dir: converted})
	model, err := encoder.LoadDir(from, encoder.Options{})
	if err != nil {
		b.Fatal(err)
	}
	fp32 := encoder.NewRunner(model, 0)
	quantised, err := local.New(local.Config{})
	if err != nil {
		b.Fatal(err)
	}
	for _, tokens := range []int{32, 128, 256} {
		text := strings.TrimSpace(strings.Repeat("water ", tokens-2)) // between [CLS] and [SEP]
		if n := theirs.CountTokens(text); n != tokens-2 {
			b.Fatalf("%d tokens, want %d", n, tokens-2)
		}
		batch := slices.Repeat([]string{text}, texts)
		ids := make([][]int32, texts)
		for i := range ids {
			ids[i] = slices.Repeat([]int32{2300}, tokens) // "water"
		}
		engines := []struct {
			name  string
			embed func() error
		}{
			{"hugot", func() error { _, err := theirs.Embed(b.Context(), rag.AsPassage, batch); return err }},
			{"fp32", func() error { _, err := fp32.Embed(b.Context(), ids); return err }},
			{"int8", func() error { _, err := quantised.Embed(b.Context(), rag.AsPassage, batch); return err }},
		}
		b.Run(fmt.Sprintf("%d", tokens), func(b *testing.B) {
			cpu, wall := map[string][]float64{}, map[string][]float64{}
			for range b.N {
				for _, e := range engines {
					c, w := cpuSeconds(b), time.Now()
					if err := e.embed(); err != nil {
						b.Fatal(err)
					}
					cpu[e.name] = append(cpu[e.name], cpuSeconds(b)-c)
					wall[e.name] = append(wall[e.name], time.Since(w).Seconds())
				}
			}
			for _, e := range engines {
				b.ReportMetric(texts/median(cpu[e.name]), e.name+"/cpu-s")
				b.ReportMetric(texts/median(wall[e.name]), e.name+"/s")
			}
			b.ReportMetric(median(cpu["hugot"])/median(cpu["fp32"]), "fp32-ratio")
			b.ReportMetric(median(cpu["hugot"])/median(cpu["int8"]), "int8-ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// cpuSeconds is what this process has used, of user and system time.
func cpuSeconds(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return (time.Duration(u.Utime.Nano()) + time.Duration(u.Stime.Nano())).Seconds()
}

func median[T cmp.Ordered](v []T) T {
	slices.Sort(v)
	return v[len(v)/2]
}
