package dashboard

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/jobs"
)

// What a page of a job shows of its files. All of them are in its JSON.
const (
	shownItems   = 200
	shownResults = 500
)

// leftAfter is how long a job must have been at work before the time it will still take is guessed.
const leftAfter = 10 * time.Second

// jobView is a job, under way or ended.
type jobView struct {
	jobRow
	Seq      int64             `json:"seq"`
	Stages   []stageRow        `json:"stages"`
	Items    []itemRow         `json:"items"`
	More     int               `json:"-"`                   // items that are not shown
	Rate     float64           `json:"passages_per_second"` // embedded; 0: not known
	Left     float64           `json:"left_ms,omitempty"`   // guess; 0: none
	Live     bool              `json:"live"`                // under way
	Report   *rag.IngestReport `json:"report,omitempty"`    // of a job that has ended
	Failed   []failedRow       `json:"failures"`            // with advice
	Request  *ingestRequest    `json:"request"`             // what was asked
	CanRun   bool              `json:"-"`                   // it can be begun again
	Plan     []planRow         `json:"-"`                   // of a dry run, without what is unchanged
	Warnings []noteGroup       `json:"-"`                   // of the report, by kind
	Hidden   int               `json:"-"`                   // rows of the plan that are not shown
	Browse   string            `json:"-"`
	Trace    string            `json:"-"`
}

// stageRow is a stage of a job under way.
type stageRow struct {
	Name    string  `json:"name"`
	Done    int     `json:"done"`
	Total   int     `json:"total"`
	Percent float64 `json:"-"`
}

// itemRow is a file in a job.
type itemRow struct {
	jobs.Item
	Row     string  `json:"-"` // ID in the page
	Word    string  `json:"-"` // key of its state in words
	Kind    string  `json:"-"` // badge
	Percent float64 `json:"-"` // of the bar: how far it is through all stages
	URL     string  `json:"-"`
	Took    float64 `json:"-"` // ms
}

type failedRow struct {
	rag.SourceFailure
	Advice string `json:"advice"`
}

type planRow struct {
	rag.PlanItem
	URL string
}

func (s *Server) job(r *request) (*jobs.Job, error) {
	return s.jobs.Get("", r.PathValue("job"))
}

func (s *Server) jobPage(r *request) (any, error) {
	j, err := s.job(r)
	if err != nil {
		return nil, err
	}
	return s.jobView(r, j, j.Since(0)), nil
}

// jobView makes the view of a job of which change has the items.
func (s *Server) jobView(r *request, j *jobs.Job, change jobs.Change) *jobView {
	st := change.Status
	v := &jobView{jobRow: s.jobRow(st, j.Detail()), Seq: st.Seq, Live: !st.State.Ended(), Stages: []stageRow{}, Items: []itemRow{}, Failed: []failedRow{}}
	v.Request, v.CanRun = v.detail, v.detail != nil && !v.Live && !s.o.ReadOnly
	v.Browse = s.link("/browse", "collection", s.named(st.Target))
	for _, stage := range []string{rag.StageLoad, rag.StageEmbed, rag.StageUpsert} {
		at := st.Stage(stage)
		v.Stages = append(v.Stages, stageRow{stage, at.Done, at.Total, percent(at.Done, at.Total)})
	}
	if took := st.Elapsed(s.now()); took > 0 {
		v.Rate = float64(st.Stage(rag.StageEmbed).Done) / took.Seconds()
		if done := st.Counts.Done + st.Counts.Failed; v.Live && took > leftAfter && done > 0 {
			v.Left = float64(took.Milliseconds()) * float64(st.Counts.Total-done) / float64(done)
		}
	}
	items := change.Items
	if !r.wantsJSON() {
		items, v.More = worthShowing(items), max(0, len(items)-shownItems)
	}
	for _, it := range items {
		v.Items = append(v.Items, s.itemRow(it, &v.jobRow))
	}
	if report, ok := change.Result.(*rag.IngestReport); ok {
		v.report(r, report)
	}
	return v
}

// report adds what an ingest did.
func (v *jobView) report(r *request, report *rag.IngestReport) {
	v.Report = report
	if report.TraceID != "" && r.s.o.Traces != nil {
		v.Trace = r.s.link("/traces/ingest/"+report.TraceID, "collection", r.s.named(v.Target))
	}
	for _, f := range report.Failed {
		kind, _ := kindOf(f.Err)
		v.Failed = append(v.Failed, failedRow{f, r.T("ingest_advice." + kind)})
	}
	var warnings []noteItem
	for _, w := range report.Warnings[:min(len(report.Warnings), shownResults)] {
		warnings = append(warnings, noteItem{w.URI, w.Message, r.s.documentURL(v.Target, w.URI)})
	}
	v.Warnings = groups(warnings)
	for _, p := range report.Plan {
		if p.Action == "unchanged" {
			continue
		}
		if len(v.Plan) == shownResults {
			v.Hidden++
			continue
		}
		v.Plan = append(v.Plan, planRow{p, r.s.documentURL(v.Target, p.URI)})
	}
}

// worthShowing returns the items that a person wants to see first: those at work, those that failed, then the last that ended.
func worthShowing(items []jobs.Item) []jobs.Item {
	order := map[jobs.ItemState]int{jobs.ItemWorking: 0, jobs.ItemFailed: 1, jobs.ItemDone: 2, jobs.ItemQueued: 3}
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b jobs.Item) int {
		return cmp.Or(cmp.Compare(order[a.State], order[b.State]), cmp.Compare(b.Seq, a.Seq))
	})
	return items[:min(len(items), shownItems)]
}

// stagesOfFile are those that a file goes through, for its bar.
var stagesOfFile = []string{rag.StageLoad, rag.StageSplit, rag.StageEmbed, rag.StageUpsert}

// documented are the outcomes after which a source has a document.
var documented = []string{"add", "update", "move", "unchanged"}

func (s *Server) itemRow(it jobs.Item, of *jobRow) itemRow {
	row := itemRow{Item: it, Row: rowID(it.Key), Word: string(it.State), Kind: "info"}
	switch it.State {
	case jobs.ItemWorking:
		row.Word = it.Stage
		row.Percent = percent(max(0, slices.Index(stagesOfFile, it.Stage)), len(stagesOfFile)) + percent(it.Done, it.Total)/float64(len(stagesOfFile))
	case jobs.ItemDone:
		row.Word, row.Kind, row.Percent = it.Outcome, "ok", 100
		if it.Outcome == rag.ActionSkipped {
			row.Kind = "off"
		}
		if slices.Contains(documented, it.Outcome) && !of.DryRun {
			row.URL = s.documentURL(of.Target, it.Key)
		}
	case jobs.ItemFailed:
		row.Word, row.Kind, row.Percent = it.Outcome, "bad", 100
	case jobs.ItemQueued:
		row.Kind = "off"
	}
	if !it.Ended.IsZero() {
		row.Took = float64(it.Ended.Sub(it.Started).Microseconds()) / 1000
	}
	return row
}

// rowID names a row by what it shows, whatever characters that has.
func rowID(key string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key)) // never fails
	return "file-" + strconv.FormatUint(h.Sum64(), 36)
}

func percent(done, total int) float64 {
	if total == 0 {
		return 0
	}
	return float64(done) * 100 / float64(total)
}

// jobChange is what has changed in a job, as parts of its page.
type jobChange struct {
	Seq     int64     `json:"seq"`
	State   string    `json:"state"`
	Ended   bool      `json:"ended"`
	Summary string    `json:"summary"` // HTML
	Rows    []rowHTML `json:"rows"`
	Say     string    `json:"say"` // for readers who do not see the page
}

type rowHTML struct {
	ID   string `json:"id"`
	HTML string `json:"html"`
}

// changePause is how long a stream waits after a change for more: a page need not follow every passage.
const changePause = 250 * time.Millisecond

// jobEvents streams the changes of a job. The ID of an event is the number of its last change.
func (s *Server) jobEvents(w http.ResponseWriter, r *request) error {
	j, err := s.job(r)
	if err != nil {
		return err
	}
	after, _ := strconv.ParseInt(r.lastEvent(), 10, 64) // what is no number is the beginning
	events := make(chan event)
	s.start(func() {
		defer close(events)
		for change := range j.Follow(r.Context(), after) {
			select {
			case events <- event{strconv.FormatInt(change.Status.Seq, 10), "change", s.jobChange(r, j, change)}:
			case <-r.Context().Done():
				return
			case <-s.ended.Done():
				return
			}
			select {
			case <-time.After(changePause):
			case <-r.Context().Done():
				return
			case <-s.ended.Done():
				return
			}
		}
	})
	return s.stream(w, r, events)
}

// jobChanges is one step of the stream, for who cannot follow it.
func (s *Server) jobChanges(r *request) (any, error) {
	j, err := s.job(r)
	if err != nil {
		return nil, err
	}
	after, _ := strconv.ParseInt(r.param("after"), 10, 64)
	return s.jobChange(r, j, j.Since(after)), nil
}

func (s *Server) jobChange(r *request, j *jobs.Job, change jobs.Change) jobChange {
	v := s.jobView(r, j, change)
	c := jobChange{Seq: v.Seq, State: string(v.State), Ended: !v.Live, Rows: []rowHTML{}}
	c.Summary = s.part(r, "ingest_job", "job_progress", v)
	c.Say = r.T("ingest_job.say", v.Ended, v.Counts.Total, v.Counts.Failed)
	for _, it := range worthShowing(change.Items) {
		row := s.itemRow(it, &v.jobRow)
		c.Rows = append(c.Rows, rowHTML{row.Row, s.part(r, "ingest_job", "job_row", row)})
	}
	return c
}

// part renders a part of a page by itself.
func (s *Server) part(r *request, page, name string, view any) string {
	var b bytes.Buffer
	if err := s.pages[r.lang][page].ExecuteTemplate(&b, name, view); err != nil {
		s.log.Error("part of a page not rendered", "page", page, "part", name, "error", err)
		return ""
	}
	return string(visible(b.Bytes()))
}

func (s *Server) cancelJob(r *request) (any, error) {
	j, err := s.job(r)
	if err != nil {
		return nil, err
	}
	j.Cancel()
	select {
	case <-j.Done():
	case <-r.Context().Done():
		return nil, fmt.Errorf("cancel: %w", r.Context().Err())
	}
	return redirect(s.jobURL(j.ID(), j.Status().Target)), nil
}
