package cli

import "testing"

// A catalog that is one process's own has no queue, and the error says what has one.
func TestWorkersNeedACatalogThatIsShared(t *testing.T) {
	s := newShell(t)
	s.handbook()
	for _, args := range [][]string{{"ingest", "docs", "--queue"}, {"worker"}, {"worker", "--drain"}, {"queue"}} {
		s.rag(args...).want(exitFailed).says("catalog: {provider: postgres}")
	}
	s.rag("ingest", "docs", "--queue", "--prune").want(exitUsage).says("--queue")
	s.rag("worker", "docs").want(exitUsage)
	s.rag("worker", "--lease", "5ms").want(exitUsage).says("a second")
}
