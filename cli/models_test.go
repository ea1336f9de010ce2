package cli

import (
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag/internal/modelhub"
	"github.com/seed-d8745b77/rag/internal/modelhub/modeltest"
)

// pulled is the model that the tests fetch: the program pins no digests of it, so that a model of theirs can stand for it.
const pulled = "e5-small"

// modelHub serves a model in the place of the one named pulled, and has no other. It points the commands to be run to
// itself, and the user's folders into the test's own.
func modelHub(t *testing.T) (mirror string) {
	t.Helper()
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, t.TempDir())
	}
	card, ok := modelhub.Named(pulled)
	if !ok || len(card.Files) > 0 {
		t.Fatalf("%s is to be a model without pinned digests", pulled)
	}
	dir := t.TempDir()
	modeltest.Write(t, dir, modeltest.Shape{Layers: 1, Hidden: card.Dims, Heads: 12, Positions: card.MaxTokens, Vector: passing(card)})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Dir(r.URL.Path) != "/"+card.Repository+"/resolve/"+card.Revision {
			http.NotFound(w, r)
			return
		}
		http.ServeFile(w, r, filepath.Join(dir, path.Base(r.URL.Path)))
	}))
	t.Cleanup(s.Close)
	t.Setenv(mirrorVariable, s.URL)
	return s.URL
}

// passing is a vector of unit length that is near all references of a card.
func passing(card modelhub.Card) []float32 {
	v := make([]float32, card.Dims)
	n, left := len(card.Checks[0].Want), 1.0
	for i := range n {
		for _, c := range card.Checks {
			v[i] += float32(c.Want[i] / float64(len(card.Checks)))
		}
		left -= float64(v[i] * v[i])
	}
	for i := n; i < len(v); i++ {
		v[i] = float32(math.Sqrt(left / float64(len(v)-n)))
	}
	return v
}

func TestModels(t *testing.T) {
	mirror := modelHub(t)
	s := newShell(t)
	dir := filepath.Join(s.dir, "models")
	t.Setenv(modelhub.DirVariable, dir)
	s.write("e5.yaml", "embedder:\n  provider: local\n  model: "+pulled+"\n")
	s.write("docs/a.md", "# A\n\nSome text.\n")

	s.rag("ingest", "docs", "--config", "e5.yaml").want(exitFailed).says("rag models pull "+pulled, dir, "model: builtin")
	s.rag("models", "where", pulled).want(exitFailed).says("three ways out")
	s.rag("models", "verify", pulled).want(exitFailed).says("three ways out")
	s.rag("models", "list").want(exitDone).prints("builtin", "part of the program", pulled, "not here")

	o := s.rag("models", "pull", pulled, "--json").want(exitDone).says("digests are written down")
	checkJSON(t, "JSON of models pull", o)
	var got pulledJSON
	o.into(&got)
	folder := filepath.Join(dir, pulled)
	if !got.Fetched || got.Dir != folder || len(got.Files) != 3 || got.Files[2].Proof != modelhub.ProofNone {
		t.Errorf("pull printed %+v", got)
	}
	s.rag("models", "pull", pulled, "--mirror", mirror).want(exitDone).prints("is here already, unchanged", folder)
	s.rag("models", "where", pulled).want(exitDone).prints(folder)
	s.rag("models", "list").want(exitDone).prints(folder)
	s.rag("models", "verify").want(exitDone).prints("builtin: ok", pulled+": ok", "manifest digest", "as published")
	s.rag("ingest", "docs", "--config", "e5.yaml").want(exitDone)

	checkJSON(t, "JSON of models list", s.rag("models", "list", "--json").want(exitDone))
	checkJSON(t, "JSON of models verify", s.rag("models", "verify", "--json").want(exitDone))
	checkJSON(t, "JSON of models where", s.rag("models", "where", "--json").want(exitDone))
	checkJSON(t, "JSON of models where for a model", s.rag("models", "where", pulled, "--json").want(exitDone))
	s.rag("models", "where", "builtin").want(exitDone).prints("part of the program")

	if err := os.WriteFile(filepath.Join(folder, modelhub.WeightsFile), []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.rag("models", "verify", pulled).want(exitFailed).prints("not ok", "model.safetensors: different", "rag models pull "+pulled)
	s.rag("models", "pull", pulled).want(exitDone).prints("fetched")
	s.rag("models", "verify", pulled).want(exitDone)
}

func TestModelsGoWhereTheConfigurationSays(t *testing.T) {
	modelHub(t)
	s := newShell(t)
	t.Setenv(modelhub.DirVariable, filepath.Join(s.dir, "variable"))
	all, own, reranker, flag := filepath.Join(s.dir, "all"), filepath.Join(s.dir, "own"), filepath.Join(s.dir, "reranker"), filepath.Join(s.dir, "flag")
	s.write("docs/a.md", "# A\n\nSome text.\n")
	s.write("all.yaml", "model_dir: '"+all+"'\nembedder: {provider: local, model: "+pulled+"}\nrerank: {provider: local, model_dir: '"+reranker+"'}\n")
	s.write("own.yaml", "model_dir: '"+all+"'\nembedder: {provider: local, model: "+pulled+", model_dir: '"+own+"'}\n")
	for config, dir := range map[string]string{"all.yaml": all, "own.yaml": own} {
		s.rag("models", "pull", pulled, "--config", config).want(exitDone).prints(dir)
		s.rag("models", "where", pulled, "--config", config).want(exitDone).prints(dir)
		s.rag("models", "where", "--config", config).want(exitDone).prints(dir, "model_dir", "variable", modelhub.DirVariable, "the user's cache")
		s.rag("models", "list", "--config", config).want(exitDone).prints(dir)
		s.rag("ingest", "docs", "--config", config, "--dir", filepath.Join(s.dir, "data of "+config)).want(exitDone)
	}
	s.rag("search", "text", "--config", "all.yaml", "--path", "docs").want(exitFailed).says(filepath.Join(reranker, "ms-marco-minilm-l6"))
	s.rag("models", "where", "ms-marco-minilm-l6", "--config", "all.yaml").want(exitFailed).says(reranker)
	s.rag("models", "where", "--config", "all.yaml").want(exitDone).prints(all, reranker)
	s.rag("models", "pull", pulled, "--config", "all.yaml", "--model-dir", "flag").want(exitDone).prints(flag)
}

func TestModelsWithoutAFolder(t *testing.T) {
	s := newShell(t)
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData", modelhub.DirVariable} {
		t.Setenv(name, "")
	}
	const note = "no folder for models"
	s.rag("models", "list").want(exitDone).says(note, "model_dir", modelhub.DirVariable).prints("builtin", "bge-small-en", "not here")
	checkJSON(t, "JSON of models list", s.rag("models", "list", "--json").want(exitDone))
	s.rag("models", "where").want(exitDone).says(note)
	s.rag("models", "verify").want(exitDone).prints("builtin: ok")
	s.rag("models", "where", "bge-small-en").want(exitFailed).says("nowhere")
	s.rag("models", "pull", "bge-small-en").want(exitFailed).says(note)
}

func TestARerankerThatIsNotHereStopsSearchesOnly(t *testing.T) {
	modelHub(t)
	s := newShell(t)
	s.handbook()
	s.write("rerank.yaml", "embedder: hash\nrerank: local\n")
	for _, verb := range [][]string{{"ingest", "docs"}, {"list"}, {"verify"}, {"reindex"}} {
		s.rag(append(verb, "--config", "rerank.yaml")...).want(exitDone)
	}
	ways := []string{"rag models pull ms-marco-minilm-l6", "rerank: none", "the user's cache"}
	s.rag("search", "notice period", "--config", "rerank.yaml").want(exitFailed).says(ways...)
	s.rag("config", "check", "--config", "rerank.yaml").want(exitFailed).says(ways...)
	s.rag("search", "notice period", "--config", "rerank.yaml", "--no-rerank").want(exitDone)
}

func TestModelsFail(t *testing.T) {
	modelHub(t)
	s := newShell(t)
	s.rag("models").want(exitUsage)
	s.rag("models", "pull").want(exitUsage).says("missing argument")
	s.rag("models", "where", "a", "b").want(exitUsage)
	s.rag("models", "pull", "bge-smal-en").want(exitFailed).says(`unknown model "bge-smal-en", did you mean "bge-small-en"?`)
	s.rag("models", "pull", "builtin").want(exitFailed).says("part of the program")
	s.rag("models", "pull", "bge-m3").want(exitFailed).says("not supported", "multilingual-e5-small")
	s.rag("models", "where", "bge-m3").want(exitFailed).says("not supported", "multilingual-e5-small")
	s.rag("models", "pull", pulled, "--mirror", "example.org").want(exitFailed).says("not the address of a hub")
	var failed errorJSON
	s.rag("models", "pull", "bge-small-en", "--json").want(exitFailed).into(&failed)
	if failed.Error.Kind != "not_found" || !strings.Contains(failed.Error.Message, "404") {
		t.Errorf("a model that the hub has not: %+v", failed)
	}
}

func TestPullLine(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    modelhub.Progress
		want string
	}{
		{"half", modelhub.Progress{File: "f", Done: 512, Total: 1024}, "[############------------] f 512 B of 1.0 KiB"},
		{"all", modelhub.Progress{File: "f", Done: 1024, Total: 1024}, "[########################] f 1.0 KiB of 1.0 KiB"},
		{"of unknown size", modelhub.Progress{File: "f", Done: 3}, "f 3 B"},
	} {
		if got := pullLine(&progress{tty: os.Stderr}, tt.p); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
