package deploy

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/config"
	_ "github.com/seed-d8745b77/rag/defaults"
)

// The settings that servers and workers share are such as the engine reads, and have everything in the database.
func TestPostgresSettings(t *testing.T) {
	data, err := os.ReadFile("rag.yaml")
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := config.Parse("rag.yaml", data, func(name string) (string, bool) { return "host=db", name == "RAG_DSN" })
	if err != nil {
		t.Fatal(err)
	}
	for slot, p := range map[string]rag.ProviderConfig{"catalog": loaded.Config.Catalog, "vector_store": loaded.Config.VectorStore, "sparse_index": loaded.Config.SparseIndex} {
		if p.Provider != "postgres" || string(p.Settings) != `{"dsn":"host=db"}` {
			t.Errorf("%s is %q with %s", slot, p.Provider, p.Settings)
		}
	}
	if loaded.Config.EmbedCache.Provider != rag.None {
		t.Errorf("the embedding cache is %q: processes that share a folder have none", loaded.Config.EmbedCache.Provider)
	}
}

func TestKubernetesWorkers(t *testing.T) {
	docs := read(t, "kubernetes-postgres.yaml")
	if len(docs) != 3 {
		t.Fatalf("%d documents", len(docs))
	}
	for _, d := range docs[1:] {
		const pod = "spec/template/spec/"
		for path, want := range map[string]any{
			"kind":                               "Deployment", // nobody has a folder of his own
			pod + "containers/0/env/0/name":      "RAG_DSN",
			pod + "containers/0/workingDir":      "/etc/rag", // where rag.yaml is found
			pod + "volumes/0/configMap/name":     "rag-config",
			pod + "securityContext/runAsNonRoot": true,
			pod + "containers/0/securityContext/readOnlyRootFilesystem": true,
			"spec/selector/matchLabels/app":                             at(d, "spec/template/metadata/labels/app"),
		} {
			if got := at(d, path); got != want {
				t.Errorf("%s is %v; want %v", path, got, want)
			}
		}
	}
	serves(t, at(docs[1], "spec/template/spec/containers/0/args"))
	works(t, at(docs[2], "spec/template/spec/containers/0/args"))
	if at(docs[0], "spec/selector/app") != at(docs[1], "spec/template/metadata/labels/app") {
		t.Error("the service finds no pod")
	}
}

func TestComposeWorkers(t *testing.T) {
	docs := read(t, "compose-postgres.yaml")
	if len(docs) != 1 {
		t.Fatalf("%d documents", len(docs))
	}
	d := docs[0]
	serves(t, at(d, "services/rag/command"))
	works(t, at(d, "services/worker/command"))
	if port, _ := at(d, "services/rag/ports/0").(string); !strings.HasPrefix(port, "127.0.0.1:") {
		t.Errorf("port %q: nothing is shown to the whole network unless that is asked for", port)
	}
	for _, service := range []string{"rag", "worker"} {
		in := "services/" + service
		dsn, _ := at(d, in+"/environment/RAG_DSN").(string)
		if at(d, in+"/build/args/MODULE") != "postgres" || !strings.Contains(dsn, "@database/") || at(d, in+"/read_only") != true ||
			at(d, in+"/depends_on/database/condition") != "service_healthy" || at(d, in+"/configs/0/target") != "/etc/rag/rag.yaml" {
			t.Errorf("%s: %v", service, at(d, in))
		}
	}
	if at(d, "services/database/ports") != nil || at(d, "configs/rag/file") != "./rag.yaml" {
		t.Errorf("%v", d)
	}
}

// works checks the command line of a worker.
func works(t *testing.T, args any) {
	t.Helper()
	if list, _ := args.([]any); !slices.Contains(list, any("worker")) || slices.Contains(list, any("--drain")) {
		t.Errorf("command %v: a service serves on", list)
	}
}
