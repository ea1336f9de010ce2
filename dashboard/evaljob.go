package dashboard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/agent"
	"github.com/seed-d8745b77/rag/eval"
	"github.com/seed-d8745b77/rag/jobs"
)

// runForm is an evaluation that somebody wants, each field as it was typed.
type runForm struct {
	Set        string `json:"set"`            // file of the test set
	Part       string `json:"part,omitempty"` // of it; "": all
	Collection string `json:"collection"`
	Label      string `json:"label"`
	Mode       string `json:"mode,omitempty"`
	K          string `json:"k,omitempty"` // places, apart by commas
	Answers    bool   `json:"answers"`
	Replace    bool   `json:"replace"` // an earlier run of the label
}

func readRunForm(get func(string) string) runForm {
	return runForm{
		Set: get("set"), Part: get("part"), Collection: get("collection"), Label: strings.TrimSpace(get("label")), Mode: get("mode"), K: get("k"),
		Answers: get("answers") == "on", Replace: get("replace") == "on",
	}
}

// deepestK bounds the places that metrics look at: a run keeps so many hits of each question.
const deepestK = 100

func (f *runForm) places() ([]int, error) {
	var ks []int
	for _, part := range strings.FieldsFunc(f.K, func(r rune) bool { return r == ',' || r == ' ' }) {
		k, err := strconv.Atoi(part)
		if err != nil || k < 1 || k > deepestK {
			return nil, fmt.Errorf("k %q: numbers from 1 to %d, apart by commas, are wanted: %w", f.K, deepestK, rag.ErrInvalid)
		}
		ks = append(ks, k)
	}
	return ks, nil
}

// startRun begins an evaluation as a job. What cannot work is told now and not by the job.
func (s *Server) startRun(ctx context.Context, f runForm) (*jobs.Job, error) {
	set, err := s.evals.set(f.Set)
	if err != nil {
		return nil, err
	}
	if set = set.Only(f.Part); len(set.Questions) == 0 {
		return nil, fmt.Errorf("%s has no question of the part %q: %w", f.Set, f.Part, rag.ErrInvalid)
	}
	if d := s.domainOf(ctx, cmp.Or(f.Collection, s.eng.Config().Collection)); d != nil {
		if set, err = set.Under(func(q rag.Query) (rag.Query, error) { return d.Query(q, q.AsOf) }); err != nil {
			return nil, err
		}
	}
	o := eval.Options{Label: cmp.Or(f.Label, eval.DefaultLabel), Collection: f.Collection, Mode: rag.Mode(f.Mode), Program: s.o.Version, Now: s.now}
	if o.K, err = f.places(); err != nil {
		return nil, err
	}
	if err := s.evals.free(o.Label, f.Replace); err != nil {
		return nil, err
	}
	if f.Answers {
		if err := s.answering(&o); err != nil {
			return nil, err
		}
	}
	return s.jobs.Start(jobs.Spec{Owner: owner, Kind: jobs.KindEval, Title: o.Label, Target: f.Collection, Work: func(ctx context.Context, run *jobs.Run) (any, error) {
		o.Progress = func(done, total int) { run.Stage(evalStage, done, total) }
		got, err := eval.Evaluate(ctx, s.eng, set, o)
		if err != nil {
			return nil, err
		}
		_, err = got.Save(s.evals.runsDir)
		return got.Info(""), err
	}})
}

// evalStage is the one stage of the job of an evaluation: a step is a question.
const evalStage = "questions"

// answering fills in how questions are answered, and answers judged: as `rag eval` does it.
func (s *Server) answering(o *eval.Options) error {
	c, err := agent.ParseConfig(s.eng.Config().Agent)
	if err != nil {
		return err
	}
	router, err := agent.New(s.eng, c)
	if err != nil {
		return err
	}
	o.Answers = "router"
	o.Answer = func(ctx context.Context, q rag.Query) (*rag.Answer, error) {
		return router.Ask(ctx, rag.AskRequest{Query: q})
	}
	settings, err := eval.ParseSettings(s.eng.Config().Evaluation)
	if err != nil {
		return err
	}
	o.Evaluator, err = settings.Evaluator(eval.Models{Chat: s.eng.ChatModel(), Embedder: s.eng.Embedder(), Verifier: s.eng.Verifier()})
	return err
}

// free reports why a run cannot be kept under a label: it names no file, or a run that is not to be replaced.
func (f *evalFolder) free(label string, replace bool) error {
	if err := checkLabel(label); err != nil {
		return err
	}
	runs, err := f.listRuns()
	if err != nil || replace {
		return err
	}
	if slices.ContainsFunc(runs, func(r eval.RunInfo) bool { return strings.EqualFold(r.Label, label) }) { // some systems take them for one file
		return fmt.Errorf("there is a run %q already: choose another label, or replace it: %w", label, rag.ErrInvalid)
	}
	return nil
}

// checkLabel reports a label under which [eval.Run.Save] would not keep a run, before the run is made.
func checkLabel(label string) error {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	if strings.Trim(label, allowed) != "" || checkFileName(label+".json", ".json") != nil {
		return fmt.Errorf("label %q: letters, digits, and - _ . inside, are allowed, since it names a file: %w", label, rag.ErrInvalid)
	}
	return nil
}

// owner is whom the jobs of a dashboard belong to: whoever may use it sees all of them.
const owner = "dashboard"
