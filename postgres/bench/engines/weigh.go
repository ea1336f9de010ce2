package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/sparse"
	"github.com/seed-d8745b77/rag/vectorstore"
)

// memory is that of processes in bytes, what they share counted once.
type memory struct {
	Own   int64 // theirs, and what they share: the system cannot take it back
	Files int64 // pages of files that they have mapped, which it can
}

func (m memory) plus(o memory) memory { return memory{m.Own + o.Own, m.Files + o.Files} }

// empty keeps what the engine takes without chunks.
func (e *engine) empty() (*engine, error) {
	var err error
	if e.emptyDisk, err = diskOf(e.folder); err == nil {
		e.emptyMemory, err = memoryOf(e.pids)
	}
	if err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

// weigh measures memory and disk of an engine that was asked everything. The embedded stores are closed for it: a process
// of its own opens them, where nothing else takes memory.
func (e *engine) weigh(ctx context.Context, o options) (err error) {
	if e.pids == nil {
		if err := e.close(); err != nil {
			return err
		}
		e.close = func() error { return nil }
		if e.memory, err = embeddedMemory(ctx, e.folder, o); err != nil {
			return err
		}
	} else if e.memory, err = memoryOf(e.pids); err != nil {
		return err
	}
	if e.disk, err = diskOf(e.folder); err != nil || e.tables == "" {
		return err
	}
	e.relations, err = relationsOf(ctx, e.tables)
	return err
}

// memoryOf is the memory of processes and their descendants.
func memoryOf(pids []int) (sum memory, err error) {
	for _, pid := range pids {
		one, err := memoryOfOne(pid)
		if err != nil {
			return sum, err
		}
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		if err != nil {
			return sum, err
		}
		var children []int
		for _, field := range strings.Fields(string(raw)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				return sum, err
			}
			children = append(children, child)
		}
		of, err := memoryOf(children)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESRCH) { // a session that ended meanwhile has none
			return sum, err
		}
		sum = sum.plus(one).plus(of)
	}
	return sum, nil
}

func memoryOfOne(pid int) (m memory, err error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return m, err
	}
	for line := range bytes.Lines(raw) {
		fields := strings.Fields(string(line))
		if len(fields) != 3 {
			continue
		}
		kB, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			continue
		}
		switch fields[0] {
		case "Pss_Anon:", "Pss_Shmem:":
			m.Own += kB << 10
		case "Pss_File:":
			m.Files += kB << 10
		}
	}
	return m, nil
}

// diskOf is what the files of a folder take.
func diskOf(dir string) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry os.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // a server removed it meanwhile
			return nil
		}
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		sum += info.Size()
		return nil
	})
	return sum, err
}

// embeddedMemory starts the program again for [tellMemory].
func embeddedMemory(ctx context.Context, dir string, o options) (m memory, err error) {
	exe, err := os.Executable()
	if err != nil {
		return m, err
	}
	cmd := exec.CommandContext(ctx, exe, "-memory", dir, "-vectors", o.vectors, "-shared", o.shared,
		"-chunks", strconv.Itoa(o.chunks), "-questions", strconv.Itoa(o.questions))
	cmd.Stderr = os.Stderr
	told, err := cmd.Output()
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(told, &m)
}

// tellMemory opens the embedded stores, asks all questions and prints by how much the memory has grown.
func tellMemory(ctx context.Context, dir string, d *data) (err error) {
	d.chunks = nil
	self := []int{os.Getpid()}
	before, err := settled(self)
	if err != nil {
		return err
	}
	v, err := vectorstore.OpenHNSW(dir, vectorstore.HNSWConfig{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	x, err := sparse.OpenBM25(dir, sparse.BM25Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	for _, q := range d.questions {
		if _, err := v.Search(ctx, collection, rag.VectorQuery{Vector: q.vector, K: results}); err != nil {
			return err
		}
		if _, err := x.Search(ctx, collection, rag.SparseQuery{Text: q.text, K: results}); err != nil {
			return err
		}
	}
	after, err := settled(self)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(after.plus(memory{-before.Own, -before.Files}))
}

// settled is the memory of processes of this program without what it could give back.
func settled(pids []int) (memory, error) {
	debug.FreeOSMemory()
	return memoryOf(pids)
}

// relation is a table, or an index of one.
type relation struct {
	name  string
	bytes int64
}

// relationsOf are what the providers made in a database, the largest first.
func relationsOf(ctx context.Context, dsn string) (_ []relation, err error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	rows, err := conn.Query(ctx, `
		select relname, pg_relation_size(c.oid) + case when reltoastrelid = 0 then 0 else pg_total_relation_size(reltoastrelid) end as bytes
		from pg_class c join pg_namespace n on n.oid = relnamespace where nspname = 'rag' and relkind in ('r', 'i')
		order by bytes desc, relname limit 12`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (r relation, err error) {
		err = row.Scan(&r.name, &r.bytes)
		return r, err
	})
}
