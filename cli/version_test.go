package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestBuildOf(t *testing.T) {
	text := func(s string) *string { return &s }
	vcs := []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-11-30T10:00:00Z"}, {Key: "vcs.modified", Value: "true"}}
	dep := []*debug.Module{{Path: "example.com/other", Version: "v9.0.0"}, {Path: module, Version: "v1.2.0"}}
	for _, c := range []struct {
		name    string
		info    debug.BuildInfo
		release string
		want    buildOutput
	}{
		{"built in a clone", debug.BuildInfo{Main: debug.Module{Path: module, Version: "(devel)"}, Settings: vcs}, "",
			buildOutput{Version: "(devel)", Commit: text("abc"), Time: text("2026-11-30T10:00:00Z"), Modified: true}},
		{"a release", debug.BuildInfo{Main: debug.Module{Path: module, Version: "(devel)"}}, "v1.3.0", buildOutput{Version: "v1.3.0"}},
		{"installed at a version", debug.BuildInfo{Main: debug.Module{Path: module, Version: "v1.1.0"}}, "", buildOutput{Version: "v1.1.0"}},
		{"the command with PostgreSQL", debug.BuildInfo{Main: debug.Module{Path: module + "/postgres", Version: "v1.1.0"}, Deps: dep}, "", buildOutput{Version: "v1.1.0"}},
		{"another's program", debug.BuildInfo{Main: debug.Module{Path: "example.com/app", Version: "v7.0.0"}, Deps: dep, Settings: vcs}, "", buildOutput{Version: "v1.2.0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, buildOf(&c.info, c.release), cmpopts.IgnoreFields(buildOutput{}, "Go", "Platform")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestVersion(t *testing.T) {
	s := newShell(t)
	var b buildOutput
	checkJSON(t, "JSON of version", s.rag("version", "--json").want(exitDone).into(&b))
	if len(b.Providers["catalog"]) == 0 || b.Go == "" {
		t.Errorf("%+v", b)
	}
	s.rag("version").want(exitDone).prints("rag ", "platform ", "embedder ", "hash")
}

func TestManualPages(t *testing.T) {
	s := newShell(t)
	first, second := filepath.Join(s.dir, "one"), filepath.Join(s.dir, "two")
	s.rag("man", first).want(exitDone)
	s.rag("man", second).want(exitDone)
	page, err := os.ReadFile(filepath.Join(first, "rag-search.1"))
	if err != nil || !strings.Contains(string(page), "top-k") {
		t.Errorf("%s, %v", page, err)
	}
	if again, err := os.ReadFile(filepath.Join(second, "rag-search.1")); err != nil || !bytes.Equal(page, again) {
		t.Error("two runs write two pages", err)
	}
}

func TestCompletion(t *testing.T) {
	s := newShell(t)
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		s.rag("completion", shell).want(exitDone).prints("rag")
	}
	s.rag("__complete", "--config", "hash.yaml", "sea").want(exitDone).prints("search\t")
}
