package cli

import (
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// reference is the part of docs/cli.md that is written by hand: exit codes and the JSON of each verb.
//
//go:embed reference.md
var reference string

// newHelpAll makes the hidden command that prints docs/cli.md.
func newHelpAll(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:    "help-all",
		Short:  "Print the help of all commands, exit codes and JSON as Markdown",
		Hidden: true,
		Args:   exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := cmd.OutOrStdout()
			fmt.Fprintf(w, "# The command rag\n\n<!-- Printed by `rag help-all`; `make docs` rewrites this file. -->\n\n%s\n\n", root.Long)
			fmt.Fprintf(w, "%s\n", fenced("sh", root.Example))
			fmt.Fprintf(w, "These flags work with every verb:\n\n%s\n", fenced("text", root.PersistentFlags().FlagUsages()))
			for _, c := range root.Commands() {
				if c.IsAvailableCommand() && c.Name() != "help" {
					writeHelp(w, c, 2)
				}
			}
			_, err := io.WriteString(w, reference)
			return err
		},
	}
}

// writeHelp writes the help of a command and of those below it; level is that of its heading.
func writeHelp(w io.Writer, c *cobra.Command, level int) {
	fmt.Fprintf(w, "%s %s\n\n%s\n\n", strings.Repeat("#", level), c.CommandPath(), c.Long)
	fmt.Fprintf(w, "%s\n", fenced("text", c.UseLine()))
	if c.HasExample() {
		fmt.Fprintf(w, "%s\n", fenced("sh", c.Example))
	}
	if c.HasAvailableLocalFlags() {
		fmt.Fprintf(w, "%s\n", fenced("text", c.LocalFlags().FlagUsages()))
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			writeHelp(w, sub, level+1)
		}
	}
}

// examples indents the lines of a command's examples as its help wants them.
func examples(lines ...string) string { return "  " + strings.Join(lines, "\n  ") }

// fenced returns a code block; body is moved to the left margin.
func fenced(lang, body string) string {
	return "```" + lang + "\n" + strings.TrimRight(dedent(body), "\n") + "\n```\n"
}

// dedent takes the indent that all lines share off them.
func dedent(body string) string {
	shared := len(body)
	for line := range strings.Lines(body) {
		shared = min(shared, len(line)-len(strings.TrimLeft(line, " ")))
	}
	var b strings.Builder
	for line := range strings.Lines(body) {
		b.WriteString(line[shared:])
	}
	return b.String()
}
