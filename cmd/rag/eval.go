package main

import (
	"github.com/spf13/cobra"
)

func newEval(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "eval",
		Short: "Measure what is found and answered",
	}
	cmd.AddCommand(newEvalBEIR(a))
	return cmd
}
