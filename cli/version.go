package cli

import (
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
)

// module is the path of the project's module.
const module = "github.com/seed-d8745b77/rag"

// release is the version that a release build is given by the linker: -X github.com/seed-d8745b77/rag/cli.release=v1.2.3.
// The go command knows it for what it installs at a version, not for what is built in a clone.
var release string

// buildOutput is what `rag version` prints with --json.
type buildOutput struct {
	Version   string              `json:"version"`
	Commit    *string             `json:"commit"`
	Time      *string             `json:"time"`
	Modified  bool                `json:"modified"`
	Go        string              `json:"go"`
	Platform  string              `json:"platform"`
	Providers map[string][]string `json:"providers"`
}

// buildOf tells what a binary was built from. Where the project is a part of another module's program the version is the
// project's, and the commit, which is the program's own, is left out.
func buildOf(info *debug.BuildInfo, release string) buildOutput {
	out := buildOutput{Version: release, Go: info.GoVersion, Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if own := info.Main.Path == module || strings.HasPrefix(info.Main.Path, module+"/"); !own {
		for _, m := range info.Deps {
			if m.Path == module {
				out.Version = m.Version
			}
		}
		return out
	}
	if out.Version == "" {
		out.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch value := s.Value; s.Key {
		case "vcs.revision":
			out.Commit = &value
		case "vcs.time":
			out.Time = &value
		case "vcs.modified":
			out.Modified = value == "true"
		}
	}
	return out
}

// build tells what the running binary was built from.
func build() buildOutput {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{GoVersion: runtime.Version()}
	}
	return buildOf(info, release)
}

// version is the version of the command on a line: with the commit where the build knows it, and that of Go.
func version() string {
	b := build()
	text := b.Version
	if text == "" {
		text = "unknown"
	}
	if b.Commit != nil {
		text += " " + *b.Commit
	}
	return text + " " + b.Go
}

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Tell what the command was built from",
		Long: `version tells the version, the commit and the time of it, the Go release and platform, and the providers that are linked: the
names that rag.yaml can use.`,
		Example: examples("rag version", "rag version --json"),
		Args:    exactly(0, ""),
		RunE: func(*cobra.Command, []string) error {
			b := build()
			b.Providers = linked()
			if a.json {
				return a.printJSON(b)
			}
			a.printBuild(b)
			return nil
		},
	}
}

// printBuild prints a line for each thing that is known.
func (a *app) printBuild(b buildOutput) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(a.out, "%-18s %s\n", name, value)
		}
	}
	line("rag", b.Version)
	if b.Commit != nil {
		commit := *b.Commit
		if b.Modified {
			commit += ", with changes that are not committed"
		}
		line("commit", commit)
	}
	if b.Time != nil {
		line("of", *b.Time)
	}
	line("go", b.Go)
	line("platform", b.Platform)
	for _, slot := range slices.Sorted(maps.Keys(b.Providers)) {
		line(slot, strings.Join(b.Providers[slot], ", "))
	}
}

// linked lists the providers by the slot of rag.yaml that takes them.
func linked() map[string][]string {
	p := rag.Default
	all := map[string][]string{
		"loaders": p.Loaders.Names(), "ocr": p.OCRs.Names(), "splitter": p.Splitters.Names(), "transforms": p.Transformers.Names(),
		"embedder": p.Embedders.Names(), "embed_cache": p.EmbedCaches.Names(), "llm": p.ChatModels.Names(),
		"vector_store": p.VectorStores.Names(), "sparse_index": p.SparseIndexes.Names(), "fusion": p.Fusers.Names(),
		"rerank": p.Rerankers.Names(), "verifier": p.Verifiers.Names(), "catalog": p.Catalogs.Names(), "trace": p.TraceSinks.Names(),
		"query_transforms": p.QueryTransformers.Names(),
	}
	maps.DeleteFunc(all, func(_ string, names []string) bool { return len(names) == 0 })
	return all
}
