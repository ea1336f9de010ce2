package cli

import (
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
)

func TestKeptRepliesAreToldPlainly(t *testing.T) {
	var out strings.Builder
	printStep(&out, paint{}, rag.StepCount{Step: "context", Calls: 1, Cached: 2})
	if got, want := out.String(), "context: 1 calls of the chat model, 2 replies kept from earlier ingests\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
