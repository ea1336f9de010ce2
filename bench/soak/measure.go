package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag/internal/boltkv"
)

// measurement is what the process holds at one moment, by series; see all.
type measurement [len(all)]float64

// series is something that must not grow.
type series struct {
	name  string
	unit  string
	scale float64 // of one unit
	slack float64 // in units: growth within the second half of a run that is noise
	share float64 // the same as a share of its mean; the greater of the two counts
}

const (
	goroutines = iota
	descriptors
	heap
	resident
	database
	traces
	others
)

// all are the series. A trace file is as large as it may be and then begins anew, and so do the files of the cache of
// vectors: both go up and down by a part of their limit. Of a database the pages in use count: bbolt uses the
// others again, and where too few are free, since a backup read on while a reindex wrote, it makes its file twice as large at once.
var all = [...]series{
	goroutines:  {"goroutines", "", 1, 4, 0.05},
	descriptors: {"file descriptors", "", 1, 4, 0.05},
	heap:        {"live heap", "MB", 1e6, 3, 0.1},
	resident:    {"resident memory", "MB", 1e6, 10, 0.1},
	database:    {"rag.db, pages in use", "MB", 1e6, 1, 0.1},
	traces:      {"trace files", "MB", 1e6, traceBytes / 4 / 1e6, 0.1},
	others:      {"other files", "MB", 1e6, cacheBytes / 4 / 1e6, 0.1},
}

// take measures after a collection of garbage that gives back what is free. Without a folder there are no files.
func take(dir string) (m measurement) {
	m[goroutines] = float64(settled())
	debug.FreeOSMemory()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	m[heap] = float64(mem.HeapAlloc)
	m[resident] = residentBytes()
	m[descriptors] = openFiles()
	if dir == "" {
		return m
	}
	m[database] = usedBytes(dir)
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // a file that has just gone
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // likewise
		}
		size := float64(info.Size())
		switch name := d.Name(); {
		case name == "rag.db":
		case strings.HasPrefix(name, "traces"):
			m[traces] += size
		default:
			m[others] += size
		}
		return nil
	})
	return m
}

// usedBytes is the size of the database's pages that hold something; 0 if it cannot be read.
func usedBytes(dir string) (used float64) {
	db, err := boltkv.Open(dir) // the engine's, which has it open
	if err != nil {
		return 0
	}
	defer func() { _ = db.Close() }()
	_ = db.View(func(tx *bolt.Tx) error {
		free := tx.DB().Stats()
		used = float64(tx.Size()) - float64((free.FreePageN+free.PendingPageN)*tx.DB().Info().PageSize)
		return nil
	})
	return used
}

// openFiles counts the descriptors of the process; 0 where the system does not tell.
func openFiles() float64 {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return float64(len(names) - 1) // one reads the folder
}

// residentBytes is the anonymous memory of the process, without the pages of mapped files; 0 where the system does not tell.
func residentBytes() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, "RssAnon: %f kB", &kb); n == 1 {
			return kb * 1024
		}
	}
	return 0
}

// String lists the series.
func (m measurement) String() string {
	var b strings.Builder
	for i, s := range all {
		fmt.Fprintf(&b, "%s %s, ", s.name, s.say(m[i]))
	}
	return strings.TrimSuffix(b.String(), ", ")
}

// say writes a value with its unit.
func (s *series) say(v float64) string {
	if s.unit == "" {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.1f %s", v/s.scale, s.unit)
}

// allowance is by how much the series may grow over values.
func (s *series) allowance(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return max(s.slack*s.scale, s.share*sum/float64(len(values)))
}

// growth is what a line, fitted through the values by least squares, gains from the first to the last of them.
func growth(values []float64) float64 {
	n := float64(len(values))
	if n < 2 {
		return 0
	}
	var sum, tilt, spread float64
	for _, v := range values {
		sum += v
	}
	for i, v := range values {
		x := float64(i) - (n-1)/2
		tilt += x * (v - sum/n)
		spread += x * x
	}
	return tilt / spread * (n - 1)
}
