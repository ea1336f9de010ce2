package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// bench runs the tests of a package.
type bench struct {
	dir, binary string
	work        string               // a folder of its own, for what the tests leave in the temporary folder
	tests       []test               // quickest first
	reach       map[int]map[int]bool // tests that reach a mutant: indices by number
}

type test struct {
	name string
	took time.Duration // of the processor, which a busy machine does not change
}

// fate is what became of a mutant.
type fate int

const (
	killed     fate = iota // a test failed, or did not end
	survived               // no test failed
	notReached             // no test comes by: it survived too
)

// What the tests of one mutant may use: an endless loop is ended by the first, one that collects by the second, and one that
// waits by the third.
const (
	leastCPU   = 2 * time.Second // and mostTimes as much as the tests take without the mutant
	mostTimes  = 5
	mostMemory = 8 << 20 // of address space, in KiB
	mostClock  = 10      // times the processor time; a machine as busy as that is not the one to measure on
)

// newBench runs each test by itself, without a mutant, to see how long it takes and which mutants it reaches.
func newBench(ctx context.Context, s subject, binary, work string, jobs int) (*bench, error) {
	b := &bench{dir: s.dir, binary: binary, work: work, reach: map[int]map[int]bool{}}
	list, err := exec.CommandContext(ctx, binary, "-test.list", cmp.Or(s.tests, ".")).Output()
	if err != nil {
		return nil, fmt.Errorf("list the tests: %w", err)
	}
	for name := range strings.FieldsSeq(string(list)) {
		if !strings.HasPrefix(name, "Benchmark") {
			b.tests = append(b.tests, test{name: name})
		}
	}
	logs := make([]string, len(b.tests))
	err = each(ctx, jobs, len(b.tests), func(i int) error {
		logs[i] = filepath.Join(work, fmt.Sprintf("reached.%d", i))
		r, err := b.run(ctx, []test{b.tests[i]}, "REACHED="+logs[i], 0)
		if err == nil && !r.ok {
			err = fmt.Errorf("%s fails without a mutant: %s", b.tests[i].name, r.output)
		}
		b.tests[i].took = r.took
		return err
	})
	if err != nil {
		return nil, err
	}
	return b, b.readReach(logs)
}

// readReach notes the tests of each mutant, and puts the quickest first.
func (b *bench) readReach(logs []string) error {
	order := make([]int, len(b.tests))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return int(b.tests[x].took - b.tests[y].took) })
	sorted := make([]test, len(order))
	for at, i := range order {
		sorted[at] = b.tests[i]
		content, err := os.ReadFile(logs[i])
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		for lines := bufio.NewScanner(bytes.NewReader(content)); lines.Scan(); {
			number, err := strconv.Atoi(lines.Text())
			if err != nil {
				return err
			}
			if b.reach[number] == nil {
				b.reach[number] = map[int]bool{}
			}
			b.reach[number][at] = true
		}
	}
	b.tests = sorted
	return nil
}

// try returns the fates of mutants, in their order.
func (b *bench) try(ctx context.Context, mutants []mutant, jobs int) ([]fate, error) {
	fates := make([]fate, len(mutants))
	err := each(ctx, jobs, len(mutants), func(i int) (err error) {
		if fates[i], err = b.tryOne(ctx, mutants[i]); fates[i] != killed {
			log.Printf("%s: no test notices (%d of %d): %s", mutants[i].place, i+1, len(mutants), mutants[i].key)
		}
		return err
	})
	return fates, err
}

// quick tests run together before the others: most mutants do not outlive them.
const quick = time.Second

func (b *bench) tryOne(ctx context.Context, m mutant) (fate, error) {
	var rounds [2][]test
	for at, t := range b.tests {
		if b.reach[m.number][at] {
			round := 0
			if t.took > quick {
				round = 1
			}
			rounds[round] = append(rounds[round], t)
		}
	}
	result := notReached
	for _, tests := range rounds {
		if len(tests) == 0 {
			continue
		}
		result = survived
		most := leastCPU
		for _, t := range tests {
			most += mostTimes * t.took
		}
		if r, err := b.run(ctx, tests, "MUTANT="+strconv.Itoa(m.number), most); err != nil || !r.ok {
			return killed, err
		}
	}
	return result, nil
}

// ran is what became of some tests.
type ran struct {
	ok     bool          // all pass within the limits
	output []byte        // what they print
	took   time.Duration // of the processor
}

// run runs tests. mostCPU 0: as long as they like.
func (b *bench) run(ctx context.Context, tests []test, setting string, mostCPU time.Duration) (ran, error) {
	names := make([]string, len(tests))
	for i, t := range tests {
		names[i] = regexp.QuoteMeta(t.name)
	}
	temporary, err := os.MkdirTemp(b.work, "run")
	if err != nil {
		return ran{}, err
	}
	defer os.RemoveAll(temporary)
	limits := fmt.Sprintf("ulimit -v %d", mostMemory)
	if mostCPU > 0 {
		limits += fmt.Sprintf("; ulimit -t %.0f", math.Ceil(mostCPU.Seconds()))
	}
	limited := ctx
	if mostCPU > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, mostClock*mostCPU)
		defer cancel()
	}
	cmd := exec.CommandContext(limited, "sh", "-c", limits+`; exec "$@"`, "sh", b.binary,
		"-test.failfast", "-test.run", "^("+strings.Join(names, "|")+")$")
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), setting, "TMPDIR="+temporary)
	cmd.WaitDelay = time.Second // a process that a test started may hold the output open
	output, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ran{}, ctx.Err()
	}
	if cmd.ProcessState == nil {
		return ran{}, err // it did not start
	}
	return ran{err == nil, output, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}, nil
}

// each calls do for 0 to n-1, so many at a time, and returns the first error.
func each(ctx context.Context, jobs, n int, do func(i int) error) error {
	var wait sync.WaitGroup
	errs := make([]error, n)
	room := make(chan struct{}, max(1, jobs))
	for i := range n {
		room <- struct{}{}
		wait.Go(func() {
			defer func() { <-room }()
			if errs[i] = ctx.Err(); errs[i] == nil {
				errs[i] = do(i)
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}
