package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newMan makes the hidden command that writes the manual pages, for those who pack the command.
func newMan(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Short:  "Write the manual pages of all commands into a folder",
		Hidden: true,
		Args:   exactly(1, "the folder to write to"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root.DisableAutoGenTag = true // it would be the day of the build
			if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "rag " + build().Version, Manual: "rag"}, args[0]); err != nil {
				return fmt.Errorf("manual pages: %w", err)
			}
			return nil
		},
	}
}
