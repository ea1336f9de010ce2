package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

func TestVersions(t *testing.T) {
	for version, ok := range map[string]bool{"v1.2.3": true, "v0.1.0-rc.1": true, "1.2.3": false, "v1.2": false, "": false, "v01.0.0": false} {
		if err := run(t.Context(), []string{"-version", version, "-changelog", "-root", t.TempDir()}); (err == nil || !strings.Contains(err.Error(), "semantic")) != ok {
			t.Errorf("%q: %v", version, err)
		}
	}
}

// unpacked returns the files of a tar archive by name.
func unpacked(t *testing.T, r io.Reader) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
	}
}

func open(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// whole makes TestRelease run, which compiles everything anew: make release-check.
var whole = flag.Bool("release", false, "make a release, twice")

// Two releases of one commit are the same bytes, and what is in them works.
func TestRelease(t *testing.T) {
	if !*whole || runtime.GOOS != "linux" {
		t.Skip("skipped: takes a minute, and runs what it made for linux; make release-check runs it")
	}
	one, two := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "two")
	for _, out := range []string{one, two} {
		if err := run(t.Context(), []string{"-version", "v0.1.0", "-root", filepath.Join("..", ".."), "-out", out, "-platforms", "linux/" + runtime.GOARCH}); err != nil {
			t.Fatal(err)
		}
	}
	sums, err := os.ReadFile(filepath.Join(one, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(filepath.Join(two, "SHA256SUMS")); err != nil || string(again) != string(sums) {
		t.Errorf("two runs make different bytes: %v\n%s\n%s", err, sums, again)
	}
	name := "rag_0.1.0_linux_" + runtime.GOARCH
	gz, err := gzip.NewReader(open(t, filepath.Join(one, name+".tar.gz")))
	if err != nil {
		t.Fatal(err)
	}
	files := unpacked(t, gz)
	for _, want := range []string{"rag", "LICENSE", "THIRD_PARTY.md", "man/rag-search.1", "completions/rag.bash"} {
		if len(files[name+"/"+want]) == 0 {
			t.Errorf("the archive lacks %s", want)
		}
	}
	binary := filepath.Join(t.TempDir(), "rag")
	if err := os.WriteFile(binary, files[name+"/rag"], 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := exec.CommandContext(t.Context(), binary, "version").Output()
	if err != nil || !strings.Contains(string(text), "v0.1.0\n") {
		t.Errorf("version: %s, %v", text, err)
	}

	t.Run("materials", func(t *testing.T) {
		var bom struct {
			BOMFormat  string
			Components []struct{ Name, Version string }
		}
		if err := json.NewDecoder(open(t, filepath.Join(one, name+".sbom.json"))).Decode(&bom); err != nil {
			t.Fatal(err)
		}
		if bom.BOMFormat != "CycloneDX" || !slices.ContainsFunc(bom.Components, func(c struct{ Name, Version string }) bool {
			return c.Name == "github.com/spf13/cobra" && c.Version != ""
		}) {
			t.Errorf("%+v", bom)
		}
	})
	t.Run("image", func(t *testing.T) {
		folder := t.TempDir()
		for name, content := range unpacked(t, open(t, filepath.Join(one, "rag_0.1.0_image.tar"))) {
			path := filepath.Join(folder, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		index, err := layout.ImageIndexFromPath(folder)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate.Index(index); err != nil {
			t.Error(err)
		}
	})
}
