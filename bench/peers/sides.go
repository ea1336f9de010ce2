package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-d8745b77/rag/eval"
)

//go:embed pipeline.py
var pipeline string

// plan is how much is measured.
type plan struct {
	work                                string
	questions, reranked, starts, rounds int
}

// figures of one side over one set; times in seconds.
type figures struct {
	passages           int
	ingest, ingestPeak []float64 // of each round
	start, askPeak     []float64
	plain, reranked    []float64 // of each question
	ndcg, hit1, hit5   float64   // means, of the first round: the others give the same
}

// measure runs the sides over the set, one after the other in each round, the first one being another each time.
func (p plan) measure(ctx context.Context, s set, dir string) (result, error) {
	roles := []string{roleBuiltin, rolePython, roleFP32}
	r := result{set: s, sides: map[string]*figures{}}
	for round := range p.rounds {
		for i := range roles {
			role := roles[(i+round)%len(roles)]
			if r.sides[role] == nil {
				r.sides[role] = &figures{}
			}
			store, err := os.MkdirTemp(dir, "store")
			if err != nil {
				return r, err
			}
			if err := p.side(ctx, role, s, store, r.sides[role]); err != nil {
				return r, fmt.Errorf("%s: %w", role, err)
			}
			fmt.Fprintf(os.Stderr, "%s: round %d of %s\n", s.name, round+1, role)
			if err := os.RemoveAll(store); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

// side measures one round of one side.
func (p plan) side(ctx context.Context, role string, s set, store string, f *figures) error {
	start := time.Now()
	pr, err := p.start(ctx, role, "ingest", store, s.folder, s.how)
	if err != nil {
		return err
	}
	var done ingested
	if err := errors.Join(pr.read(&done), pr.end()); err != nil {
		return err
	}
	f.passages = done.Passages
	f.ingest, f.ingestPeak = append(f.ingest, time.Since(start).Seconds()), append(f.ingestPeak, done.PeakMB)

	for range p.starts {
		start := time.Now()
		pr, err := p.start(ctx, role, "ask", store)
		if err != nil {
			return err
		}
		if _, err := pr.ask(question{Text: s.asked[0].text}); err != nil {
			return err
		}
		f.start = append(f.start, time.Since(start).Seconds())
		if _, err := pr.peak(); err != nil {
			return err
		}
	}
	return p.questionsOf(ctx, role, s, store, f)
}

// questionsOf asks all questions of one process, after one of each kind that does not count.
func (p plan) questionsOf(ctx context.Context, role string, s set, store string, f *figures) error {
	pr, err := p.start(ctx, role, "ask", store)
	if err != nil {
		return err
	}
	for _, rerank := range []bool{false, true} {
		if _, err := pr.ask(question{"what has to be loaded is loaded now", rerank}); err != nil {
			return err
		}
	}
	var ndcg, hit1, hit5 float64
	for i, q := range s.asked {
		a, err := pr.ask(question{Text: q.text})
		if err != nil {
			return err
		}
		f.plain = append(f.plain, a.Seconds)
		ranked := firsts(a.Sources)
		ndcg += of(eval.NDCG, 10, ranked, q.grades)
		hit1 += of(eval.Hit, 1, ranked, q.grades)
		hit5 += of(eval.Hit, 5, ranked, q.grades)
		if i < p.reranked {
			if a, err = pr.ask(question{q.text, true}); err != nil {
				return err
			}
			f.reranked = append(f.reranked, a.Seconds)
		}
	}
	n := float64(len(s.asked))
	f.ndcg, f.hit1, f.hit5 = ndcg/n, hit1/n, hit5/n
	peak, err := pr.peak()
	f.askPeak = append(f.askPeak, peak)
	return err
}

func of(kind string, k int, ranked []string, grades eval.Grades) float64 {
	v, _ := eval.Metric{Kind: kind, K: k}.Of(ranked, grades)
	return v
}

// firsts returns each document at the place of its best passage.
func firsts(sources []string) []string {
	var out []string
	for _, s := range sources {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// process is a running side.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	say *json.Encoder
}

func (p plan) start(ctx context.Context, role, verb, store string, more ...string) (*process, error) {
	args := append([]string{verb, filepath.Join(p.work, "models"), store}, more...)
	var cmd *exec.Cmd
	if role == rolePython {
		cmd = exec.CommandContext(ctx, filepath.Join(p.work, "venv", "bin", "python"), append([]string{"-c", pipeline}, args...)...)
	} else {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		cmd = exec.CommandContext(ctx, self, append([]string{role}, args...)...)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var said tail
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &process{cmd, in, bufio.NewReader(out), json.NewEncoder(in)}, nil
}

func (pr *process) ask(q question) (answer, error) {
	if err := pr.say.Encode(q); err != nil {
		return answer{}, pr.failed(err)
	}
	var a answer
	return a, pr.read(&a)
}

func (pr *process) read(into any) error {
	line, err := pr.out.ReadBytes('\n')
	if err != nil {
		return pr.failed(err)
	}
	return json.Unmarshal(line, into)
}

// peak ends a process that answers, and returns the most memory that it had.
func (pr *process) peak() (float64, error) {
	var last ingested
	err := errors.Join(pr.in.Close(), pr.read(&last), pr.cmd.Wait())
	return last.PeakMB, err
}

func (pr *process) end() error {
	return errors.Join(pr.in.Close(), pr.cmd.Wait())
}

// failed is err with what the process wrote to its error stream.
func (pr *process) failed(err error) error {
	_ = pr.cmd.Wait()
	return fmt.Errorf("%w: %s", err, pr.cmd.Stderr)
}

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

func (t *tail) Write(b []byte) (int, error) {
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-2000):]
	return len(b), nil
}

func (t *tail) String() string { return string(t.text) }
