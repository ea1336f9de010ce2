package rag

import (
	"context"
	"errors"
)

// unfitRemedy is what helps where metadata that is kept does not fit the domain.
const unfitRemedy = "; it was given to an earlier ingest, and stays until the manifest is named again as it is now (--manifest), or the domain file has it too, a word as another name under its enum"

// unfit lists what is kept of a source and the domain does not allow.
func unfit(d Domain, uri string, given Given) (list []UnfitMeta, problems []MetaProblem) {
	checker, ok := d.(MetaChecker)
	if !ok {
		return nil, nil
	}
	problems = checker.CheckMeta(given.Meta)
	for _, p := range problems {
		list = append(list, UnfitMeta{uri, p.Field, p.Value, p.Field + ": " + p.Message + unfitRemedy})
	}
	return list, problems
}

// tellUnfit warns of what is kept of a source and the domain does not allow. Of a source that is read the policy warns of
// values, and what it says is kept with the document.
func (r *ingestRun) tellUnfit(rd *reading, action string) {
	if !rd.kept {
		return
	}
	read := action != "unchanged" && !r.req.DryRun
	list, problems := unfit(r.domain, rd.want.URI, *rd.want.Given)
	for i, u := range list {
		if !read || problems[i].NoField {
			r.note(u.URI, StageCheck, "%s", u.Message)
		}
	}
}

// checkMetadata lists in a report what is kept of documents and their domain does not allow, and those that were made under other
// rules than those of the domain.
func (e *Engine) checkMetadata(ctx context.Context, rep *VerifyReport, h Header) error {
	d, err := e.domainOf(rep.Collection, &h)
	if errors.Is(err, ErrUnsupported) { // the program cannot read domains, and need not to verify the rest
		e.log.Warn("metadata were not compared with the domain", "collection", rep.Collection, "error", err)
		return nil
	}
	if err != nil || d == nil {
		return err
	}
	stale := map[string]bool{}
	for _, s := range rep.Stale {
		stale[s.URI] = true
	}
	for entry, err := range e.catalog.Entries(ctx, rep.Collection, "", "") {
		if err != nil {
			return err
		}
		if entry.Given == nil || entry.URI != SourceURI(entry.URI) {
			continue
		}
		list, _ := unfit(d, entry.URI, *entry.Given)
		rep.Unfit = append(rep.Unfit, list...)
		now := d.Describe(Source{URI: entry.URI, Title: entry.Given.Title, Meta: entry.Given.Meta})
		if entry.MetaDigest != now.metaDigest() && !stale[entry.URI] {
			rep.Stale = append(rep.Stale, PlanItem{URI: entry.URI, Action: "update", Reason: "domain changed"})
		}
	}
	return nil
}
