package dashboard

import (
	"slices"
	"sync"

	"github.com/seed-d8745b77/rag"
)

// keepTried is how many questions that were tried on the page are remembered with their whole outcome.
const keepTried = 50

// tried is a question that was tried here. A trace that is kept may leave texts out, as its level says; this has them, and
// is forgotten with the process.
type tried struct {
	trace  *rag.Trace
	form   tryForm
	answer *rag.Answer // nil: none was wanted
}

// trials remember the last questions that were tried. They are safe for concurrent use.
type trials struct {
	mu   sync.Mutex
	list []*tried // oldest first
}

func (t *trials) add(one *tried) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.list) == keepTried {
		t.list = slices.Delete(t.list, 0, 1)
	}
	t.list = append(t.list, one)
}

// get returns the one whose trace has this ID; nil: there is none.
func (t *trials) get(id string) *tried {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, one := range t.list {
		if one.trace.ID == id {
			return one
		}
	}
	return nil
}
