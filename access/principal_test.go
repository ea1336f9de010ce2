package access_test

import (
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/access"
)

// People of two tenants may have the same name, and are told apart: jobs and sessions go by the ID.
func TestIDTellsNamesakesApart(t *testing.T) {
	red, blue := access.Principal{Name: "ann", Filter: rag.Eq("tenant", "red")}, access.Principal{Name: "ann", Filter: rag.Eq("tenant", "blue")}
	if owner := (access.Principal{Name: "ann"}); red.ID() == blue.ID() || red.ID() == owner.ID() || red.ID() != (access.Principal{Name: "ann", Filter: rag.Eq("tenant", "red")}).ID() {
		t.Errorf("%q, %q, %q", red.ID(), blue.ID(), owner.ID())
	}
}
