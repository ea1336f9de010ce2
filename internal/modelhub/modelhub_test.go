package modelhub_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/modelhub"
)

func TestPresets(t *testing.T) {
	revision, digest := regexp.MustCompile(`^[0-9a-f]{40}$`), regexp.MustCompile(`^[0-9a-f]{64}$`)
	for _, c := range modelhub.Presets() {
		t.Run(c.Name, func(t *testing.T) {
			if got, ok := modelhub.Named(strings.ToUpper(c.Name)); !ok || got.Name != c.Name {
				t.Errorf("Named gives %q, %v", got.Name, ok)
			}
			if c.Title == "" || c.License == "" || c.MaxTokens == 0 {
				t.Errorf("card %+v lacks a title, a licence or a window", c)
			}
			if embeds := c.Task == modelhub.TaskEmbed; embeds != (c.Dims > 0) || embeds != (c.Pooling != "") {
				t.Errorf("a model to %s has %d dimensions and pooling %q", c.Task, c.Dims, c.Pooling)
			}
			if c.Repository == "" {
				return
			}
			if got, ok := modelhub.Named(c.Repository); !ok || got.Name != c.Name {
				t.Errorf("Named(%q) gives %q, %v", c.Repository, got.Name, ok)
			}
			if !revision.MatchString(c.Revision) {
				t.Errorf("revision %q", c.Revision)
			}
			for i, f := range c.Files {
				if f.Name != modelhub.FileNames[i] || f.Size <= 0 || !digest.MatchString(f.SHA256) {
					t.Errorf("file %+v", f)
				}
			}
			if len(c.Checks) == 0 {
				t.Error("no references: a model of this name could be any other")
			}
			for _, check := range c.Checks {
				if (check.Pair != "") != (c.Task == modelhub.TaskRerank) || len(check.Want) == 0 {
					t.Errorf("check %+v", check)
				}
			}
		})
	}
	if c, ok := modelhub.Named("baai/bge-m3"); !ok || c.Unsupported == "" {
		t.Error("bge-m3 is not known as unsupported")
	}
	if _, ok := modelhub.Named(""); ok {
		t.Error("no name is a preset")
	}
}

// place writes files into a folder.
func place(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// userDirs points the user's folders and RAG_MODEL_DIR into the test's own.
func userDirs(t *testing.T) (variable string) {
	t.Helper()
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, home)
	}
	variable = t.TempDir()
	t.Setenv(modelhub.DirVariable, variable)
	return variable
}

func TestFindLooksInTheSettingThenTheVariableThenTheCache(t *testing.T) {
	variable, setting := userDirs(t), t.TempDir()
	places := modelhub.Places(setting)
	if len(places) != 3 || places[0].Dir != setting || places[1].Dir != variable {
		t.Fatalf("places %v", places)
	}
	for i := range places { // from the last to the first: each hides the one before
		dir := filepath.Join(places[len(places)-1-i].Dir, "m")
		place(t, dir, newHub(t).files)
		if got, err := modelhub.Find("m", setting); err != nil || got != dir {
			t.Errorf("found %q, error %v, want %q", got, err, dir)
		}
	}
}

func TestFindSaysWhereItLookedAndWhatToDo(t *testing.T) {
	variable, setting := userDirs(t), t.TempDir()
	place(t, filepath.Join(setting, "ms-marco-minilm-l6"), map[string]string{modelhub.ConfigFile: "{}"})
	_, err := modelhub.Find("ms-marco-minilm-l6", setting)
	if !errors.Is(err, modelhub.ErrNotFound) {
		t.Fatalf("got error %v, want ErrNotFound", err)
	}
	for _, want := range []string{
		"lacks tokenizer.json, model.safetensors", filepath.Join(variable, "ms-marco-minilm-l6") + " (RAG_MODEL_DIR): no such folder",
		"the user's cache", "rag models pull ms-marco-minilm-l6", "model: /path/to/folder", "rerank: none",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q:\n%v", want, err)
		}
	}
	if _, err := modelhub.Find("bge-small-en", setting); !strings.Contains(err.Error(), "model: builtin") {
		t.Errorf("the error does not name the built-in model:\n%v", err)
	}
}

func TestIsPath(t *testing.T) {
	for name, want := range map[string]bool{
		"bge-small-en": false, "BAAI/bge-small-en-v1.5": false, "./m": true, "../m": true, ".": true, "/srv/m": true, "": false,
	} {
		if got := modelhub.IsPath(name); got != want {
			t.Errorf("IsPath(%q) is %v", name, got)
		}
	}
}

func TestVerify(t *testing.T) {
	h := newHub(t)
	for _, tt := range []struct {
		name   string
		pinned bool
		pulled bool
		change func(t *testing.T, dir string)
		ok     bool
		want   []string // state and proof of each file
	}{
		{"pinned and whole", true, false, nil, true, []string{"ok pinned", "ok pinned", "ok pinned"}},
		{"pulled and whole", false, true, nil, true, []string{"ok manifest", "ok manifest", "ok manifest"}},
		{"of unknown origin", false, false, nil, true, []string{"unknown none", "unknown none", "unknown none"}},
		{"changed", true, false, func(t *testing.T, dir string) {
			place(t, dir, map[string]string{modelhub.TokenizerFile: "changed"})
		}, false, []string{"ok pinned", "different pinned", "ok pinned"}},
		{"changed after the pull", false, true, func(t *testing.T, dir string) {
			place(t, dir, map[string]string{modelhub.WeightsFile: "changed"})
		}, false, []string{"ok manifest", "ok manifest", "different manifest"}},
		{"incomplete", true, false, func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, modelhub.WeightsFile)); err != nil {
				t.Fatal(err)
			}
		}, false, []string{"ok pinned", "ok pinned", "missing pinned"}},
		{"with a damaged manifest", true, true, func(t *testing.T, dir string) {
			place(t, dir, map[string]string{modelhub.ManifestName: "{"})
		}, false, []string{"different none", "ok pinned", "ok pinned", "ok pinned"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			parent := t.TempDir()
			dir, card := filepath.Join(parent, "small"), h.card(tt.pinned)
			if tt.pulled {
				p, _ := puller(h)
				mustPull(t, h, p, card, parent)
			} else {
				place(t, dir, h.files)
			}
			if tt.change != nil {
				tt.change(t, dir)
			}
			v := modelhub.Verify(card, dir)
			var got []string
			for _, f := range v.Files {
				got = append(got, f.State+" "+f.Proof)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || v.OK != tt.ok {
				t.Errorf("OK is %v, files (-want +got):\n%s", v.OK, diff)
			}
		})
	}
}
