package domain_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/domain"
	"github.com/seed-d8745b77/rag/internal/testdata"
)

// TestBadManifests: each of the ten has exactly the mistake that it is said to have.
func TestBadManifests(t *testing.T) {
	dir := testdata.Shared(t, "data", "qa", "admissions", "bad_manifests")
	data, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	type mistake struct {
		Kind  domain.Kind
		Line  int
		Field string
		Value any
	}
	expected := map[string]mistake{}
	if err := json.Unmarshal(data, &expected); err != nil {
		t.Fatal(err)
	}
	if len(expected) != 10 {
		t.Fatalf("%d manifests", len(expected))
	}
	d := load(t, "admissions")
	for name, want := range expected {
		t.Run(name, func(t *testing.T) {
			sets, err := d.Manifest(filepath.Join(dir, name), filepath.Join(dir, "files"))
			var bad *domain.FileError
			if !errors.As(err, &bad) || sets != nil {
				t.Fatalf("%v, %d sets", err, len(sets))
			}
			var got []mistake
			for _, p := range bad.List {
				got = append(got, mistake{p.Kind, p.Line, p.Field, p.Value})
			}
			if diff := cmp.Diff([]mistake{want}, got); diff != "" {
				t.Errorf("%s\n%v", diff, err)
			}
		})
	}
}
