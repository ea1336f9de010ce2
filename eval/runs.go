package eval

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
)

// DefaultLabel is the label of a run that is given none, and DefaultBaseline that of the run with which others are compared
// if none is named.
const (
	DefaultLabel    = "latest"
	DefaultBaseline = "baseline"
)

// runSuffix is the end of a run's file.
const runSuffix = ".json"

// RunInfo is a run as a list shows it.
type RunInfo struct {
	Label        string     `json:"label"`
	Path         string     `json:"path"`
	Error        string     `json:"error,omitempty"` // why the file cannot be read; everything below is then zero
	Created      time.Time  `json:"created"`
	RegradedFrom string     `json:"regraded_from,omitempty"`
	TestSet      Source     `json:"test_set"`
	Set          string     `json:"set,omitempty"`
	Collection   Collection `json:"collection"`
	ConfigHash   string     `json:"config_hash"` // see [Run.ConfigHash]
	Questions    int        `json:"questions"`
	Complete     bool       `json:"complete"` // see [Run.Complete]
	Headline     []Headline `json:"headline"` // see [Run.Headline]
	SearchMS     Latency    `json:"search_ms"`
}

// Headline is one of the metrics by which runs are told apart at a glance.
type Headline struct {
	Metric string `json:"metric"` // with its level
	Score
}

// Info returns what a list shows of the run; path is its file.
func (r *Run) Info(path string) RunInfo {
	return RunInfo{
		Label: r.Label, Path: path, Created: r.Created, RegradedFrom: r.RegradedFrom, TestSet: r.TestSet, Set: r.Set, Collection: r.Collection,
		ConfigHash: r.ConfigHash(), Questions: r.Asked, Complete: r.Complete(), Headline: r.Headline(), SearchMS: r.SearchMS,
	}
}

// Runs lists the runs of a folder, the newest first. A file that is no run, or that a newer program wrote, is listed with
// its reason; a folder that is not there has none.
func Runs(dir string) ([]RunInfo, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	list := []RunInfo{}
	for _, e := range entries {
		label, isRun := strings.CutSuffix(e.Name(), runSuffix)
		if e.IsDir() || !isRun || !validLabel(label) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		run, err := loadHead(path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // deleted since the folder was read
		case err != nil:
			list = append(list, RunInfo{Label: label, Path: path, Error: err.Error(), Headline: []Headline{}})
		default:
			list = append(list, run.Info(path))
		}
	}
	slices.SortFunc(list, func(a, b RunInfo) int { return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.Label, b.Label)) })
	return list, nil
}

// OpenRun reads the run of a label from a folder. ErrInvalid: what cannot be a label, which keeps the path inside the
// folder; ErrNotFound: there is no such run.
func OpenRun(dir, label string) (*Run, error) {
	if !validLabel(label) {
		return nil, labelError(label)
	}
	run, err := LoadRun(filepath.Join(dir, label+runSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no run has the label %q in %s: %w", label, dir, rag.ErrNotFound)
	}
	return run, err
}

// hashLength of a configuration's hash is enough to tell thousands of configurations apart.
const hashLength = 12

// ConfigHash names the configuration of the run and the mode of its searches: runs with the same hash searched in the same
// way. Secrets, which a run does not keep, play no part.
func (r *Run) ConfigHash() string {
	data, err := json.Marshal(struct {
		Config map[string]any
		Mode   rag.Mode
	}{r.Config, r.Mode})
	if err != nil {
		return "" // only a program can put what is no JSON into Config
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:hashLength]
}

// judgedHeadlines are the metrics of answers that stand in a headline, each with what takes its place where it was not
// measured.
var judgedHeadlines = [][]string{
	{Faithfulness, FaithfulnessVerified, FaithfulnessOverlap},
	{Correctness, CorrectnessOverlap},
}

// Headline returns the metrics by which runs are told apart at a glance: hit rate and nDCG at the largest K, and MRR, each
// at the finest level that the run has, then how faithful and how right its answers are. Those that were not measured are
// left out.
func (r *Run) Headline() []Headline {
	list := []Headline{}
	add := func(names ...string) {
		for _, name := range names {
			if full, ok := r.fullName(name); ok && r.Metrics[full].Mean != nil {
				list = append(list, Headline{full, r.Metrics[full]})
				return
			}
		}
	}
	if len(r.K) > 0 {
		largest := slices.Max(r.K)
		add(Metric{Hit, largest}.String())
		add(MRR)
		add(Metric{NDCG, largest}.String())
	}
	for _, names := range judgedHeadlines {
		add(names...)
	}
	return list
}

// Complete reports whether everything was measured: no search failed, the collection has what the test set expects, and no
// evaluator left an answer without a value.
func (r *Run) Complete() bool { return r.Failed == 0 && len(r.Problems) == 0 && r.Unjudged == 0 }
