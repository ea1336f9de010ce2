package mcpadapter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/roots"
	"github.com/seed-d8745b77/rag/jobs"
)

// ingestWait is how long a call of ingest waits for its job: small folders are done when it returns, and no host has given
// up by then.
const ingestWait = 20 * time.Second

func (a *Adapter) ingest() *tool {
	return &tool{
		name: "ingest", title: "Ingest files", out: jobStatus{}, effect: writes, run: runIngest,
		about:  "Read a file or folder into a collection. Long work goes on as a job: ask job_status. Again with the same files changes nothing.",
		params: []param{{name: "path", kind: textKind, required: true, about: "file or folder"}, a.collectionParam()},
	}
}

func runIngest(ctx context.Context, c *call) (*reply, error) {
	if !c.principal.Filter.IsZero() { // before the path is looked at: which files there are is not told either
		return nil, fmt.Errorf("ingest: who sees only documents where %s may not: a file could take the place of somebody else's document under the same path: %w", c.principal.Filter, rag.ErrUnsupported)
	}
	path, err := c.adapter.allowed(c.args.text("path"))
	if err != nil {
		return nil, err
	}
	a, collection := c.adapter, c.args.text("collection")
	j, err := a.jobs.Start(jobs.Spec{
		Owner: c.principal.ID(), Kind: jobs.KindIngest, Title: path, Target: collection,
		Work: jobs.Ingest(a.data.Lend, rag.IngestRequest{Collection: collection, Sources: []rag.Sources{rag.Path(path)}}),
	})
	if err != nil {
		return nil, err
	}
	c.begun("ingest")
	wait, cancel := context.WithTimeout(ctx, ingestWait)
	defer cancel()
	select {
	case <-j.Done():
	case <-wait.Done():
		if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			j.Cancel() // who began it wants it no more
			<-j.Done()
		}
	}
	return jobReply(j), nil
}

// allowed resolves a path that ingest is given: it must lie in one of the roots, also when links are followed.
func (a *Adapter) allowed(path string) (string, error) {
	if p, ok := rag.FilePath(path); ok {
		path = p
	}
	if real, ok := roots.Resolve(a.options.Roots, path); ok {
		return real, nil
	}
	return "", fmt.Errorf("path: %q is nothing in the folders that may be read: %s: %w", cut(path, 200), strings.Join(a.options.Roots, string(os.PathListSeparator)), rag.ErrInvalid)
}

func jobReply(j *jobs.Job) *reply {
	s := statusOf(j)
	text := fmt.Sprintf("Job %s is %s", s.JobID, s.State)
	switch s.State {
	case string(jobs.Running):
		text += fmt.Sprintf(": %s %d of %d. It goes on: ask job_status.", s.Stage, s.Done, s.Total)
	case string(jobs.Failed):
		text += ": " + s.Error
	default:
		text += fmt.Sprintf(": %d added, %d updated, %d unchanged, %d failed.", s.Added, s.Updated, s.Unchanged, len(s.Failed))
	}
	for _, f := range s.Failed {
		text += "\n- " + f
	}
	return &reply{text: text, data: s}
}

func (a *Adapter) jobStatus() *tool {
	return &tool{
		name: "job_status", title: "State of a job", out: jobStatus{},
		about:  "Tell how far an ingest is.",
		params: []param{{name: "job_id", kind: textKind, required: true}},
		run: func(_ context.Context, c *call) (*reply, error) {
			j, err := c.adapter.job(c.principal.ID(), c.args.text("job_id"))
			if err != nil {
				return nil, err
			}
			return jobReply(j), nil
		},
	}
}

func (a *Adapter) cancelJob() *tool {
	return &tool{
		name: "cancel_job", title: "Cancel a job", out: jobStatus{}, effect: writes,
		about:  "End an ingest. Documents that were written stay, each whole.",
		params: []param{{name: "job_id", kind: textKind, required: true}},
		run: func(ctx context.Context, c *call) (*reply, error) {
			j, err := c.adapter.job(c.principal.ID(), c.args.text("job_id"))
			if err != nil {
				return nil, err
			}
			j.Cancel()
			select {
			case <-j.Done():
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			return jobReply(j), nil
		},
	}
}

// deleted is the data of delete_document.
type deleted struct {
	Deleted bool   `json:"deleted"`
	Source  string `json:"source"`
	Chunks  int    `json:"chunks"`
}

func (a *Adapter) deleteDocument() *tool {
	return &tool{
		name: "delete_document", title: "Delete a document", out: deleted{}, effect: deletes,
		about:  "Remove one document from a collection. The file itself stays.",
		params: []param{{name: "document", kind: textKind, required: true, about: "path, ID, SHA-256 or rag:// URI"}, a.collectionParam()},
		run: func(ctx context.Context, c *call) (*reply, error) {
			name, document := named(c.args.text("collection"), c.args.text("document"))
			e, err := c.entry(ctx, name, document)
			if err != nil {
				return nil, err
			}
			rep, err := c.engine.Delete(ctx, rag.DeleteRequest{Collection: name, URIs: []string{e.URI}})
			if err != nil {
				return nil, err
			}
			d := deleted{rep.Existed, place(e.URI), rep.Chunks}
			return &reply{text: fmt.Sprintf("Deleted %s with %s.", d.Source, count(d.Chunks, "passage")), data: d}, nil
		},
	}
}
