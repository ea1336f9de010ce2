package systemtest

import (
	"os/exec"
	"strings"
)

// gap stands in a transcript for any number of lines where it is a line, and for any characters within one.
const gap = "…"

// Transcript runs the commands of a page of the project in order, as a newcomer pastes them: every line that begins with
// "$ " in its blocks of language console. The lines below a command are what it prints on standard output; a line … there
// stands for any lines, and … within a line for any characters. A command whose block shows nothing may print anything.
func (s *System) Transcript(page string) {
	s.t.Helper()
	steps := transcript(s.Read(page))
	if len(steps) == 0 {
		s.t.Fatalf("%s has no commands", page)
	}
	for _, step := range steps {
		cmd := exec.CommandContext(s.t.Context(), "sh", "-ec", step.command)
		cmd.Dir = s.Dir
		cmd.Env = append(s.env[:len(s.env):len(s.env)], "PWD="+s.Dir)
		o := s.run(step.command, cmd).Done()
		have := strings.Split(strings.TrimRight(o.Stdout, "\n"), "\n")
		if len(step.prints) > 0 && !matches(step.prints, have) {
			s.t.Errorf("%s: %s prints\n%s\nnot as the page shows\n%s", page, step.command, o.Stdout, strings.Join(step.prints, "\n"))
		}
	}
}

// step is a command and the lines that it prints.
type step struct {
	command string
	prints  []string
}

func transcript(text string) []step {
	var steps []step
	inside := false
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\r\n")
		command, isCommand := strings.CutPrefix(l, "$ ")
		switch {
		case strings.HasPrefix(l, "```"):
			inside = l == "```console"
		case !inside:
		case isCommand:
			steps = append(steps, step{command: command})
		case len(steps) > 0:
			last := &steps[len(steps)-1]
			if strings.HasSuffix(last.command, `\`) && len(last.prints) == 0 {
				last.command += "\n" + l
			} else {
				last.prints = append(last.prints, l)
			}
		}
	}
	for i := range steps { // an empty line before the next command is for the eye
		for n := len(steps[i].prints); n > 0 && steps[i].prints[n-1] == ""; n-- {
			steps[i].prints = steps[i].prints[:n-1]
		}
	}
	return steps
}

// matches reports whether lines are those of a transcript.
func matches(want, have []string) bool {
	if len(want) == 0 {
		return len(have) == 0
	}
	if strings.TrimSpace(want[0]) == gap {
		for i := range len(have) + 1 {
			if matches(want[1:], have[i:]) {
				return true
			}
		}
		return false
	}
	return len(have) > 0 && matchesLine(strings.TrimRight(want[0], " "), strings.TrimRight(have[0], " ")) && matches(want[1:], have[1:])
}

// matchesLine reports whether a line is that of a transcript.
func matchesLine(want, have string) bool {
	pieces := strings.Split(want, gap)
	if len(pieces) == 1 {
		return want == have
	}
	first, last := pieces[0], pieces[len(pieces)-1]
	if !strings.HasPrefix(have, first) {
		return false
	}
	have = have[len(first):]
	for _, p := range pieces[1 : len(pieces)-1] {
		i := strings.Index(have, p)
		if i < 0 {
			return false
		}
		have = have[i+len(p):]
	}
	return strings.HasSuffix(have, last)
}
