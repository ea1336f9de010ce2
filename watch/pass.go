package watch

import (
	"context"
	"errors"

	"github.com/seed-d8745b77/rag"
)

// passes makes one ingest after the other and tells what is new.
type passes struct {
	Config
	engine *rag.Engine
	begun  bool // the first pass was tried
	news   news
	last   string // error that was told last; "" after a pass without one
}

// pass makes one ingest; since is what changed after the one before. again says that it shall be tried again though
// nothing changes. An error ends the watch.
func (p *passes) pass(ctx context.Context, since burst) (again bool, err error) {
	first := !p.begun
	p.begun = true
	req, err := p.request()
	if err != nil {
		if first {
			return false, err
		}
		p.tellError(err)
		return false, nil
	}
	rep, err := p.engine.Ingest(ctx, req)
	switch {
	case err != nil && ctx.Err() != nil:
		return false, err
	case errors.Is(err, rag.ErrUnavailable) && !errors.Is(err, rag.ErrPartial):
		p.tellError(err)
		return true, nil
	case err != nil && !errors.Is(err, rag.ErrPartial):
		return false, err
	}
	p.last = ""
	again = errors.Is(err, rag.ErrUnavailable) // of single sources
	p.news.filter(rep, since)
	if p.Tell != nil && (first || worthTelling(rep)) {
		p.Tell(Pass{Report: rep})
	}
	return again, nil
}

func (p *passes) request() (rag.IngestRequest, error) {
	if p.Request != nil {
		return p.Request()
	}
	req := rag.IngestRequest{Prune: true}
	for _, path := range p.Paths {
		req.Sources = append(req.Sources, rag.Path(path))
	}
	return req, nil
}

// tellError tells why there was no ingest, unless it did so after the last one.
func (p *passes) tellError(err error) {
	if p.Tell != nil && err.Error() != p.last {
		p.Tell(Pass{Err: err})
	}
	p.last = err.Error()
}

// worthTelling reports whether an ingest did something, or found something new.
func worthTelling(r *rag.IngestReport) bool {
	return r.Added+r.Updated+r.Moved+r.Deleted+len(r.Failed)+len(r.Skipped)+len(r.Warnings) > 0
}

// news remembers what was told of sources that are in every report while they are there.
type news struct {
	failed, skipped map[string]string // by URI: what was told
	warned          map[rag.SourceNote]bool
}

// filter takes out of a report what was told before and did not change since.
func (n *news) filter(r *rag.IngestReport, since burst) {
	failed := map[string]string{}
	fresh := []rag.SourceFailure{}
	for _, f := range r.Failed {
		failed[f.URI] = f.Error
		if n.failed[f.URI] != f.Error || since.touches(f.URI) {
			fresh = append(fresh, f)
		}
	}
	skipped := map[string]string{}
	passed := []rag.SourceNote{}
	for _, s := range r.Skipped {
		skipped[s.URI] = s.Message
		if n.skipped[s.URI] != s.Message {
			passed = append(passed, s)
		}
	}
	warned := map[rag.SourceNote]bool{}
	warnings := []rag.SourceNote{}
	for _, w := range r.Warnings {
		warned[w] = true
		if !n.warned[w] || since.touches(w.URI) {
			warnings = append(warnings, w)
		}
	}
	n.failed, n.skipped, n.warned = failed, skipped, warned
	r.Failed, r.Skipped, r.Warnings = fresh, passed, warnings
}
