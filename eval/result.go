package eval

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/config"
	"github.com/seed-d8745b77/rag/internal/datafile"
	"github.com/seed-d8745b77/rag/internal/strict"
)

// runFormat is the version of a run's JSON form; see docs/formats.md.
const runFormat = 1

// Run is a test set asked of one collection under one configuration, with everything that is needed to ask it again or to
// grade it again. Its JSON form is a file, see docs/formats.md.
type Run struct {
	Format       int               `json:"format"`
	Label        string            `json:"label"`
	RegradedFrom string            `json:"regraded_from,omitempty"` // label of the run whose outcomes these are
	Created      time.Time         `json:"created"`
	Program      string            `json:"program,omitempty"` // version of the program that made it
	TestSet      Source            `json:"test_set"`
	Set          string            `json:"set,omitempty"`       // the part of the test set; "": all
	Fields       map[string]string `json:"fields,omitempty"`    // names that the collection has for fields of the questions' filters
	Answers      string            `json:"answers,omitempty"`   // how questions were answered, as the program calls it; "": they were not, or it did not say
	Evaluator    string            `json:"evaluator,omitempty"` // what judged the answers, with its model; "": nothing did, or it does not say
	Collection   Collection        `json:"collection"`
	Config       map[string]any    `json:"config"` // in force, by key as in rag.yaml; secrets are "***"
	Mode         rag.Mode          `json:"mode,omitempty"`
	K            []int             `json:"k"`
	Depth        int               `json:"depth"`  // hits asked for
	Intent       string            `json:"intent"` // the routing label that was compared

	Metrics   map[string]Score     `json:"metrics"`           // "document/hit@1"; of answers: "faithfulness"
	Kinds     map[string]Kind      `json:"kinds,omitempty"`   // by Question.Kind, where questions have one
	Refusal   *Refusal             `json:"refusal,omitempty"` // nil: no answers
	Router    *Router              `json:"router,omitempty"`  // nil: no answer has an intent, or no question a label
	SearchMS  Latency              `json:"search_ms"`
	AnswerMS  *AnswerTime          `json:"answer_ms,omitempty"` // nil: no answers
	Usage     rag.ChatUsage        `json:"usage"`
	Agreement map[string]Agreement `json:"agreement,omitempty"` // of judged metrics with people, where the test set has their values
	Outdated  int                  `json:"outdated_first"`      // questions whose first hit is an excluded document
	Failed    int                  `json:"failed"`              // questions whose search failed
	Unjudged  int                  `json:"unjudged"`            // answers that a failed evaluator, or a judge without a verdict, left without a value
	Problems  []Problem            `json:"problems"`            // with the test set
	Asked     int                  `json:"asked"`               // number of Questions

	Questions []Outcome `json:"questions"` // last: a list of runs does not read them
}

// Collection says what was asked.
type Collection struct {
	Name      string    `json:"name"`
	Documents int       `json:"documents"`
	Chunks    int       `json:"chunks"`
	Embedder  string    `json:"embedder"`
	Sparse    string    `json:"sparse_index"`
	Updated   time.Time `json:"updated"`
}

// Outcome is what came of one question.
type Outcome struct {
	ID          string     `json:"id"`
	Question    string     `json:"question"`
	Error       string     `json:"error,omitempty"` // of the search
	Mode        rag.Mode   `json:"mode,omitempty"`  // lanes that were really used
	SearchMS    float64    `json:"search_ms"`
	TraceID     string     `json:"trace_id,omitempty"` // of the search
	Hits        []Found    `json:"hits"`
	Notes       []rag.Note `json:"notes,omitempty"`
	Answer      *Answered  `json:"answer,omitempty"`
	AnswerError string     `json:"answer_error,omitempty"`

	Metrics map[string]rag.EvalValue `json:"metrics"`
}

// Answered is an answer as a run keeps it.
type Answered struct {
	Text        string        `json:"text"`
	Mode        string        `json:"mode"`
	Intent      string        `json:"intent,omitempty"`
	Refused     bool          `json:"refused"`
	Reason      string        `json:"reason,omitempty"`
	Reliability string        `json:"reliability,omitempty"`
	Contexts    []string      `json:"contexts"` // the passages that it was made from
	MS          float64       `json:"ms"`
	Usage       rag.ChatUsage `json:"usage"`
	Notes       []rag.Note    `json:"notes,omitempty"`
}

// hide takes secrets out of what services said when they failed.
func (out *Outcome) hide(secrets func(string) string) {
	out.Error, out.AnswerError = secrets(out.Error), secrets(out.AnswerError)
	for i := range out.Notes {
		out.Notes[i].Reason = secrets(out.Notes[i].Reason)
	}
	if out.Answer != nil {
		out.Answer.Reason = secrets(out.Answer.Reason)
		for i := range out.Answer.Notes {
			out.Answer.Notes[i].Reason = secrets(out.Answer.Notes[i].Reason)
		}
	}
	for name, v := range out.Metrics {
		v.Null = secrets(v.Null)
		out.Metrics[name] = v
	}
}

// Metric returns a score by its name. A name without a level, "mrr", means the finest level that the run has it at.
func (r *Run) Metric(name string) (Score, bool) {
	full, ok := r.fullName(name)
	return r.Metrics[full], ok
}

// fullName adds the level to a metric's name.
func (r *Run) fullName(name string) (full string, ok bool) {
	if _, ok := r.Metrics[name]; ok {
		return name, true
	}
	for _, l := range Levels {
		full := string(l) + "/" + name
		if _, ok := r.Metrics[full]; ok {
			return full, true
		}
	}
	return name, false
}

// Save writes the run into a folder, which is made if there is none, as its label with .json. An earlier run of this label
// is replaced, in one step.
func (r *Run) Save(dir string) (path string, err error) {
	if !validLabel(r.Label) {
		return "", labelError(r.Label)
	}
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, datafile.DirMode); err != nil {
		return "", err
	}
	path = filepath.Join(dir, r.Label+runSuffix)
	return path, writeWhole(path, append(data, '\n'))
}

// writeWhole writes a file beside its place and moves it there: its owner's alone, since runs and verdicts quote documents.
func writeWhole(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".eval-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// longestLabel keeps the name of a file within what file systems take.
const longestLabel = 100

func validLabel(label string) bool {
	outside := func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", r)
	}
	return label != "" && len(label) <= longestLabel && label[0] != '.' && strings.IndexFunc(label, outside) < 0
}

func labelError(label string) error {
	return fmt.Errorf("label %q: letters, digits, and - _ . inside, are allowed, since it names a file: %w", label, rag.ErrInvalid)
}

// LoadRun reads a run that [Run.Save] wrote. What is none, or was written by a newer program, is ErrInvalid.
func LoadRun(path string) (*Run, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return readRun(path, data)
}

func readRun(path string, data []byte) (*Run, error) {
	var r Run
	if err := strict.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%s: no run of `rag eval`: %v: %w", path, err, rag.ErrInvalid)
	}
	if r.Format != runFormat {
		return nil, fmt.Errorf("%s: its format is %d, and this program reads %d: %w", path, r.Format, runFormat, rag.ErrInvalid)
	}
	return &r, nil
}

// loadHead reads a run without its questions, which are most of its file.
func loadHead(path string) (*Run, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head, err := beforeQuestions(json.NewDecoder(bufio.NewReader(f)))
	if err != nil {
		return nil, fmt.Errorf("%s: no run of `rag eval`: %v: %w", path, err, rag.ErrInvalid)
	}
	return readRun(path, head)
}

// beforeQuestions returns the object that a run is, up to its questions.
func beforeQuestions(dec *json.Decoder) ([]byte, error) {
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, cmp.Or(err, errors.New("it is no object"))
	}
	head := map[string]json.RawMessage{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key, _ := name.(string) // of an object
		if key == "questions" {
			return json.Marshal(head)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		head[key] = value
	}
	if _, err := dec.Token(); err != nil { // the file ends too early
		return nil, err
	}
	return json.Marshal(head)
}

// shown returns a configuration by key, without secrets; loaded knows which values came from the environment.
func shown(c rag.Config, loaded config.Loaded) map[string]any {
	loaded.Config = c
	all := map[string]any{}
	for _, v := range config.Redacted(loaded) {
		all[v.Key] = v.Value
	}
	return all
}
