package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	embedlocal "github.com/seed-d8745b77/rag/embed/local"
	"github.com/seed-d8745b77/rag/internal/modelhub"
	reranklocal "github.com/seed-d8745b77/rag/rerank/local"
)

func newModelsVerify(m *models) *cobra.Command {
	return &cobra.Command{
		Use: "verify [NAME]", Short: "Compare models with what was published",
		Long: `models verify compares the files of a model, or of all that are here, with the digests that the program knows or that
pull wrote down, then loads the model and holds what it computes against references. The exit code is 1 if anything
differs.`,
		Example: examples("rag models verify", "rag models verify bge-small-en --json"),
		Args:    atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			cards := modelhub.Presets()
			if len(args) == 1 {
				card, err := named(args[0])
				if err != nil {
					return err
				}
				cards = []modelhub.Card{card}
			}
			return m.verifyAll(cmd.Context(), cards, len(args) == 1)
		},
	}
}

// verifiedJSON is a model as verify prints it.
type verifiedJSON struct {
	Name     string          `json:"name"`
	Dir      *string         `json:"dir"`
	OK       bool            `json:"ok"`
	Files    []fileStateJSON `json:"files"`
	SelfTest string          `json:"self_test"`
	Message  *string         `json:"message"`
}

type fileStateJSON struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Proof  string `json:"proof"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Want   string `json:"want"`
}

// Outcomes of a model's self-test.
const (
	selfTestOK     = "ok"
	selfTestFailed = "failed"
	selfTestNotRun = "not_run" // its files are not right
)

// verifyAll verifies models that are here. One that was asked for and is not is an error.
func (m *models) verifyAll(ctx context.Context, cards []modelhub.Card, asked bool) error {
	ok, out := true, []verifiedJSON{}
	for _, card := range cards {
		setting, err := m.dirSetting(card.Task)
		if err != nil {
			return err
		}
		var dir string
		if card.Repository != "" {
			dir, err = modelhub.Find(card.Name, setting)
			if err != nil && asked {
				return modelKinds.Of(err)
			}
			if err != nil {
				continue
			}
		}
		v := m.verifyOne(ctx, card, dir, setting)
		if err := ctx.Err(); err != nil {
			return err
		}
		ok, out = ok && v.OK, append(out, v)
	}
	if !m.json {
		m.printVerified(out)
	} else if err := m.printJSON(struct {
		OK     bool           `json:"ok"`
		Models []verifiedJSON `json:"models"`
	}{ok, out}); err != nil {
		return err
	}
	if !ok {
		return &reported{exitFailed}
	}
	return nil
}

// verifyOne compares the files of a model in dir, and then tries it.
func (m *models) verifyOne(ctx context.Context, card modelhub.Card, dir, setting string) verifiedJSON {
	v := verifiedJSON{Name: card.Name, Dir: orNull(dir), OK: true, Files: []fileStateJSON{}, SelfTest: selfTestNotRun}
	if dir != "" {
		files := modelhub.Verify(card, dir)
		v.OK = files.OK
		for _, f := range files.Files {
			v.Files = append(v.Files, fileStateJSON{f.Name, f.State, f.Proof, f.Size, f.SHA256, f.Want})
		}
		if !v.OK {
			message := "`rag models pull " + card.Name + "` brings the right files"
			v.Message = &message
			return v
		}
	}
	v.SelfTest = selfTestOK
	if err := selfTest(ctx, card, setting); err != nil {
		message := err.Error()
		v.OK, v.SelfTest, v.Message = false, selfTestFailed, &message
	}
	return v
}

// selfTest loads a model and holds it against its references.
func selfTest(ctx context.Context, card modelhub.Card, setting string) error {
	if card.Task == modelhub.TaskRerank {
		r, err := reranklocal.New(reranklocal.Config{Model: card.Name, ModelDir: setting})
		if err != nil {
			return err
		}
		return r.Check(ctx)
	}
	e, err := embedlocal.New(embedlocal.Config{Model: card.Name, ModelDir: setting})
	if err != nil {
		return err
	}
	return e.Check(ctx)
}

// printVerified writes the outcome for a reader.
func (m *models) printVerified(out []verifiedJSON) {
	p := m.paint(m.out)
	for _, v := range out {
		verdict := p.green("ok")
		if !v.OK {
			verdict = p.red("not ok")
		}
		where := "part of the program"
		if v.Dir != nil {
			where = visible(*v.Dir)
		}
		fmt.Fprintf(m.out, "%s: %s %s\n", p.bold(v.Name), verdict, p.dim(where))
		for _, f := range v.Files {
			line := f.State
			switch {
			case f.State == modelhub.StateUnknown:
				line += ": nothing is known to compare it with"
			case f.Want != "":
				line += " (" + f.Proof + " digest)"
			}
			fmt.Fprintf(m.out, "  %s: %s\n", f.Name, line)
		}
		if v.SelfTest == selfTestOK {
			fmt.Fprintln(m.out, "  what it computes: as published")
		}
		if v.Message != nil {
			fmt.Fprintf(m.out, "  %s\n", visibleText(*v.Message))
		}
	}
}
