package dashboard

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
	"github.com/seed-d8745b77/rag/internal/datafile"
)

// setsFolder is where test sets lie in the folder of runs.
const setsFolder = "sets"

// maxSetBytes bounds a test set: the largest public ones have a hundred thousand questions of 200 bytes.
const maxSetBytes = 32 << 20

// evalFolder is the folder of runs, as `rag eval` writes them, with a folder of test sets below. A file is named by its own
// name only, and opened below its folder whatever the name says. It is safe for concurrent use.
type evalFolder struct {
	runsDir, setsDir string

	appending sync.Mutex // one question is added at a time

	mu   sync.Mutex         // guards what follows
	sets map[string]keptSet // by name
}

// keptSet is what is known of a file, as long as its size and time stay as they are.
type keptSet struct {
	size     int64
	modified time.Time
	info     setInfo
}

func newEvalFolder(dir string) *evalFolder {
	return &evalFolder{runsDir: dir, setsDir: filepath.Join(dir, setsFolder), sets: map[string]keptSet{}}
}

// setEndings are those of test sets; questions are added to the first only.
var setEndings = []string{".jsonl", ".json"}

// setInfo describes a test set.
type setInfo struct {
	Name       string    `json:"name"` // of the file
	Questions  int       `json:"questions"`
	Answerable int       `json:"answerable"` // questions of which the set says so
	Problems   int       `json:"problems"`   // that keep a question from being used
	Modified   time.Time `json:"modified"`
}

// listSets returns the test sets by name. A file that holds no question is none.
func (f *evalFolder) listSets() ([]setInfo, error) {
	root, err := os.OpenRoot(f.setsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []setInfo
	there := map[string]bool{}
	for _, e := range entries {
		if !e.Type().IsRegular() || checkFileName(e.Name(), setEndings...) != nil {
			continue
		}
		there[e.Name()] = true
		if set, ok := f.known(root, e); ok && set.Questions > 0 {
			found = append(found, set)
		}
	}
	maps.DeleteFunc(f.sets, func(name string, _ keptSet) bool { return !there[name] })
	return found, nil
}

// known describes a test set, which is read if it has changed; ok is false for a file that is gone or too large. The caller
// holds the lock.
func (f *evalFolder) known(root *os.Root, e fs.DirEntry) (set setInfo, ok bool) {
	info, err := e.Info()
	if err != nil || info.Size() > maxSetBytes {
		return setInfo{}, false
	}
	if k := f.sets[e.Name()]; k.size == info.Size() && k.modified.Equal(info.ModTime()) {
		return k.info, true
	}
	data, err := root.ReadFile(e.Name())
	if err != nil {
		return setInfo{}, false
	}
	set = describeSet(data)
	set.Name, set.Modified = e.Name(), info.ModTime().UTC()
	f.sets[e.Name()] = keptSet{info.Size(), info.ModTime(), set}
	return set, true
}

func describeSet(data []byte) setInfo {
	set, problems := eval.Parse(data)
	s := setInfo{Questions: len(set.Questions)}
	for _, q := range set.Questions {
		if q.Answerable != nil && *q.Answerable {
			s.Answerable++
		}
	}
	for _, p := range problems {
		if p.Fatal {
			s.Problems++
		}
	}
	return s
}

// listRuns returns the runs, newest first, by the names of their files: so they are asked for. Where the files are is
// nobody's business on a page.
func (f *evalFolder) listRuns() ([]eval.RunInfo, error) {
	runs, err := eval.Runs(f.runsDir)
	for i := range runs {
		r := &runs[i]
		r.Label, r.Error = strings.TrimSuffix(filepath.Base(r.Path), ".json"), strings.ReplaceAll(r.Error, r.Path, filepath.Base(r.Path))
		r.Path = ""
	}
	return runs, err
}

// run returns the run of a label.
func (f *evalFolder) run(label string) (*eval.Run, error) {
	run, err := eval.OpenRun(f.runsDir, label)
	switch {
	case errors.Is(err, rag.ErrNotFound): // eval names the folder, which is nobody's business here
		return nil, fmt.Errorf("no run has the label %q: %w", label, rag.ErrNotFound)
	case err != nil:
		return nil, err
	}
	run.Label = label
	return run, nil
}

// set returns the test set of a file. One with a question that cannot be used is ErrInvalid.
func (f *evalFolder) set(name string) (*eval.TestSet, error) {
	data, err := f.read(name, setEndings...)
	if err != nil {
		return nil, fmt.Errorf("test set %q: %w", name, err)
	}
	set, problems := eval.Parse(data)
	if err := firstFatal(problems); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	set.Source.Path, set.Problems = filepath.Join(f.setsDir, name), problems
	return set, nil
}

// read returns the content of a test set.
func (f *evalFolder) read(name string, endings ...string) ([]byte, error) {
	if err := checkFileName(name, endings...); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(f.setsDir)
	if err != nil {
		return nil, notFound(err)
	}
	defer root.Close()
	info, err := root.Lstat(name)
	if err != nil {
		return nil, notFound(err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxSetBytes {
		return nil, fmt.Errorf("it is no file, or larger than %d MiB: %w", maxSetBytes>>20, rag.ErrInvalid)
	}
	return root.ReadFile(name)
}

// notFound tells a file that is not there by the kind of error that pages know, without the path on this machine.
func notFound(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is none of this name: %w", rag.ErrNotFound)
	}
	return err
}

// longestName keeps a name within what file systems take.
const longestName = 100

// checkFileName reports a name that is not that of a file in a folder, whatever the system: no separators, no device, no
// control characters, not hidden, and one of the endings.
func checkFileName(name string, endings ...string) error {
	outside := func(r rune) bool { return r < ' ' || r == 0x7f || strings.ContainsRune(`/\:*?"<>|`, r) }
	switch {
	case name == "", len(name) > longestName, strings.HasPrefix(name, "."), strings.ContainsFunc(name, outside), !filepath.IsLocal(name):
		return fmt.Errorf("%q cannot name a file here: letters, digits, and - _ . inside, are wanted: %w", name, rag.ErrInvalid)
	case !slices.Contains(endings, filepath.Ext(name)):
		return fmt.Errorf("%q must end in %s: %w", name, strings.Join(endings, " or "), rag.ErrInvalid)
	}
	return nil
}

// addSet keeps an uploaded test set under a name that is not taken yet. One with a question that cannot be used is
// ErrInvalid.
func (f *evalFolder) addSet(name string, data io.Reader) (setInfo, error) {
	if err := checkFileName(name, setEndings...); err != nil {
		return setInfo{}, err
	}
	text, err := io.ReadAll(io.LimitReader(data, maxSetBytes+1))
	if err != nil {
		return setInfo{}, err
	}
	if len(text) > maxSetBytes {
		return setInfo{}, fmt.Errorf("the test set is larger than %d MiB: %w", maxSetBytes>>20, rag.ErrInvalid)
	}
	set, problems := eval.Parse(text)
	if err := firstFatal(problems); err != nil {
		return setInfo{}, err
	}
	f.appending.Lock()
	defer f.appending.Unlock()
	if _, err := f.read(name, setEndings...); !errors.Is(err, rag.ErrNotFound) {
		return setInfo{}, fmt.Errorf("there is a test set %q already: give the file another name: %w", name, rag.ErrInvalid)
	}
	return setInfo{Name: name, Questions: len(set.Questions)}, f.write(name, text)
}

// firstFatal is the error of a test set that cannot be used, nil if it can.
func firstFatal(problems []eval.Problem) error {
	fatal, first := 0, ""
	for _, p := range problems {
		if p.Fatal {
			fatal++
			first = cmp.Or(first, p.String())
		}
	}
	if fatal == 0 {
		return nil
	}
	return fmt.Errorf("the test set has %d problems, the first: %s: %w", fatal, first, rag.ErrInvalid)
}

// newQuestion is a question that somebody adds to a test set. Its JSON form is a line of the set.
type newQuestion struct {
	ID         string   `json:"id"`
	Question   string   `json:"question"`
	Answerable bool     `json:"answerable"`
	Sources    []string `json:"expected_sources,omitempty"`   // URIs: they outlive another splitting
	Chunks     []string `json:"expected_chunk_ids,omitempty"` // passages
}

// addQuestion puts a question behind the last one of a set of JSON lines, which is made if there is none.
func (f *evalFolder) addQuestion(name string, q newQuestion) error {
	if err := checkFileName(name, ".jsonl"); err != nil {
		return err
	}
	if strings.TrimSpace(q.Question) == "" {
		return fmt.Errorf("the question is empty: %w", rag.ErrInvalid)
	}
	q.ID = "added-" + strings.ToLower(rand.Text()[:8])
	line, err := json.Marshal(q)
	if err != nil {
		return err
	}
	f.appending.Lock()
	defer f.appending.Unlock()
	old, err := f.read(name, ".jsonl")
	if err != nil && !errors.Is(err, rag.ErrNotFound) {
		return err
	}
	if len(old) > 0 && !bytes.HasSuffix(old, []byte("\n")) {
		old = append(old, '\n')
	}
	text := append(append(old, line...), '\n')
	if _, problems := eval.Parse(text); firstFatal(problems) != nil {
		return firstFatal(problems)
	}
	return f.write(name, text)
}

// write replaces a file of the folder in one step; the folder is made if there is none.
func (f *evalFolder) write(name string, text []byte) error {
	if err := datafile.MakeFolder(f.setsDir); err != nil {
		return err
	}
	root, err := os.OpenRoot(f.setsDir)
	if err != nil {
		return err
	}
	defer root.Close()
	beside := ".adding-" + rand.Text()
	if err := root.WriteFile(beside, text, datafile.FileMode); err != nil {
		return errors.Join(err, root.Remove(beside))
	}
	if err := root.Rename(beside, name); err != nil {
		return errors.Join(err, root.Remove(beside))
	}
	return nil
}
