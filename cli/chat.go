package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/agent"
)

type chatFlags struct {
	queryFlags
	agent bool
}

func newChat(a *app) *cobra.Command {
	var f chatFlags
	cmd := &cobra.Command{
		Use:   "chat",
		Short: "Ask one question after the other",
		Long: `chat answers the questions that are typed, or come through a pipe, one a line, and remembers what was said: "and
overseas?" is looked up with the words of the question before it (--rewrite none: as it stands). Without a chat model the
answers are sentences of the sources. An interrupt (Ctrl-C) ends the answer, and where none is being given, chat.

  /sources   the passages of the last answer, with the verdict on each citation
  /trace     what was done for the last answer
  /reset     forget the conversation
  /help      this list
  exit       end`,
		Example: examples("rag chat", "rag chat --agent", "rag chat < questions.txt"),
		Args:    exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.json {
				return usagef(cmd, "chat prints no JSON: `rag ask --json` does")
			}
			q, err := f.query(a, cmd, []string{"?"})
			if err != nil {
				return err
			}
			return a.withExistingData(cmd.Context(), func(eng *rag.Engine) error {
				if err := f.inZone(cmd.Context(), eng, &q); err != nil {
					return err
				}
				d, err := f.domain.of(cmd.Context(), eng, q.Collection)
				if err != nil {
					return err
				}
				searcher, err := newAgent(eng, d)
				if err != nil {
					return err
				}
				c := &chat{app: a, query: q, agent: searcher, ask: agentAsker(searcher, f.agent), session: searcher.NewSession()}
				return c.run(cmd.Context())
			}, f.chatChanges()...)
		},
	}
	cmd.Flags().SortFlags = false
	f.add(cmd)
	cmd.Flags().BoolVar(&f.agent, "agent", false, "have the chat model search by itself, and every citation verified")
	return cmd
}

// chatChanges are those of the flags. Where neither they nor the configuration name a transform, follow-ups are worded by
// rules, which cost nothing.
func (f *chatFlags) chatChanges() []change {
	if len(f.rewrite) > 0 {
		return f.changes()
	}
	return []change{func(c *rag.Config) {
		if len(c.QueryTransforms) == 0 {
			c.QueryTransforms = []rag.ProviderConfig{{Provider: "history", Settings: json.RawMessage(`{"mode":"rules"}`)}}
		}
	}}
}

// chat is a conversation on a terminal or through a pipe.
type chat struct {
	*app
	query   rag.Query // what the flags say of every question
	agent   *agent.Agent
	ask     asker
	session *agent.Session
	last    *rag.Answer // nil before the first
}

// longestQuestion bounds a line: a question is short.
const longestQuestion = 1 << 20

// run reads questions until the input ends. An interrupt must end the answer and not the program, so it is taken here: the
// context of the command, which it ends, is left alone.
func (c *chat) run(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(interrupts)
	lines, failed := c.lines()
	for {
		c.prompt()
		select {
		case <-interrupts:
			fmt.Fprintln(c.out)
			return nil
		case line, more := <-lines:
			if !more {
				return <-failed
			}
			if line = strings.TrimSpace(line); line == "exit" || line == "quit" || line == "/exit" || line == "/quit" {
				return nil
			}
			if stop := c.line(ctx, line, interrupts); stop {
				return nil
			}
		}
	}
}

// lines reads the input. A read cannot be broken off, so on a terminal the goroutine lasts as long as the program.
func (c *chat) lines() (<-chan string, <-chan error) {
	lines, failed := make(chan string), make(chan error, 1)
	go func() {
		defer close(lines)
		in := bufio.NewScanner(c.in)
		in.Buffer(nil, longestQuestion)
		for in.Scan() {
			lines <- in.Text()
		}
		err := in.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("a question is longer than %s: %w", size(longestQuestion), rag.ErrInvalid)
		}
		failed <- err
	}()
	return lines, failed
}

// prompt asks for a question where somebody can see it.
func (c *chat) prompt() {
	if _, tty := terminal(c.in); tty {
		fmt.Fprint(c.out, c.paint(c.out).bold("> "))
	}
}

// line does what a line says. stop is true if the program is to end.
func (c *chat) line(ctx context.Context, line string, interrupts <-chan os.Signal) (stop bool) {
	switch {
	case line == "":
	case line == "/help":
		fmt.Fprintln(c.out, "/sources  the passages of the last answer\n/trace    what was done for it\n/reset    forget the conversation\nexit      end")
	case line == "/reset":
		c.session, c.last = c.agent.NewSession(), nil
	case line == "/sources", line == "/trace":
		c.about(line)
	case strings.HasPrefix(line, "/"):
		known := []string{"/sources", "/trace", "/reset", "/help"}
		c.note("%q is no command%s; /help lists them", line, rag.DidYouMean(line, known))
	default:
		return c.answer(ctx, line, interrupts)
	}
	return false
}

// answer answers a question. An interrupt ends it; what was written until then stands, and the question is not remembered.
func (c *chat) answer(ctx context.Context, question string, interrupts <-chan os.Signal) (stop bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- c.stream(ctx, question) }()
	for {
		select {
		case s := <-interrupts:
			cancel()
			stop = stop || s != os.Interrupt
		case err := <-done:
			switch {
			case errors.Is(err, context.Canceled):
				fmt.Fprintln(c.out)
				c.note("the answer was broken off")
			case err != nil:
				c.fail(err) // and the next question
			}
			return stop
		}
	}
}

// stream writes an answer as it comes.
func (c *chat) stream(ctx context.Context, question string) error {
	req := rag.AskRequest{Query: c.query}
	req.Query.Text = question
	text := answerText{app: c.app}
	for event, err := range c.session.Stream(ctx, req, c.ask) {
		if err != nil {
			return err
		}
		if event.Stage != "" && c.verbose {
			c.note("%s", event.Stage)
		}
		if event.Answer != nil {
			c.last = event.Answer
		}
		text.print(event)
	}
	fmt.Fprintln(c.out)
	c.noteLess(c.last.Notes)
	fmt.Fprintln(c.out, c.paint(c.out).dim(c.standing()))
	return nil
}

// standing says in a line how far the last answer can be relied on.
func (c *chat) standing() string {
	a := c.last
	var parts []string
	for _, part := range []string{a.Intent, a.Mode, a.Reliability, a.Reason} {
		if part != "" && !slices.Contains(parts, part) { // the intent and the mode can both be "chat"
			parts = append(parts, visible(part))
		}
	}
	if a.Verified {
		parts = append(parts, "verified")
	}
	if a.NeedsReview {
		parts = append(parts, "needs review")
	}
	if len(a.Sources) > 0 {
		parts = append(parts, count(len(a.Sources), "source")+": /sources")
	}
	return strings.Join(parts, " · ")
}

// about prints the sources or the steps of the last answer.
func (c *chat) about(what string) {
	switch {
	case c.last == nil:
		c.note("nothing has been asked yet")
	case what == "/sources":
		c.sources()
	default:
		c.trace()
	}
}

func (c *chat) sources() {
	p := c.paint(c.out)
	if len(c.last.Sources) == 0 {
		fmt.Fprintln(c.out, "the last answer has no sources")
	}
	for _, s := range c.last.Sources {
		fmt.Fprintf(c.out, "%s %s%s\n", p.bold(fmt.Sprintf("[%d]", s.Number)), p.cyan(place(s.Hit.Chunk.URI)), p.dim(where(&s.Hit.Chunk)))
		for _, cited := range c.last.Citations {
			if cited.Marker != s.Number {
				continue
			}
			fmt.Fprintf(c.out, "    “%s”\n", visible(strings.Join(strings.Fields(cited.Quote), " ")))
			if cited.Verdict != "" {
				fmt.Fprintf(c.out, "    %s\n", p.dim(visible(cited.Verdict+": "+cited.Reason)))
			}
		}
	}
	for _, r := range c.last.Rejected {
		fmt.Fprintf(c.out, "%s %s\n", visible(r.Marker), p.dim("taken out: "+visible(r.Reason)))
	}
}

func (c *chat) trace() {
	a := c.last
	if a.Intent != "" {
		fmt.Fprintf(c.out, "intent %s\n", visible(a.Intent))
	}
	for i, s := range a.Steps {
		fmt.Fprintf(c.out, "%2d. %s %s (%.0f ms)\n    %s\n", i+1, visible(s.Action), visible(s.Arguments), s.MS, visible(s.Observation))
	}
	for _, t := range a.Timings {
		fmt.Fprintf(c.out, "%s %.0f ms\n", visible(t.Stage), t.MS)
	}
	if a.Usage != (rag.ChatUsage{}) {
		fmt.Fprintf(c.out, "tokens %d read, %d written\n", a.Usage.InputTokens, a.Usage.OutputTokens)
	}
	if a.TraceID != "" {
		fmt.Fprintf(c.out, "trace %s\n", a.TraceID)
	}
}
