package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
)

type askFlags struct {
	queryFlags
	paths      []string
	stream     bool
	extractive bool
	agent      bool
}

func newAsk(a *app) *cobra.Command {
	var f askFlags
	cmd := &cobra.Command{
		Use:   "ask QUESTION",
		Short: "Answer a question from the files, with sources",
		Long: `ask answers a question from the passages that a search finds. Every statement carries the number of its source. With a
chat model the answer is written by it, and its citations are checked; without one it consists of sentences of the sources,
word by word. Where the passages found hardly hold an answer it says so, and shows the nearest ones.

Three things are told apart: whether there is an answer, how far it can be relied on (RELIABLE, TO VERIFY, NO ANSWER), and
whether a source needs review because nothing says that it is in force.`,
		Example: examples("rag ask \"how long is the notice period?\"", "rag ask --path docs \"who approves travel abroad?\"", "rag ask --stream \"what changed in the leave policy?\"", "rag ask --extractive --json \"what is the meal allowance?\""),
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := f.query(a, cmd, args)
			if err != nil {
				return err
			}
			if f.stream && a.json {
				return usagef(cmd, "--stream and --json exclude each other: JSON is one object")
			}
			return a.ask(cmd.Context(), rag.AskRequest{Query: q, Extractive: f.extractive}, f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&f.paths, "path", nil, "file or folder to ingest first; may come several times")
	f.add(cmd)
	f.shape.addAround(cmd)
	flags.BoolVar(&f.stream, "stream", false, "print the answer while it is written")
	flags.BoolVar(&f.extractive, "extractive", false, "answer in sentences of the sources, also if there is a chat model")
	flags.BoolVar(&f.agent, "agent", false, "have the chat model search by itself, and send back what its sources do not support")
	return cmd
}

func (a *app) ask(ctx context.Context, req rag.AskRequest, f askFlags) error {
	return a.withIngested(ctx, ingestFlags{paths: f.paths, domain: f.domain}, func(eng *rag.Engine) error { return a.askIn(ctx, eng, req, f) }, f.changes()...)
}

// askIn has the question routed, or the agent search, and prints the answer. A refusal is a result like others.
func (a *app) askIn(ctx context.Context, eng *rag.Engine, req rag.AskRequest, f askFlags) error {
	if err := f.inZone(ctx, eng, &req.Query); err != nil {
		return err
	}
	d, err := f.domain.of(ctx, eng, req.Query.Collection)
	if err != nil {
		return err
	}
	searcher, err := newAgent(eng, d)
	if err != nil {
		return err
	}
	var answer *rag.Answer
	text := answerText{app: a}
	for event, err := range agentAsker(searcher, f.agent)(ctx, req) {
		if err != nil {
			return err
		}
		if event.Answer != nil {
			answer = event.Answer
		}
		if f.stream {
			text.print(event)
		}
	}
	if a.json {
		return a.printJSON(answer)
	}
	if text.printed {
		fmt.Fprintln(a.out)
	}
	a.printAnswer(answer, !text.printed)
	return nil
}

// answerText prints the text of an answer while it comes.
type answerText struct {
	*app
	printed bool // some of the text
}

func (t *answerText) print(event rag.AnswerEvent) {
	if event.Stage == rag.StageExtract && t.printed {
		fmt.Fprintln(t.out)
		t.note("the chat model did not come to an end: the answer begins anew")
		t.printed = false
	}
	if event.Text != "" {
		fmt.Fprint(t.out, visibleText(event.Text))
		t.printed = true
	}
}

// printAnswer writes an answer for a reader: the text, unless it was printed while it came, how far it can be relied on,
// and the sources it names.
func (a *app) printAnswer(answer *rag.Answer, withText bool) {
	p := a.paint(a.out)
	a.noteLess(answer.Notes)
	if withText {
		for _, line := range strings.Split(visibleText(answer.Text), "\n") {
			printWrapped(a.out, line, a.width())
		}
	}
	facts := []string{answer.Mode}
	if answer.Reliability != "" { // small talk has none
		facts = []string{answer.Reliability, answer.Mode, fmt.Sprintf("confidence %.2f", answer.Confidence)}
	}
	if answer.NeedsReview {
		facts = append(facts, "a source needs review")
	}
	if answer.Verified {
		facts = append(facts, "citations verified")
	}
	fmt.Fprintf(a.out, "\n%s\n", p.dim(strings.Join(facts, " · ")))
	if answer.Reason != "" {
		fmt.Fprintf(a.out, "%s\n", p.dim(visible(answer.Reason)))
	}
	a.printAnswerSources(answer)
	for _, c := range answer.Citations {
		if c.Verdict == rag.VerdictUnsupported {
			fmt.Fprintf(a.out, "%s [%d] %s\n", p.yellow("not supported:"), c.Marker, visible(c.Reason))
		}
	}
	for _, r := range answer.Rejected {
		fmt.Fprintf(a.out, "%s %s (%s)\n", p.yellow("taken out:"), visible(r.Marker), visible(r.Reason))
	}
}

// printAnswerSources lists the sources that the text names, or the nearest ones of a refusal.
func (a *app) printAnswerSources(answer *rag.Answer) {
	p := a.paint(a.out)
	cited := map[int]bool{}
	for _, c := range answer.Citations {
		cited[c.Marker] = true
	}
	if len(answer.Sources) > 0 && len(cited) == 0 {
		fmt.Fprintln(a.out, "nearest passages:")
	}
	for i, s := range answer.Sources {
		if cited[s.Number] || len(cited) == 0 && i < nearestShown {
			status := ""
			if s.Hit.Status != "" && s.Hit.Status != rag.StatusCurrent {
				status = " · " + strings.ReplaceAll(s.Hit.Status, "_", " ")
			}
			fmt.Fprintf(a.out, "[%d] %s\n", s.Number, p.cyan(place(s.Hit.Chunk.URI))+p.dim(where(&s.Hit.Chunk)+status))
		}
	}
}

// nearestShown is how many passages a refusal offers.
const nearestShown = 3

// printWrapped writes a line in lines of at most width columns, cut at blanks.
func printWrapped(w io.Writer, line string, width int) {
	for _, part := range wrap(line, width) {
		fmt.Fprintln(w, part)
	}
}
