package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/seed-d8745b77/rag"
)

// progress draws how far an ingest is, on one line of a terminal, once the work has lasted a while. With --verbose it
// writes a line for each file instead.
type progress struct {
	tty      *os.File  // nil: draw nothing
	log      io.Writer // with --verbose: each file gets a line here; else nil
	start    time.Time
	drawn    time.Time // zero: nothing is on the line
	files    rag.Progress
	passages int
}

const (
	progressAfter = time.Second            // shorter work needs no bar
	progressEvery = 100 * time.Millisecond // often enough to look alive
	barWidth      = 24                     // columns
	usualWidth    = 80                     // of a terminal that does not say
)

// progress returns the bar of a run: a silent one unless the error stream is a terminal.
func (a *app) progress() *progress {
	p := &progress{start: time.Now()}
	if a.verbose {
		p.log = a.err
	} else if f, ok := terminal(a.err); ok {
		p.tty = f
	}
	return p
}

// step takes what the engine tells. The engine calls it from one goroutine at a time.
func (p *progress) step(s rag.Progress) {
	if p.log != nil && s.Stage == rag.StageLoad {
		fmt.Fprintf(p.log, "read %d/%d %s\n", s.Done, s.Total, place(s.URI))
	}
	if p.tty == nil {
		return
	}
	switch s.Stage {
	case rag.StageLoad:
		p.files = s
	case rag.StageEmbed:
		p.passages = s.Done
	}
	p.draw(p.line())
}

// draw puts a text on the line, unless it is too early for that.
func (p *progress) draw(line string) {
	now := time.Now()
	if p.tty == nil || now.Sub(p.start) < progressAfter || now.Sub(p.drawn) < progressEvery {
		return
	}
	p.drawn = now
	width, _, err := term.GetSize(int(p.tty.Fd()))
	if err != nil || width < minWidth {
		width = usualWidth
	}
	fmt.Fprintf(p.tty, "\r\x1b[K%s", oneLine(line, width-1))
}

// line is the bar in words: files read, passages embedded, the file that was read last.
func (p *progress) line() string {
	full := 0
	if p.files.Total > 0 {
		full = barWidth * p.files.Done / p.files.Total
	}
	line := fmt.Sprintf("[%s%s] %d/%d files", strings.Repeat("#", full), strings.Repeat("-", barWidth-full), p.files.Done, p.files.Total)
	if p.passages > 0 {
		line += fmt.Sprintf(" · %d passages embedded", p.passages)
	}
	if p.files.URI != "" {
		line += " · " + place(p.files.URI)
	}
	return line
}

// clear takes the bar off the terminal.
func (p *progress) clear() {
	if p.tty != nil && !p.drawn.IsZero() {
		fmt.Fprint(p.tty, "\r\x1b[K")
	}
}
