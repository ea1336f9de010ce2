package mcpadapter

import (
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/jobs"
)

// jobStatus is the data of ingest, job_status and cancel_job.
type jobStatus struct {
	JobID     string   `json:"job_id"`
	State     string   `json:"state"` // running, done, failed or cancelled
	Stage     string   `json:"stage,omitempty"`
	Done      int      `json:"done"` // of the stage
	Total     int      `json:"total"`
	Added     int      `json:"added"`
	Updated   int      `json:"updated"`
	Unchanged int      `json:"unchanged"`
	Failed    []string `json:"failed"` // sources that could not be read, with the reason
	Error     string   `json:"error,omitempty"`
	Started   string   `json:"started"` // RFC 3339
}

// job finds a job of an owner.
func (a *Adapter) job(owner, id string) (*jobs.Job, error) {
	j, err := a.jobs.Get(owner, id)
	if err != nil {
		return nil, fmt.Errorf("there is no job %q: %w", cut(id, 40), rag.ErrNotFound)
	}
	return j, nil
}

// statusOf is a job as clients are told of it: one that waits for others counts as running.
func statusOf(j *jobs.Job) jobStatus {
	c := j.Since(0)
	stage := c.Status.Stage(c.Status.Last)
	s := jobStatus{
		JobID: j.ID(), State: string(c.Status.State), Stage: stage.Name, Done: stage.Done, Total: stage.Total,
		Failed: []string{}, Started: instant(c.Status.Created),
	}
	if c.Status.State == jobs.Queued {
		s.State = string(jobs.Running)
	}
	if report, ok := c.Result.(*rag.IngestReport); ok {
		s.Added, s.Updated, s.Unchanged = report.Added, report.Updated, report.Unchanged
		for _, f := range report.Failed {
			s.Failed = append(s.Failed, fmt.Sprintf("%s: %s", place(f.URI), f.Error))
		}
	}
	if _, err := j.Result(); c.Status.State == jobs.Failed && err != nil {
		s.Error = sentence(err)
	}
	return s
}
