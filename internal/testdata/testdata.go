// Package testdata finds the shared data that some tests need and the project does not carry.
package testdata

import (
	"os"
	"path/filepath"
	"testing"
)

// Shared returns the path of a file or folder of the shared data: under $RAG_SHARED, or under the folder "shared"
// beside the checkout. Where it is absent the test is skipped and says so, or fails if RAG_REQUIRE_SHARED is set.
func Shared(t testing.TB, elem ...string) string {
	t.Helper()
	root := os.Getenv("RAG_SHARED")
	if root == "" {
		root = filepath.Join(ModuleRoot(t), "..", "shared")
	}
	p := filepath.Join(append([]string{root}, elem...)...)
	if _, err := os.Stat(p); err != nil {
		if os.Getenv("RAG_REQUIRE_SHARED") != "" {
			t.Fatalf("shared data is required and %s is missing", filepath.Join(elem...))
		}
		t.Skipf("skipped: needs the shared data %s; set RAG_SHARED to its folder", filepath.Join(elem...))
	}
	return p
}

// ModuleRoot is the nearest folder upwards that holds go.mod.
func ModuleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
}
