package httpapi_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/access"
	"github.com/seed-d8745b77/rag/httpapi"
)

var update = flag.Bool("update", false, "write docs/openapi.json anew")

// The description is in the documentation as well, where a change of it is seen.
func TestDescriptionIsThatOfTheDocumentation(t *testing.T) {
	const file = "../docs/openapi.json"
	got := httpapi.Description()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("go test ./httpapi -run Description -update writes it anew (-file +server):\n%s", d)
	}
}

// Every route that is described is there, needs a token where it says so, and is described as a client needs it. That what
// the routes answer is as described is held by all tests of this package, see conforms.
func TestEveryRouteIsThere(t *testing.T) {
	c, _ := serve(t, access.Fixed(engine(t, handbook)), httpapi.Options{Tokens: tokens(t), Write: true})
	d, n := describe(t), 0
	ids := map[string]bool{}
	for path, methods := range d.Paths {
		for method, op := range methods {
			n++
			if ids[op.OperationID] {
				t.Errorf("%s comes twice", op.OperationID)
			}
			ids[op.OperationID] = true
			a := c.do(strings.ToUpper(method), strings.NewReplacer("{id}", "x").Replace(path), "")
			if open := !strings.HasPrefix(path, "/v1") && path != "/metrics"; open && a.status != 200 || !open && a.status != 401 {
				t.Errorf("%s %s: %d", method, path, a.status)
			}
			if _, ok := op.Responses["default"]; !ok {
				t.Errorf("%s %s does not say how it fails", method, path)
			}
		}
	}
	if n < 19 {
		t.Errorf("only %d routes are described", n)
	}
}
