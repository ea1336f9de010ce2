package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/seed-d8745b77/rag"
)

// journal keeps records in memory, and every change as a line of JSON in a file: a call that returns has its line on the
// disk, and opening reads all lines again. Both stores are made of one. The file only grows, and one process may have it
// open: the catalog in the same data folder sees to that.
type journal struct {
	mu   sync.RWMutex
	file *os.File
	size int64                        // bytes of whole lines
	sets map[string]map[string]record // by collection and ID
}

// record is what the stores keep of a passage: one of them its vector, the other its words.
type record struct {
	Vector   []float32      `json:",omitempty"`
	Words    map[string]int `json:",omitempty"` // how often each stands in the text
	Length   int            `json:",omitempty"` // of the text, in words
	Meta     rag.Meta
	Validity rag.Validity
}

// change is a line of the file; one of the last three fields is set.
type change struct {
	Collection string
	Put        map[string]record `json:",omitempty"`
	Delete     []string          `json:",omitempty"`
	Drop       bool              `json:",omitempty"`
}

func openJournal(path string) (*journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{file: file, sets: map[string]map[string]record{}}
	if err := j.read(); err != nil {
		return nil, errors.Join(fmt.Errorf("read %s: %w", path, err), file.Close())
	}
	return j, nil
}

// read applies all lines. What stands behind the last line end is of a process that died while it wrote: nobody was told
// that it is stored, so it is cut off.
func (j *journal) read() error {
	r := bufio.NewReader(j.file)
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return j.file.Truncate(j.size)
		}
		if err := cmp.Or(err, j.apply(line)); err != nil {
			return err
		}
	}
}

// apply makes the change of a line. What is in memory always comes out of a line, so it shares nothing with a caller, and
// opening again cannot differ.
func (j *journal) apply(line []byte) error {
	var c change
	if err := json.Unmarshal(line, &c); err != nil {
		return fmt.Errorf("%v: %w", err, rag.ErrInvalid)
	}
	set := j.sets[c.Collection]
	if set == nil {
		set = map[string]record{}
		j.sets[c.Collection] = set
	}
	for id, r := range c.Put {
		meta, err := r.Meta.Clean() // lists of text come out of JSON as []any
		if err != nil {
			return err
		}
		r.Meta = meta
		set[id] = r
	}
	for _, id := range c.Delete {
		delete(set, id)
	}
	if c.Drop {
		delete(j.sets, c.Collection)
	}
	j.size += int64(len(line))
	return nil
}

// commit writes a change and makes it, unless check finds something wrong with the collection as it is.
func (j *journal) commit(ctx context.Context, c change, check func(set map[string]record) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	line, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("%v: %w", err, rag.ErrInvalid)
	}
	line = append(line, '\n')
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := check(j.sets[c.Collection]); err != nil {
		return err
	}
	if _, err = j.file.WriteAt(line, j.size); err == nil {
		err = j.file.Sync()
	}
	if err != nil { // the disk is full: half a line must not stand before the next one
		return errors.Join(err, j.file.Truncate(j.size))
	}
	return j.apply(line)
}

// anything is the check of changes that fit every collection.
func anything(map[string]record) error { return nil }

// Delete removes records.
func (j *journal) Delete(ctx context.Context, collection string, ids []string) error {
	return j.commit(ctx, change{Collection: collection, Delete: ids}, anything)
}

// Drop removes a collection.
func (j *journal) Drop(ctx context.Context, collection string) error {
	return j.commit(ctx, change{Collection: collection, Drop: true}, anything)
}

// IDs yields the IDs of a collection. With it `rag verify` can compare the store with the catalog.
func (j *journal) IDs(ctx context.Context, collection string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		j.mu.RLock()
		ids := slices.Sorted(maps.Keys(j.sets[collection]))
		j.mu.RUnlock() // the consumer may write
		for _, id := range ids {
			if err := ctx.Err(); err != nil {
				yield("", err)
				return
			}
			if !yield(id, nil) {
				return
			}
		}
	}
}

// Close closes the file; everything is in it already.
func (j *journal) Close() error { return j.file.Close() }

// best sorts matches, ties by ID, and returns the first k.
func best(matches []rag.Match, k int) []rag.Match {
	slices.SortFunc(matches, func(a, b rag.Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return matches[:min(k, len(matches))]
}
