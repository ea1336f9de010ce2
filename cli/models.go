package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/modelhub"
)

// models is one run of a verb of models.
type models struct {
	*app
	modelDir string // --model-dir; "": as configured
}

func newModels(a *app) *cobra.Command {
	m := &models{app: a}
	cmd := &cobra.Command{
		Use:   "models",
		Short: "List, fetch and verify models",
		Long: `models shows the models that can be run on this machine, fetches them and verifies them. Nothing is ever fetched but by
pull. Models are looked for in the folder that --model-dir names, or else the setting model_dir of the provider that the
model is for, or else the setting model_dir of the configuration; then in the folder that $` + modelhub.DirVariable + `
names; then in the user's cache.`,
		Example: examples("rag models list", "rag models pull bge-small-en", "rag models verify"),
	}
	a.requireVerb(cmd)
	cmd.PersistentFlags().StringVar(&m.modelDir, "model-dir", "", "folder of model folders (default: as configured)")
	cmd.AddCommand(newModelsList(m), newModelsPull(m), newModelsVerify(m), newModelsWhere(m))
	return cmd
}

func newModelsList(m *models) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the models that can be run, and which are here",
		Long:    "models list shows the models that can be run, what each is for, and where those are that are on this machine.",
		Example: examples("rag models list"),
		Args:    exactly(0, ""),
		RunE:    func(*cobra.Command, []string) error { return m.list() },
	}
}

func newModelsWhere(m *models) *cobra.Command {
	return &cobra.Command{
		Use: "where [NAME]", Short: "Print where models are looked for, or where one is",
		Long: `models where prints the folders in which models are looked for, in this order, of which pull fills the first; or the
folder of the named model. If embedder and reranker have folders of their own, those of both are printed. If that is in none of them the exit code is 1.`,
		Example: examples("rag models where", "rag models where bge-small-en"),
		Args:    atMostOne,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return m.wherePlaces()
			}
			return m.where(args[0])
		},
	}
}

// atMostOne makes a command take one argument or none.
func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef(cmd, "too many arguments: %q", args[1])
	}
	return nil
}

// modelKinds are what the errors of models are here.
var modelKinds = modelhub.Kinds{
	NotFound: rag.ErrNotFound, Unsupported: rag.ErrUnsupported, Invalid: rag.ErrInvalid, Unavailable: rag.ErrUnavailable,
}

// named returns the card of the model of this name, whatever it is for.
func named(name string) (modelhub.Card, error) {
	card, ok := modelhub.Named(name)
	if ok {
		return card, nil
	}
	known := append(modelhub.Names(modelhub.TaskEmbed), modelhub.Names(modelhub.TaskRerank)...)
	return card, fmt.Errorf("unknown model %q%s (known: %s): %w", name, rag.DidYouMean(name, known), strings.Join(known, ", "), rag.ErrInvalid)
}

// noFolder says that there is nowhere to look, and what to do.
const noFolder = "there is no folder for models: name one with --model-dir, the setting model_dir or $" + modelhub.DirVariable

// places returns where models for a task are looked for.
func (m *models) places(task string) ([]modelhub.Place, error) {
	dir, err := m.dirSetting(task)
	if err != nil {
		return nil, err
	}
	return modelhub.Places(dir), nil
}

// tasks lists what models are for.
var tasks = []string{modelhub.TaskEmbed, modelhub.TaskRerank}

// allPlaces returns the places by task, and tells the user if there are none.
func (m *models) allPlaces() (map[string][]modelhub.Place, error) {
	all, n := map[string][]modelhub.Place{}, 0
	for _, task := range tasks {
		places, err := m.places(task)
		if err != nil {
			return nil, err
		}
		all[task], n = places, n+len(places)
	}
	if n == 0 {
		m.note(noFolder)
	}
	return all, nil
}

// dirSetting returns the folder named by --model-dir, or else by the provider for the task, or else by the
// configuration; "" if none does.
func (m *models) dirSetting(task string) (string, error) {
	if m.modelDir != "" {
		return filepath.Abs(m.modelDir)
	}
	loaded, err := m.settings()
	if err != nil {
		return "", err
	}
	var s struct {
		ModelDir string `json:"model_dir"`
	}
	provider := map[string]rag.ProviderConfig{modelhub.TaskEmbed: loaded.Config.Embedder, modelhub.TaskRerank: loaded.Config.Rerank}[task]
	if len(provider.Settings) > 0 && json.Unmarshal(provider.Settings, &s) == nil && s.ModelDir != "" {
		return s.ModelDir, nil
	}
	return loaded.Config.ModelDir, nil
}

// found returns the folder of a model; "" if it is nowhere, or part of the program.
func found(card modelhub.Card, places []modelhub.Place) string {
	if card.Repository == "" {
		return ""
	}
	for _, p := range places {
		if dir, missing := modelhub.Folder(p, card.Name); len(missing) == 0 {
			return dir
		}
	}
	return ""
}

// States of a model in a list.
const (
	modelBuiltin = "builtin"
	modelHere    = "here"
	modelAbsent  = "absent"
)

func modelState(card modelhub.Card, dir string) string {
	switch {
	case card.Repository == "":
		return modelBuiltin
	case dir != "":
		return modelHere
	}
	return modelAbsent
}

// modelJSON is a model as list prints it.
type modelJSON struct {
	Name       string   `json:"name"`
	Title      string   `json:"title"`
	Task       string   `json:"task"`
	Repository *string  `json:"repository"`
	Revision   *string  `json:"revision"`
	License    string   `json:"license"`
	Languages  []string `json:"languages"`
	Dims       int      `json:"dims"`
	MaxTokens  int      `json:"max_tokens"`
	Bytes      int64    `json:"bytes"`
	State      string   `json:"state"`
	Dir        *string  `json:"dir"`
}

func (m *models) list() error {
	places, err := m.allPlaces()
	if err != nil {
		return err
	}
	out := []modelJSON{}
	t := newTable("model", "for", "languages", "tokens", "dims", "size", "where").numbers(3, 4, 5)
	for _, c := range modelhub.Presets() {
		dir := found(c, places[c.Task])
		j := modelJSON{
			Name: c.Name, Title: c.Title, Task: c.Task, Repository: orNull(c.Repository), Revision: orNull(c.Revision),
			License: c.License, Languages: append([]string{}, c.Languages...), Dims: c.Dims, MaxTokens: c.MaxTokens,
			Bytes: modelBytes(c, dir), State: modelState(c, dir), Dir: orNull(dir),
		}
		out = append(out, j)
		where := visible(dir)
		switch j.State {
		case modelBuiltin:
			where = "part of the program"
		case modelAbsent:
			where = "not here"
		}
		t.add(c.Name, c.Task, orAny(c.Languages), strconv.Itoa(c.MaxTokens), orDash(c.Dims), orUnknown(j.Bytes), where)
	}
	if m.json {
		return m.printJSON(struct {
			Models []modelJSON `json:"models"`
		}{out})
	}
	t.print(m.out, m.paint(m.out), "")
	return nil
}

// modelBytes returns the size of a model's files: those in dir, or else those that the card knows.
func modelBytes(c modelhub.Card, dir string) (n int64) {
	if dir == "" {
		for _, f := range c.Files {
			n += f.Size
		}
		return n
	}
	for _, name := range modelhub.FileNames {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
			n += info.Size()
		}
	}
	return n
}

func orAny(languages []string) string {
	if len(languages) == 0 {
		return "any"
	}
	return strings.Join(languages, " ")
}

func orDash(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

func orUnknown(bytes int64) string {
	if bytes == 0 {
		return "-"
	}
	return size(bytes)
}

// placeJSON is a folder in which models are looked for.
type placeJSON struct {
	Dir    string `json:"dir"`
	Origin string `json:"origin"`
}

func (m *models) wherePlaces() error {
	places, err := m.allPlaces()
	if err != nil {
		return err
	}
	out := []placeJSON{}
	for _, task := range tasks {
		for _, p := range places[task] {
			if j := (placeJSON{p.Dir, p.Origin}); !slices.Contains(out, j) {
				out = append(out, j)
			}
		}
	}
	if m.json {
		return m.printJSON(struct {
			Places []placeJSON `json:"places"`
		}{out})
	}
	t := newTable("folder", "named by")
	for _, p := range out {
		t.add(visible(p.Dir), p.Origin)
	}
	t.print(m.out, m.paint(m.out), "")
	return nil
}

func (m *models) where(name string) error {
	card, err := named(name)
	if err != nil {
		return err
	}
	if err := card.Refusal(); err != nil {
		return modelKinds.Of(err)
	}
	var dir string
	if card.Repository != "" {
		setting, err := m.dirSetting(card.Task)
		if err != nil {
			return err
		}
		if dir, err = modelhub.Find(card.Name, setting); err != nil {
			return modelKinds.Of(err)
		}
	}
	if m.json {
		return m.printJSON(struct {
			Name  string  `json:"name"`
			State string  `json:"state"`
			Dir   *string `json:"dir"`
		}{card.Name, modelState(card, dir), orNull(dir)})
	}
	if dir == "" {
		dir = "part of the program"
	}
	fmt.Fprintln(m.out, visible(dir))
	return nil
}
