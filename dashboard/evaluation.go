package dashboard

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
	"github.com/seed-d8745b77/rag/jobs"
)

// evalPath is where evaluations are.
const evalPath = "/evaluation"

func (s *Server) evaluationRoutes(on router) {
	on.view(evalPath, "evaluation", s.showEvaluation)
	on.view(evalPath+"/runs/{label}", "evaluation_run", s.showRun)
	on.view(evalPath+"/compare", "evaluation_compare", s.showRunComparison)
	on.change(evalPath+"/run", "evaluation", 0, s.runEvaluation)
	on.change(evalPath+"/sets", "evaluation", maxSetBytes+maxForm, s.uploadSet)
	on.change(evalPath+"/questions", "evaluation", 0, s.addQuestion)
	on.change(evalPath+"/jobs/{id}/cancel", "evaluation", 0, s.cancelEvaluation)
	on.handle("GET "+evalPath+"/jobs/{id}/events", s.followEvaluation)
}

// evaluationView is the page of evaluations.
type evaluationView struct {
	Form        runForm   `json:"-"`
	Sets        []setInfo `json:"sets"`
	Collections []string  `json:"collections"`
	Modes       []string  `json:"-"`
	HasJudge    bool      `json:"has_judge"` // a chat model can judge answers
	Jobs        []evalJob `json:"jobs"`      // newest first
	Columns     []string  `json:"columns"`
	Runs        []runRow  `json:"runs"` // newest first
	Baseline    string    `json:"baseline"`
	Trend       trendView `json:"trend"`
	ReadOnly    bool      `json:"-"`
	Command     string    `json:"-"` // that puts a run into the folder; "": there is no folder
}

// evalJob is an evaluation under way, or done.
type evalJob struct{ jobs.Status }

// Progress is how many questions were asked, of how many.
func (j evalJob) Progress() jobs.Stage { return j.Stage(evalStage) }

// Kind is that of the badge of its state.
func (j evalJob) Kind() string {
	switch j.State {
	case jobs.Done:
		return "ok"
	case jobs.Failed:
		return "bad"
	case jobs.Cancelled:
		return "warn"
	}
	return "info"
}

// trendView is a metric over the runs of one test set.
type trendView struct {
	Set     string       `json:"set"`
	Metric  string       `json:"metric"`
	Sets    []string     `json:"-"` // to choose from
	Metrics []string     `json:"-"`
	Points  []trendPoint `json:"points"` // oldest first
}

func (s *Server) showEvaluation(r *request) (any, error) {
	v := evaluationView{
		Form:  runForm{Set: r.param("set"), Collection: r.collection, K: "1,3,5"},
		Modes: []string{string(rag.Hybrid), string(rag.Dense), string(rag.Sparse)}, HasJudge: s.eng.ChatModel() != nil,
		Columns: []string{}, Runs: []runRow{}, Jobs: []evalJob{}, Sets: []setInfo{}, Collections: []string{}, Trend: trendView{Points: []trendPoint{}}, ReadOnly: s.o.ReadOnly,
	}
	all, err := s.eng.Collections(r.Context())
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		v.Collections = append(v.Collections, c.Name)
	}
	for _, j := range s.jobs.List(owner, jobs.KindEval) {
		v.Jobs = append(v.Jobs, evalJob{j.Status()})
	}
	if s.evals == nil {
		return v, nil
	}
	v.Command = "rag eval --snapshot --test-set questions.jsonl --label baseline --retrieval-only --results " + argument(s.evals.runsDir)
	sets, err := s.evals.listSets()
	if err != nil {
		return nil, err
	}
	v.Sets = append(v.Sets, sets...)
	runs, err := s.evals.listRuns()
	if err != nil {
		return nil, err
	}
	baseline := baselineOf(runs, r.param("baseline"))
	if baseline != nil {
		v.Baseline = baseline.Label
	}
	v.Runs, v.Columns = rows(runs, baseline)
	v.Trend = viewTrend(runs, r.param("trend_set"), r.param("metric"))
	return v, nil
}

// argument is a path as a shell takes it.
func argument(path string) string {
	if strings.ContainsAny(path, " '\"$&;()") {
		return strconv.Quote(path)
	}
	return path
}

// viewTrend shows a metric over time: by default the first of the newest run's headline, over the runs of its test set.
func viewTrend(runs []eval.RunInfo, set, metric string) trendView {
	v := trendView{Set: set, Metric: metric, Points: []trendPoint{}}
	sets, metrics := map[string]bool{}, map[string]bool{}
	for _, r := range runs {
		if r.Error != "" || len(r.Headline) == 0 {
			continue
		}
		name := baseName(r.TestSet.Path)
		if sets[name] = true; v.Set == "" {
			v.Set = name
		}
		for _, h := range r.Headline {
			if metrics[h.Metric] = true; v.Metric == "" && name == v.Set {
				v.Metric = h.Metric
			}
		}
	}
	v.Sets, v.Metrics = sortedKeys(sets), sortedKeys(metrics)
	v.Points = append(v.Points, trend(runs, v.Set, v.Metric)...)
	return v
}

// questionsOnPage is how many questions of a run a page shows: those that went worst are what one looks for.
const questionsOnPage = 200

// errNoEvaluations is the answer where no folder of runs is configured.
var errNoEvaluations = fmt.Errorf("no folder of evaluations is configured: %w", rag.ErrUnsupported)

func (s *Server) showRun(r *request) (any, error) {
	if s.evals == nil {
		return nil, errNoEvaluations
	}
	run, err := s.evals.run(r.PathValue("label"))
	if err != nil {
		return nil, err
	}
	v := viewRun(run, r.param("metric"))
	from, _ := strconv.Atoi(r.param("after")) // of the order shown; none is the beginning
	from = min(max(from, 0), len(v.Questions))
	to := min(from+questionsOnPage, len(v.Questions))
	v.Pager = r.pagerAfter(strconv.Itoa(to), to < len(v.Questions))
	v.Questions = v.Questions[from:to]
	v.Gate = s.evals.hold(run, r.URL.Query())
	for i := range v.Metrics {
		v.Metrics[i].URL = r.here("metric", v.Metrics[i].Name) + "#questions"
	}
	runs, err := s.evals.listRuns()
	for _, other := range runs {
		if other.Label != v.Info.Label {
			v.Others = append(v.Others, other.Label)
		}
	}
	return v, err
}

func (v *runView) title(*request) string { return v.Info.Label }

func (s *Server) showRunComparison(r *request) (any, error) {
	if s.evals == nil {
		return nil, errNoEvaluations
	}
	a, b := r.param("a"), r.param("b")
	if picked := r.URL.Query()["run"]; a == "" && len(picked) == 2 {
		a, b = picked[1], picked[0] // the list has the newer one first
	}
	if a == "" || b == "" {
		return nil, invalid(r.T("evaluation.pick_two"))
	}
	first, err := s.evals.run(a)
	if err != nil {
		return nil, err
	}
	second, err := s.evals.run(b)
	if err != nil {
		return nil, err
	}
	c := compareRuns(first, second, r.param("metric"))
	runs, err := s.evals.listRuns()
	for _, run := range runs {
		c.Runs = append(c.Runs, run.Label)
	}
	return c, err
}

func (s *Server) runEvaluation(r *request) (any, error) {
	if s.evals == nil {
		return nil, errNoEvaluations
	}
	if _, err := s.startRun(r.Context(), readRunForm(r.PostForm.Get)); err != nil {
		return nil, err
	}
	return redirect(s.link(evalPath) + "#jobs"), nil
}

// uploadSet keeps an uploaded test set.
func (s *Server) uploadSet(r *request) (any, error) {
	if s.evals == nil {
		return nil, errNoEvaluations
	}
	file, header, err := r.FormFile("file")
	if err != nil {
		return nil, invalid(r.T("evaluation.no_file"))
	}
	defer file.Close()
	info, err := s.evals.addSet(baseName(header.Filename), file)
	if err != nil {
		return nil, err
	}
	return redirect(s.link(evalPath, "set", info.Name) + "#sets"), nil
}

// addQuestion puts a question into a test set, with passages that should be found.
func (s *Server) addQuestion(r *request) (any, error) {
	if s.evals == nil {
		return nil, errNoEvaluations
	}
	q := newQuestion{Question: r.PostForm.Get("question"), Chunks: r.PostForm["chunk"]}
	if q.Answerable = len(q.Chunks) > 0; !q.Answerable && r.PostForm.Get("unanswerable") != "on" {
		return nil, invalid(r.T("evaluation.no_passage"))
	}
	for _, id := range q.Chunks {
		chunk, err := s.eng.Chunk(r.Context(), r.PostForm.Get("collection"), id)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(q.Sources, chunk.URI) {
			q.Sources = append(q.Sources, chunk.URI)
		}
	}
	name := r.PostForm.Get("set")
	if name != "" && !strings.Contains(name, ".") {
		name += ".jsonl"
	}
	if err := s.evals.addQuestion(name, q); err != nil {
		return nil, err
	}
	return redirect(s.link(evalPath, "set", name) + "#sets"), nil
}

func (s *Server) cancelEvaluation(r *request) (any, error) {
	job, err := s.jobs.Get(owner, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	job.Cancel()
	return redirect(s.link(evalPath) + "#jobs"), nil
}

// followEvaluation streams the states of a job, from the one behind the last that the reader has seen.
func (s *Server) followEvaluation(w http.ResponseWriter, r *request) error {
	job, err := s.jobs.Get(owner, r.PathValue("id"))
	if err != nil {
		return err
	}
	seen, _ := strconv.ParseInt(r.lastEvent(), 10, 64) // none, or none of ours: from the beginning
	events := make(chan event)
	s.start(func() {
		defer close(events)
		for change := range job.Follow(r.Context(), seen) {
			select {
			case events <- event{strconv.FormatInt(change.Status.Seq, 10), "job", change.Status}:
			case <-r.Context().Done():
				return
			case <-s.ended.Done():
				return
			}
		}
	})
	return s.stream(w, r, events)
}
