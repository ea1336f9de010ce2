package docscheck

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Command is one command line of a sh block.
type Command struct {
	Line  int      // 1-based line in the file
	Args  []string // arguments of the rag command; nil if the line is not one and only its form was checked
	Parse bool     // it is not to be run: that it has these flags is all to check
}

// Marks of sh blocks.
const (
	notRun = "not run:" // above the block, with the reason: it serves until it is interrupted, or needs what a test has not
	prints = "prints:"  // below a block of curl: what it prints. A test of package cli runs it

	transcript = "transcript" // above a block of the tutorial, which a test follows in a module of its own
)

// forms are the command lines that a test cannot run, since they would change the machine, need the network or run
// the tests inside the tests. Their form is all that is checked.
var forms = []*regexp.Regexp{
	regexp.MustCompile(`^git clone \S+$`),
	regexp.MustCompile(`^cd [\w./-]+$`),
	regexp.MustCompile(`^go get github\.com/seed-d8745b77/rag(/[a-z]+)*(@\S+)?$`),
	regexp.MustCompile(`^go install (\./cmd/rag|github\.com/seed-d8745b77/rag/cmd/rag@\S+)$`),
	regexp.MustCompile(`^go (test|vet|build)( -race)?( -count=1)?( -tags \w+)?( -run \S+)?( -bench \S+)?( -benchtime \S+)? \./\S*$`),
	regexp.MustCompile(`^go run \./(examples|bench|scripts)/\S+( \S+)*$`),
	regexp.MustCompile(`^make \w+$`),
	regexp.MustCompile(`^\.ci/run$`),
}

// Commands returns the command lines of the sh blocks of a Markdown text. A line that is neither a rag command
// (`rag …` or `go run ./cmd/rag …`) nor one of the known forms is an error that names it, since nobody would notice
// when it stops working. Blank lines and comments are passed over.
func Commands(text string) ([]Command, error) {
	var (
		cmds []Command
		errs []error
	)
	for _, b := range Blocks(text) {
		if b.Lang != "sh" || b.Mark == transcript || strings.HasPrefix(b.Body, "curl ") && strings.HasPrefix(b.Tail, prints) {
			continue
		}
		line := b.Line
		for l := range strings.Lines(b.Body) {
			line++
			l = strings.TrimSpace(l)
			if l == "" || strings.HasPrefix(l, "#") {
				continue
			}
			cmd, err := parseCommand(l)
			if err != nil {
				errs = append(errs, fmt.Errorf("line %d: %w", line, err))
				continue
			}
			cmd.Line, cmd.Parse = line, strings.HasPrefix(b.Mark, notRun)
			cmds = append(cmds, cmd)
		}
	}
	return cmds, errors.Join(errs...)
}

func parseCommand(l string) (Command, error) {
	rest, ok := strings.CutPrefix(l, "go run ./cmd/rag ")
	if !ok {
		rest, ok = strings.CutPrefix(l, "rag ")
	}
	if ok {
		args, err := splitWords(rest)
		return Command{Args: args}, err
	}
	for _, f := range forms {
		if f.MatchString(l) {
			return Command{}, nil
		}
	}
	return Command{}, fmt.Errorf("`%s` is no command that the check can run or knows the form of", l)
}

// splitWords splits a command line at blanks, with single and double quotes, up to a comment. What else a shell would
// do (variables, pipes, redirections) is an error: the check does not run a shell, and so works the same everywhere.
func splitWords(l string) ([]string, error) {
	var (
		words []string
		word  strings.Builder
		in    bool // inside a word
		quote rune // the quote that is open, or 0
	)
	for _, r := range l {
		if r == '#' && quote == 0 && !in {
			break
		}
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, in = r, true
		case strings.ContainsRune("$`\\", r) && quote != '\'', quote == 0 && strings.ContainsRune("|&;<>*?(){}", r):
			return nil, fmt.Errorf("`%s` needs a shell for %q", l, r)
		case quote == 0 && (r == ' ' || r == '\t'):
			if in {
				words = append(words, word.String())
				word.Reset()
				in = false
			}
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("`%s` leaves a quote open", l)
	}
	if in {
		words = append(words, word.String())
	}
	return words, nil
}
