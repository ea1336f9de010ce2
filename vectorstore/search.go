package vectorstore

import (
	"context"
	"slices"
	"sync"

	"github.com/seed-d8745b77/rag"
)

// workerRows is the number of rows that is worth a goroutine of its own: about 1 ms of work at 384 dimensions.
const workerRows = 8192

// search compares the question with all rows that the filter allows. The caller keeps writers out.
func (s *slab) search(ctx context.Context, q rag.VectorQuery, workers int) ([]rag.Match, error) {
	n := len(s.ids)
	allowed, matching := s.table.match(q.Filter)
	if allowed != nil {
		n = matching
	}
	k := min(q.K, n)
	if k <= 0 {
		return nil, ctx.Err()
	}
	workers = max(1, min(workers, len(s.ids)/workerRows))
	share := (len(s.blocks) + workers - 1) / workers
	tops := make([]topK, workers)
	var wg sync.WaitGroup
	for i := range tops {
		tops[i] = topK{k: k, ids: s.ids}
		first, end := min(i*share, len(s.blocks)), min((i+1)*share, len(s.blocks))
		if i == workers-1 { // this goroutine works as well
			s.scan(ctx, q.Vector, allowed, first, end, &tops[i])
			break
		}
		wg.Go(func() { s.scan(ctx, q.Vector, allowed, first, end, &tops[i]) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return merge(tops, k), nil
}

// scan offers the rows of some blocks; it stops early when the context ends.
func (s *slab) scan(ctx context.Context, query []float32, allowed []bool, first, end int, top *topK) {
	for b := first; b < end && ctx.Err() == nil; b++ {
		block, base := s.blocks[b], b*blockRows
		fields := s.fields[base:min(base+blockRows, len(s.fields))]
		for i, place := range fields {
			if allowed == nil || allowed[place] {
				top.offer(candidate{dot(query, block[i*s.dims:(i+1)*s.dims]), int32(base + i)})
			}
		}
	}
}

// dot is the inner product of two vectors of one length. Eight sums keep the processor's adders busy, and pointers to
// arrays spare the bounds checks.
func dot(a, b []float32) float32 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	b = b[:len(a)]
	for len(a) >= 8 && len(b) >= 8 {
		x, y := (*[8]float32)(a), (*[8]float32)(b)
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		s4 += x[4] * y[4]
		s5 += x[5] * y[5]
		s6 += x[6] * y[6]
		s7 += x[7] * y[7]
		a, b = a[8:], b[8:]
	}
	for i, x := range a {
		s0 += x * b[i]
	}
	return ((s0 + s4) + (s1 + s5)) + ((s2 + s6) + (s3 + s7))
}

// candidate is a row and its score.
type candidate struct {
	score float32
	row   int32
}

// topK keeps the k best candidates in a heap with the worst on top.
type topK struct {
	k    int
	ids  []string
	heap []candidate
}

// before reports whether a ranks before b: by score, then by ID.
func (t *topK) before(a, b candidate) bool {
	if a.score != b.score {
		return a.score > b.score
	}
	return t.ids[a.row] < t.ids[b.row]
}

func (t *topK) offer(c candidate) {
	if len(t.heap) < t.k {
		t.heap = append(t.heap, c)
		t.up(len(t.heap) - 1)
		return
	}
	if t.before(c, t.heap[0]) {
		t.heap[0] = c
		t.down()
	}
}

func (t *topK) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !t.before(t.heap[parent], t.heap[i]) {
			return
		}
		t.heap[parent], t.heap[i] = t.heap[i], t.heap[parent]
		i = parent
	}
}

func (t *topK) down() {
	for i := 0; ; {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(t.heap); child++ {
			if t.before(t.heap[worst], t.heap[child]) {
				worst = child
			}
		}
		if worst == i {
			return
		}
		t.heap[i], t.heap[worst] = t.heap[worst], t.heap[i]
		i = worst
	}
}

// merge joins the best of all workers, best first.
func merge(tops []topK, k int) []rag.Match {
	var all []candidate
	for _, t := range tops {
		all = append(all, t.heap...)
	}
	slices.SortFunc(all, func(a, b candidate) int {
		if tops[0].before(a, b) {
			return -1
		}
		return 1
	})
	matches := make([]rag.Match, 0, k)
	for _, c := range all[:min(k, len(all))] {
		matches = append(matches, rag.Match{ID: tops[0].ids[c.row], Score: float64(c.score)})
	}
	return matches
}
