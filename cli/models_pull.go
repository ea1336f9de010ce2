package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/modelhub"
)

func newModelsPull(m *models) *cobra.Command {
	var mirror string
	cmd := &cobra.Command{
		Use: "pull NAME", Short: "Fetch a model",
		Long: `models pull fetches the files of a model from a model hub into the first of the folders that models where lists. What an
earlier pull left is gone on from. Files are compared with the digests that the program knows, or else with those that
the hub states; what neither knows is written down for verify. The model is put in place when all of it is right.`,
		Example: examples("rag models pull ms-marco-minilm-l6", "rag models pull bge-small-en --mirror https://models.example.org"),
		Args:    exactly(1, "NAME, one of those that `rag models list` shows"),
		RunE:    func(cmd *cobra.Command, args []string) error { return m.pull(cmd.Context(), args[0], mirror) },
	}
	cmd.Flags().StringVar(&mirror, "mirror", "", "address of another hub with the same paths (default $"+mirrorVariable+", else "+modelhub.DefaultHub+")")
	return cmd
}

// mirrorVariable is the environment variable that names another hub.
const mirrorVariable = "RAG_MODEL_MIRROR"

// pulledJSON is a model as pull prints it.
type pulledJSON struct {
	Name    string           `json:"name"`
	Dir     string           `json:"dir"`
	Fetched bool             `json:"fetched"`
	Files   []pulledFileJSON `json:"files"`
}

type pulledFileJSON struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Proof  string `json:"proof"`
}

func (m *models) pull(ctx context.Context, name, mirror string) error {
	card, err := named(name)
	if err != nil {
		return err
	}
	places, err := m.places(card.Task)
	if err != nil {
		return err
	}
	if len(places) == 0 {
		return fmt.Errorf("%s: %w", noFolder, rag.ErrInvalid)
	}
	loaded, err := m.settings()
	if err != nil {
		return err
	}
	bar := m.progress()
	p := modelhub.Puller{Mirror: cmp.Or(mirror, loaded.Getenv(mirrorVariable)), Progress: func(p modelhub.Progress) { bar.draw(pullLine(bar, p)) }, Retrying: func(err error, after time.Duration) {
		bar.clear()
		m.note("%v; trying again in %v", err, after)
	}, Waiting: func(pid int) {
		m.note("process %d is pulling %s: waiting for it", pid, card.Name)
	}}
	got, err := p.Pull(ctx, card, places[0].Dir)
	bar.clear()
	if err != nil {
		return modelKinds.Of(err)
	}
	out := pulledJSON{Name: card.Name, Dir: got.Dir, Fetched: got.Fetched, Files: []pulledFileJSON{}}
	var total int64
	var unproven []string
	for _, f := range got.Files {
		out.Files = append(out.Files, pulledFileJSON{f.Name, f.Size, f.SHA256, f.Proof})
		total += f.Size
		if f.Proof == modelhub.ProofNone {
			unproven = append(unproven, f.Name)
		}
	}
	if len(unproven) > 0 {
		m.note("nothing is known that %s could be compared with: the digests are written down for `rag models verify`", strings.Join(unproven, ", "))
	}
	if m.json {
		return m.printJSON(out)
	}
	what := "fetched"
	if !got.Fetched {
		what = "is here already, unchanged"
	}
	fmt.Fprintf(m.out, "%s %s: %s in %s\n", card.Name, what, size(total), visible(got.Dir))
	return nil
}

// pullLine tells how much of a file is here.
func pullLine(bar *progress, p modelhub.Progress) string {
	if p.Total <= 0 {
		return fmt.Sprintf("%s %s", p.File, size(p.Done))
	}
	return fmt.Sprintf("%s%s %s of %s", bar.bar(p.Done, p.Total), p.File, size(p.Done), size(p.Total))
}
