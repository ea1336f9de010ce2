package rag

import (
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

// preparedOne is a source of one document with so many chunks.
func preparedOne(n, chunks int) *prepared {
	d := preparedDoc{}
	d.Entry.URI, d.Chunks = strconv.Itoa(n), make([]Chunk, chunks)
	return &prepared{docs: []preparedDoc{d}}
}

func TestGather(t *testing.T) {
	for name, test := range map[string]struct {
		made []int           // chunks of each source
		wait []time.Duration // before each; nil: none
		busy time.Duration   // how long each group is being written
		want []int           // sources of each group
	}{
		"nothing":                           {},
		"few come at once":                  {made: []int{1, 2, 3}, want: []int{3}},
		"one is larger than a group":        {made: []int{1000, 1, 1}, want: []int{1, 2}},
		"full by chunks":                    {made: []int{200, 56, 1}, want: []int{2, 1}},
		"full by sources":                   {made: make([]int, 600), want: []int{256, 256, 88}},
		"a pause ends a group":              {made: []int{1, 1, 1}, wait: []time.Duration{0, 0, time.Second}, want: []int{2, 1}},
		"what comes during a write is one":  {made: []int{1, 1, 1, 1}, wait: []time.Duration{0, time.Second, time.Second, time.Second}, busy: time.Minute, want: []int{1, 3}},
		"a full one waits for the write":    {made: []int{256, 256, 1, 1}, busy: time.Minute, want: []int{1, 1, 2}},
		"slow sources are not kept waiting": {made: []int{1, 1}, wait: []time.Duration{time.Hour, time.Hour}, want: []int{1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				made, groups := make(chan *prepared), make(chan []*prepared)
				go func() {
					defer close(made)
					for i, chunks := range test.made {
						if test.wait != nil {
							<-time.After(test.wait[i])
						}
						made <- preparedOne(i, chunks)
					}
				}()
				go gather(made, groups)
				var sizes []int
				next := 0
				for group := range groups {
					sizes = append(sizes, len(group))
					for _, p := range group {
						if got := p.docs[0].Entry.URI; got != strconv.Itoa(next) {
							t.Errorf("source %s came at place %d", got, next)
						}
						next++
					}
					<-time.After(test.busy)
				}
				if !slices.Equal(sizes, test.want) {
					t.Errorf("groups of %v sources, want %v", sizes, test.want)
				}
			})
		})
	}
}
