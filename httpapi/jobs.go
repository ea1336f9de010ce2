package httpapi

import (
	"strconv"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/jobs"
)

// job is a job and what it has done so far.
type job struct {
	jobs.Status
	Items  []jobs.Item       `json:"items" jsonschema:"sources that have changed behind the number given with after, in the order of their last change"`
	Report *rag.IngestReport `json:"report,omitempty" jsonschema:"what an ingest that has ended did"`
}

func jobOf(c jobs.Change) job {
	j := job{Status: c.Status, Items: c.Items}
	j.Report, _ = c.Result.(*rag.IngestReport)
	return j
}

type jobList struct {
	Jobs []jobs.Status `json:"jobs" jsonschema:"newest first"`
}

func listJobs(c *call) (any, error) {
	out := jobList{[]jobs.Status{}}
	for _, j := range c.jobs.List(c.principal.ID()) {
		out.Jobs = append(out.Jobs, j.Status())
	}
	return out, nil
}

// job finds a job of whoever asks.
func (c *call) job() (*jobs.Job, error) {
	id := c.r.PathValue("id")
	j, err := c.jobs.Get(c.principal.ID(), id)
	if err != nil {
		return nil, missing("job", id)
	}
	return j, nil
}

func getJob(c *call) (any, error) {
	j, err := c.job()
	if err != nil {
		return nil, err
	}
	const most = 1 << 53 // what a number of JSON holds
	after, err := c.number("after", 0, 0, most)
	if err != nil {
		return nil, err
	}
	return jobOf(j.Since(int64(after))), nil
}

func cancelJob(c *call) (any, error) {
	j, err := c.job()
	if err != nil {
		return nil, err
	}
	j.Cancel()
	select { // most end at once
	case <-j.Done():
	case <-time.After(cancelWait):
	case <-c.r.Context().Done():
	}
	return jobOf(j.Since(0)), nil
}

const (
	// cancelWait is how long a cancel waits for its job to end.
	cancelWait = 2 * time.Second
	// changePause is how long a stream waits after a change for more: nobody follows every passage.
	changePause = 250 * time.Millisecond
)

// jobEvents streams the changes of a job until it has ended. The ID of an event is the number of its last change, so a
// reader that comes back misses nothing.
func jobEvents(c *call) (any, error) {
	j, err := c.job()
	if err != nil {
		return nil, err
	}
	after, _ := strconv.ParseInt(c.r.Header.Get("Last-Event-ID"), 10, 64) // what is no number is the beginning
	s := c.stream()
	defer s.close()
	ctx, stop := c.untilEnded()
	defer stop()
	for change := range j.Follow(ctx, after) {
		if !s.send(strconv.FormatInt(change.Status.Seq, 10), "change", jobOf(change)) {
			return written{}, nil
		}
		if change.Status.State.Ended() {
			s.send("", "end", endEvent{})
			return written{}, nil
		}
		select {
		case <-time.After(changePause):
		case <-j.Done():
		case <-ctx.Done():
		}
	}
	return written{}, nil
}
