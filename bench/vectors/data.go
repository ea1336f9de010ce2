package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/bench/ir"
	"github.com/seed-d8745b77/rag/embed/local"
)

const (
	dims    = 384
	queries = 1000 // of a synthetic set
)

// set is vectors to store and to ask with, all of unit length.
type set struct {
	name    string
	base    [][]float32
	queries [][]float32
}

// write writes a set as raw values, row by row, for programs in other languages.
func (s *set) write(dir string) error {
	for kind, rows := range map[string][][]float32{"base": s.base, "query": s.queries} {
		f, err := os.Create(s.file(dir, kind))
		if err != nil {
			return err
		}
		raw := make([]byte, 4*dims)
		for _, row := range rows {
			for i, x := range row {
				binary.LittleEndian.PutUint32(raw[4*i:], math.Float32bits(x))
			}
			if _, err := f.Write(raw); err != nil {
				f.Close()
				return err
			}
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (s *set) file(dir, kind string) string { return filepath.Join(dir, s.name+"."+kind+".f32") }

// read reads what write wrote.
func read(dir, name string) (*set, error) {
	s := &set{name: name}
	for kind, rows := range map[string]*[][]float32{"base": &s.base, "query": &s.queries} {
		raw, err := os.ReadFile(s.file(dir, kind))
		if err != nil {
			return nil, err
		}
		for ; len(raw) >= 4*dims; raw = raw[4*dims:] {
			row := make([]float32, dims)
			for i := range row {
				row[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
			}
			*rows = append(*rows, row)
		}
	}
	return s, nil
}

// Of the synthetic sets: a mixture of gaussians whose sizes follow Zipf's law and whose axes differ in spread, which
// brings it near to embeddings: there, too, few directions carry most, and subjects differ in size.
const (
	clusters = 1000
	decay    = 0.5 // the spread of axis i is i^-decay
	within   = 0.6 // the spread within a cluster, of that between their centres
)

// synthetic draws a set of n vectors.
func synthetic(name string, n int) *set {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	draw := func(around []float32, scale float64) []float32 {
		v := make([]float32, dims)
		for i := range v {
			v[i] = float32(rng.NormFloat64() * scale * math.Pow(float64(i+1), -decay))
			if around != nil {
				v[i] += around[i]
			}
		}
		return v
	}
	var centres [][]float32
	var shares []float64 // cumulated
	total := 0.0
	for i := range clusters {
		centres = append(centres, draw(nil, 1))
		total += 1 / float64(i+1)
		shares = append(shares, total)
	}
	point := func() []float32 {
		at, x := 0, rng.Float64()*total
		for shares[at] < x {
			at++
		}
		return normalise(draw(centres[at], within))
	}
	s := &set{name: name}
	for range n {
		s.base = append(s.base, point())
	}
	for range queries {
		s.queries = append(s.queries, point())
	}
	return s
}

func normalise(v []float32) []float32 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}

// embedded embeds the sentences and the questions of the English sets with the built-in model.
func embedded(ctx context.Context, shared string) (*set, error) {
	e, err := local.New(local.Config{})
	if err != nil {
		return nil, err
	}
	var sentences, questions []string
	seen := map[string]bool{}
	for _, name := range []string{"scifact", "cranfield", "xquad-en"} {
		texts, err := ir.Read(filepath.Join(shared, "data", "ir", name))
		if err != nil {
			return nil, err
		}
		for _, d := range texts.Docs {
			for s := range strings.SplitSeq(d.FullText(), ". ") {
				if s = strings.TrimSpace(s); len(s) > 20 && !seen[s] {
					seen[s] = true
					sentences = append(sentences, s)
				}
			}
		}
		for _, q := range texts.Queries {
			questions = append(questions, q.Text)
		}
	}
	s := &set{name: "real"}
	if s.base, err = embed(ctx, e, rag.AsPassage, sentences); err != nil {
		return nil, err
	}
	s.queries, err = embed(ctx, e, rag.AsQuestion, questions)
	return s, err
}

func embed(ctx context.Context, e *local.Embedder, role rag.EmbedRole, texts []string) ([][]float32, error) {
	const batch = 512
	var all [][]float32
	for len(texts) > 0 {
		n := min(batch, len(texts))
		vectors, err := e.Embed(ctx, role, texts[:n])
		if err != nil {
			return nil, err
		}
		for _, v := range vectors {
			all = append(all, normalise(v))
		}
		texts = texts[n:]
		fmt.Fprintf(os.Stderr, "\r%d texts left ", len(texts))
	}
	return all, nil
}
