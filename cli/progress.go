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

// progress tells how far a work is once it has lasted a while: on one line of a terminal, which it draws again and again, or
// where there is none, as in a log, by a line now and then. With --verbose an ingest gets a line for each file instead.
type progress struct {
	tty      *os.File         // nil: no terminal
	plain    io.Writer        // gets lines where there is no terminal; nil: nothing does
	log      io.Writer        // with --verbose: each file gets a line here; else nil
	now      func() time.Time // clock
	start    time.Time
	drawn    time.Time // zero: nothing was told
	files    rag.Progress
	passages int
}

const (
	progressAfter = time.Second            // shorter work needs no bar
	progressEvery = 100 * time.Millisecond // often enough to look alive
	plainEvery    = 10 * time.Second       // and to see in a log that it goes on
	barWidth      = 24                     // columns
	usualWidth    = 80                     // of a terminal that does not say
)

// progress returns what tells of a run on the error stream. With --json only a terminal is told: a log may hold both streams.
func (a *app) progress() *progress {
	p := &progress{now: time.Now}
	p.start = p.now()
	f, isTerminal := terminal(a.err)
	switch {
	case a.verbose:
		p.log = a.err
	case isTerminal:
		p.tty = f
	case !a.json:
		p.plain = a.err
	}
	return p
}

// step takes what the engine tells. The engine calls it from one goroutine at a time.
func (p *progress) step(s rag.Progress) {
	if p.log != nil && s.Stage == rag.StageLoad {
		fmt.Fprintf(p.log, "read %d/%d %s\n", s.Done, s.Total, place(s.URI))
	}
	switch s.Stage {
	case rag.StageLoad:
		p.files = s
	case rag.StageEmbed:
		p.passages = s.Done
	}
	p.draw(p.line())
}

// draw tells how far the work is, unless it is too early for that.
func (p *progress) draw(line string) {
	now := p.now()
	switch {
	case p.plain != nil && now.Sub(p.start) >= plainEvery && now.Sub(p.drawn) >= plainEvery:
		p.drawn = now
		fmt.Fprintf(p.plain, "progress: %s\n", line)
		return
	case p.tty == nil || now.Sub(p.start) < progressAfter || now.Sub(p.drawn) < progressEvery:
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
	line := p.bar(int64(p.files.Done), int64(p.files.Total)) + fmt.Sprintf("%d/%s", p.files.Done, count(p.files.Total, "file"))
	if p.passages > 0 {
		line += fmt.Sprintf(" · %s embedded", count(p.passages, "passage"))
	}
	if p.files.URI != "" {
		line += " · " + place(p.files.URI)
	}
	return line
}

// bar shows a share as a bar with a blank behind it: "[###---] ". In a log, and where the whole is not known, there is none.
func (p *progress) bar(done, total int64) string {
	if p.tty == nil || total <= 0 {
		return ""
	}
	full := int(barWidth * min(done, total) / total)
	return fmt.Sprintf("[%s%s] ", strings.Repeat("#", full), strings.Repeat("-", barWidth-full))
}

// clear takes the bar off the terminal.
func (p *progress) clear() {
	if p.tty != nil && !p.drawn.IsZero() {
		fmt.Fprint(p.tty, "\r\x1b[K")
	}
}
