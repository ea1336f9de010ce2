package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// model is what the engine is to hold: for each paper the versions that it may show now.
type model struct{ papers []*paper }

// paper is one document through all its versions. Version 0 is that it is not there.
type paper struct {
	number int

	mu      sync.Mutex // guards what follows
	settled int        // newest version that was acknowledged: nothing older may be shown
	begun   int        // newest version that was sent: nothing newer can be shown
	gone    []bool     // by version: whether it is that there is no document
}

func newModel(papers int) *model {
	m := &model{}
	for i := range papers {
		m.papers = append(m.papers, &paper{number: i, gone: []bool{true}})
	}
	return m
}

// begin counts a new version, which the engine may show from now on.
func (p *paper) begin(gone bool) (version int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun++
	p.gone = append(p.gone, gone)
	return p.begun
}

// settle notes that the engine has acknowledged a version: it may show no older one any more.
func (p *paper) settle(version int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settled = version
}

// since is the oldest version of each paper that a request may see which begins now.
func (m *model) since() []int {
	all := make([]int, len(m.papers))
	for i, p := range m.papers {
		p.mu.Lock()
		all[i] = p.settled
		p.mu.Unlock()
	}
	return all
}

// shown checks a version that was shown to a request which began when no version before since was allowed.
func (p *paper) shown(version, since int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case version < since || version > p.begun:
		return fmt.Errorf("paper %d is shown in version %d: only %d to %d can be", p.number, version, since, p.begun)
	case p.gone[version]:
		return fmt.Errorf("paper %d is shown in version %d, in which it was deleted", p.number, version)
	}
	return nil
}

// absent checks that a paper could be missing since then.
func (p *paper) absent(since int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for v := since; v <= p.begun; v++ {
		if p.gone[v] {
			return nil
		}
	}
	return fmt.Errorf("paper %d is missing, but in versions %d to %d it is there", p.number, since, p.begun)
}

func (p *paper) name() string { return fmt.Sprintf("paper%03d.md", p.number) }

// uri is that of an upload.
func (p *paper) uri() string { return "upload:///" + p.name() }

const (
	maxParts  = 6
	partWords = 60
)

// text writes a version: it has one to maxParts parts, says in each which it is, and has words that no other version has, so
// that the vocabulary of the index turns over too.
func (p *paper) text(version int) string {
	rnd := rand.New(rand.NewPCG(uint64(p.number), uint64(version)))
	var b strings.Builder
	fmt.Fprintf(&b, "# Paper %d\n", p.number)
	parts := 1 + rnd.IntN(maxParts)
	for n := range parts {
		fmt.Fprintf(&b, "\n## Part %d\n\nThis is paper %d version %d part %d of %d. It is marked mark%dv%dn%d.", n+1, p.number, version, n+1, parts, p.number, version, n)
		for range partWords {
			fmt.Fprintf(&b, " word%d", rnd.IntN(2000))
		}
		b.WriteString(".\n")
	}
	return b.String()
}

// stamp is what each part says of itself.
var stamp = regexp.MustCompile(`paper (\d+) version (\d+) part (\d+) of (\d+)\.`)

// part is a stamp that was read.
type part struct{ paper, version, n, of int }

// parts reads the stamps of a text.
func parts(text string) (all []part) {
	for _, m := range stamp.FindAllStringSubmatch(text, -1) {
		var v [4]int
		for i := range v {
			v[i], _ = strconv.Atoi(m[i+1]) // the pattern has digits only
		}
		all = append(all, part{v[0], v[1], v[2], v[3]})
	}
	return all
}

// check looks at everything that papers say of themselves in a text: each part is of a version that could be shown.
func (m *model) check(text string, since []int) (seen int, err error) {
	var errs []error
	all := parts(text)
	for _, s := range all {
		if s.paper >= len(m.papers) {
			return 0, fmt.Errorf("there is no paper %d", s.paper)
		}
		errs = append(errs, m.papers[s.paper].shown(s.version, since[s.paper]))
	}
	return len(all), errors.Join(errs...)
}

// whole checks that a text is one version of the paper, with all its parts once and in order.
func (p *paper) whole(text string, since int) error {
	all := parts(text)
	if len(all) == 0 {
		return fmt.Errorf("paper %d has no parts", p.number)
	}
	first := all[0]
	for i, s := range all {
		if s != (part{p.number, first.version, i + 1, first.of}) {
			return fmt.Errorf("paper %d version %d is not whole: part %+v in place %d", p.number, first.version, s, i+1)
		}
	}
	if len(all) != first.of {
		return fmt.Errorf("paper %d version %d has %d parts of %d", p.number, first.version, len(all), first.of)
	}
	return p.shown(first.version, since)
}
