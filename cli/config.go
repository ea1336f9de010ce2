package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/agent"
	"github.com/seed-d8745b77/rag/config"
	"github.com/seed-d8745b77/rag/eval"
)

func newConfig(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show and check the configuration",
		Long: `config shows which settings are in force and where each comes from. The configuration is the file named by --config,
else rag.yaml in the data folder, else rag.yaml in the working directory; what it does not say has its default.`,
		Example: examples("rag config print", "rag config check --config new.yaml"),
	}
	a.requireVerb(cmd)
	cmd.AddCommand(
		&cobra.Command{
			Use: "print", Short: "Print every setting in force and its origin",
			Long: "config print prints every setting in force and where it comes from. Secrets are not shown.",
			Args: exactly(0, ""),
			RunE: func(*cobra.Command, []string) error { return a.configPrint() },
		},
		&cobra.Command{
			Use: "path", Short: "Print the path of the configuration file",
			Long: "config path prints the path of the configuration file that is read, and nothing if there is none.",
			Args: exactly(0, ""),
			RunE: func(*cobra.Command, []string) error { return a.configPath() },
		},
		&cobra.Command{
			Use: "check", Short: "Check the configuration without touching the data",
			Long: `config check reads the configuration and makes every provider it names, with its settings, over an empty folder. The
data is not touched.`,
			Args: exactly(0, ""),
			RunE: func(*cobra.Command, []string) error { return a.configCheck() },
		},
	)
	return cmd
}

// orNull returns null for no path.
func orNull(path string) *string {
	if path == "" {
		return nil
	}
	return &path
}

func (a *app) configPrint() error {
	loaded, err := a.settings()
	if err != nil {
		return err
	}
	values := config.Redacted(loaded)
	if a.json {
		return a.printJSON(struct {
			Path   *string        `json:"path"`
			Values []config.Value `json:"values"`
		}{orNull(loaded.Path), values})
	}
	t := newTable("setting", "value", "origin")
	for _, v := range values {
		value, err := json.Marshal(v.Value)
		if err != nil {
			return err
		}
		t.add(visible(v.Key), oneLine(string(value), a.width()/2), visible(v.Origin))
	}
	t.print(a.out, a.paint(a.out), "")
	return nil
}

func (a *app) configPath() error {
	loaded, err := a.settings()
	if err != nil {
		return err
	}
	switch {
	case a.json:
		return a.printJSON(struct {
			Path *string `json:"path"`
		}{orNull(loaded.Path)})
	case loaded.Path == "":
		a.note("there is no configuration file: the defaults hold; `rag init` writes one")
	default:
		fmt.Fprintln(a.out, visible(loaded.Path))
	}
	return nil
}

func (a *app) configCheck() error {
	loaded, err := a.settings()
	if err != nil {
		return err
	}
	if err := a.withScratchData((*rag.Engine).Ready); err != nil {
		return err
	}
	if _, err := agent.ParseConfig(loaded.Config.Agent); err != nil {
		return loaded.Locate(err)
	}
	if _, err := eval.ParseSettings(loaded.Config.Evaluation); err != nil {
		return loaded.Locate(err)
	}
	if a.json {
		return a.printJSON(struct {
			Path *string `json:"path"`
			OK   bool    `json:"ok"`
		}{orNull(loaded.Path), true})
	}
	name := loaded.Path
	if name == "" {
		name = "no configuration file"
	}
	fmt.Fprintf(a.out, "%s: %s\n", visible(name), a.paint(a.out).green("ok"))
	return nil
}
