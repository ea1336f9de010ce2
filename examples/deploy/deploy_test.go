package deploy

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// read reads the documents of a file.
func read(t *testing.T, name string) (docs []map[string]any) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for d := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var doc map[string]any
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return docs
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		docs = append(docs, doc)
	}
}

// at follows a path of keys and, as numbers, of places in lists; nil where it leads nowhere.
func at(v any, path string) any {
	for key := range strings.SplitSeq(path, "/") {
		switch in := v.(type) {
		case map[string]any:
			v = in[key]
		case []any:
			i := int(key[0] - '0')
			if i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

func TestKubernetesManifest(t *testing.T) {
	docs := read(t, "kubernetes.yaml")
	i := slices.IndexFunc(docs, func(d map[string]any) bool { return d["kind"] == "StatefulSet" })
	if len(docs) != 2 || i < 0 {
		t.Fatalf("%d documents, the StatefulSet at %d", len(docs), i)
	}
	const pod = "spec/template/spec/"
	for path, want := range map[string]any{
		"spec/replicas": 1, // one process may have the folder
		pod + "containers/0/ports/0/containerPort":                    8080,
		pod + "containers/0/readinessProbe/httpGet/path":              "/readyz",
		pod + "containers/0/livenessProbe/httpGet/path":               "/healthz",
		pod + "containers/0/resources/limits/memory":                  "2Gi",
		pod + "containers/0/securityContext/readOnlyRootFilesystem":   true,
		pod + "containers/0/securityContext/allowPrivilegeEscalation": false,
		pod + "securityContext/runAsNonRoot":                          true,
		pod + "volumes/0/secret/secretName":                           "rag-tokens",
		pod + "terminationGracePeriodSeconds":                         60,
		"spec/volumeClaimTemplates/0/metadata/name":                   at(docs[i], pod+"containers/0/volumeMounts/0/name"),
		"spec/selector/matchLabels/app":                               at(docs[i], "spec/template/metadata/labels/app"),
	} {
		if got := at(docs[i], path); got != want {
			t.Errorf("%s is %v; want %v", path, got, want)
		}
	}
	if at(docs[0], "spec/selector/app") != at(docs[i], "spec/template/metadata/labels/app") {
		t.Error("the service finds no pod")
	}
	serves(t, at(docs[i], pod+"containers/0/args"))
}

func TestComposeFile(t *testing.T) {
	docs := read(t, "compose.yaml")
	if len(docs) != 1 {
		t.Fatalf("%d documents", len(docs))
	}
	serves(t, at(docs[0], "services/rag/command"))
	if port, _ := at(docs[0], "services/rag/ports/0").(string); !strings.HasPrefix(port, "127.0.0.1:") || !strings.HasSuffix(port, ":8080") {
		t.Errorf("port %q: nothing is shown to the whole network unless that is asked for", port)
	}
	if at(docs[0], "secrets/tokens/file") == nil || at(docs[0], "volumes/data") == nil || at(docs[0], "services/rag/read_only") != true {
		t.Errorf("%v", docs[0])
	}
}

// serves checks a command line.
func serves(t *testing.T, args any) {
	t.Helper()
	var words []string
	list, _ := args.([]any)
	for _, a := range list {
		s, _ := a.(string)
		words = append(words, s)
	}
	if line := strings.Join(words, " "); !strings.HasPrefix(line, "serve http --dir /data --addr 0.0.0.0:8080 ") || !strings.Contains(line, "--tokens ") {
		t.Errorf("command %q", line)
	}
}
