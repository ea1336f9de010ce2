package rag

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
)

// chooseDomain decides which domain a run follows: the one that the request names, else the one that the collection
// remembers. The header, which the run writes, remembers it from then on.
func (r *ingestRun) chooseDomain() (err error) {
	was := r.header.Domain
	r.was = was
	switch {
	case r.req.NoDomain && r.req.Domain != nil:
		return fmt.Errorf("ingest: a domain and none are asked for: leave one of Domain and NoDomain out: %w", ErrInvalid)
	case r.req.NoDomain:
		r.domain, r.header.Domain = nil, nil
	case r.req.Domain != nil:
		r.domain, r.header.Domain = r.req.Domain, new(r.req.Domain.Record())
	default:
		if err := r.takeExports(); err != nil {
			return err
		}
		if r.domain, err = r.domainOf(r.name, &r.header); err != nil {
			return err
		}
	}
	manifests := r.manifests()
	r.newRules = !sameDomain(was, r.header.Domain) || !slices.Equal(manifests, r.header.Manifests)
	r.header.Manifests = manifests
	r.report.Domain = r.domainUse(was)
	return nil
}

// takeExports decides whose domain holds where documents of exports come in: a new collection takes theirs, one that is there
// has its own, unless the request says otherwise.
func (r *ingestRun) takeExports() error {
	fresh := !r.exists
	for _, set := range r.req.Sources {
		if set.exported == nil {
			continue
		}
		theirs, ours := set.exported.Domain, r.header.Domain
		switch {
		case fresh, r.req.Follow == FollowExport && !sameRules(theirs, ours):
			r.header.Domain = theirs
		case sameRules(theirs, ours), r.req.Follow == FollowCollection:
		case r.req.Follow != "":
			return fmt.Errorf("import: follow is %q: it must be %s or %s: %w", r.req.Follow, FollowCollection, FollowExport, ErrInvalid)
		default:
			return fmt.Errorf("import: the collection %q follows %s, and the export %s: its documents have the metadata of that, and may not be found here: take another collection (--collection), or say whose rules hold from now on (--follow %s or --follow %s): %w",
				r.name, domainSaid(ours), exportSaid(theirs, ours), FollowCollection, FollowExport, ErrInvalid)
		}
		fresh = false // of several exports the first decides
	}
	return nil
}

// exportedUnder names the domain of an export that is not the collection's from now on; "" if there is none.
func (r *ingestRun) exportedUnder() string {
	for _, set := range r.req.Sources {
		if set.exported != nil && !sameRules(set.exported.Domain, r.header.Domain) {
			if set.exported.Domain == nil {
				return None
			}
			return set.exported.Domain.Name
		}
	}
	return ""
}

// exportSaid names the domain of an export in a message, beside that of the collection.
func exportSaid(theirs, ours *DomainRecord) string {
	if theirs != nil && ours != nil && theirs.Name == ours.Name {
		return "another version of it"
	}
	return domainSaid(theirs)
}

// sameRules reports whether two domains are the same, wherever their files lie.
func sameRules(a, b *DomainRecord) bool {
	return a == b || a != nil && b != nil && a.Name == b.Name && a.Text == b.Text
}

// manifestNote is what is said of a document that looks like a manifest.
const manifestNote = "its lines look like those of a manifest, and it is ingested as a document: name it with --manifest, and delete this document"

// isManifest reports whether a source that is ingested as a document looks like a manifest that nobody named.
func (r *ingestRun) isManifest(src Source, data []byte) bool {
	teller, ok := r.domain.(ManifestTeller)
	return ok && src.stored == nil && teller.LooksLikeManifest(src.BaseName(), data)
}

// manifests are the files that say what the documents are, those of this run and of earlier ones.
func (r *ingestRun) manifests() []string {
	var all []string
	if !r.req.Forget {
		all = slices.Clone(r.header.Manifests)
	}
	for _, set := range r.req.Sources {
		if set.Manifest != "" {
			all = append(all, set.Manifest)
		}
		if set.exported != nil {
			all = append(all, set.exported.Manifests...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// describes reports whether a file is the domain's own or a manifest: what tells of documents is none.
func (r *ingestRun) describes(uri string) bool {
	return r.domain != nil && uri == r.header.Domain.File || slices.Contains(r.header.Manifests, uri)
}

// remember has the collection remember the domain of a run that others will do, from a queue.
func (r *ingestRun) remember(ctx context.Context) error {
	if err := r.look(ctx); err != nil {
		return err
	}
	if err := r.chooseDomain(); err != nil || !r.newRules {
		return err
	}
	unlock, err := r.lock(ctx, r.name)
	if err != nil {
		return err
	}
	defer unlock()
	if err := r.openCollection(ctx); err != nil {
		return err
	}
	if err := r.markDirty(ctx, nil, nil); err != nil {
		return err
	}
	return r.closeCollection(ctx)
}

// domainUse is what the report says of the choice; nil if there is no domain and was none.
func (r *ingestRun) domainUse(was *DomainRecord) *DomainUse {
	use := &DomainUse{Remembered: sameDomain(was, r.header.Domain) && r.req.Domain == nil, Export: r.exportedUnder()}
	if now := r.header.Domain; now != nil {
		use.Name = now.Name
	}
	if was != nil && was.Name != use.Name {
		use.Was = was.Name
	}
	if use.Name == "" && use.Was == "" && use.Export == "" {
		return nil
	}
	return use
}

// keptDomain says in the report of a run that ingested nothing, and so changed nothing, that the collection has the domain that
// it had.
func (r *ingestRun) keptDomain() {
	rep := &r.report
	wrote := r.took || r.req.DryRun && rep.Added+rep.Updated+rep.Moved+rep.Unchanged+rep.Deleted > 0
	if wrote || rep.Domain == nil || sameDomain(r.was, r.header.Domain) {
		return
	}
	rep.Domain = &DomainUse{Remembered: true, Asked: cmp.Or(rep.Domain.Name, None)}
	if r.was != nil {
		rep.Domain.Name = r.was.Name
	}
}

func sameDomain(a, b *DomainRecord) bool { return a == b || a != nil && b != nil && *a == *b }

// describe completes what is said of a source. Where this ingest is given nothing, what an earlier one was given stays; was
// is the document's line in the ledger, zero if it is new. Then the domain has its say. kept is set where something stands.
func (r *ingestRun) describe(src Source, was *Entry, kept *bool) (_ Source, given Given, err error) {
	given = Given{Title: src.Title, Meta: src.Meta}
	if given.isZero() && !r.req.Forget {
		if stands := cmp.Or(was.Given, r.whileAway(src.URI, was)); stands != nil {
			given, *kept = *stands, !stands.empty()
			r.countKept(*kept)
		} else if err := r.checkUnkept(src, was); err != nil {
			return src, given, err
		}
	}
	if given.Meta != nil { // as it is kept, so that it is the same when it is told from the ledger
		if given.Meta, err = given.Meta.Clean(); err != nil {
			return src, given, err
		}
	}
	src.Title, src.Meta = given.Title, given.Meta
	return r.ruledSource(src), given, nil
}

// countKept counts a source for which something stands that an earlier ingest was given.
func (r *ingestRun) countKept(kept bool) {
	if kept {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.report.Kept++
	}
}

// ruledSource is a source under the domain.
func (r *ingestRun) ruledSource(src Source) Source {
	if r.domain != nil && src.Policy == nil {
		return r.domain.Describe(src)
	}
	return src
}

// checkUnkept refuses to take away what an ingest by a version that did not keep it was given with a source.
func (r *ingestRun) checkUnkept(src Source, was *Entry) error {
	plain := src.metaDigest()
	if was.URI == "" || was.State == StateDamaged || was.MetaDigest == plain || was.MetaDigest == r.ruledSource(src).metaDigest() {
		return nil
	}
	return fmt.Errorf("an earlier version ingested it with a domain or metadata, and did not keep them: give them once more (--domain, and --manifest if there was one), or say that they are to go (--no-manifest): %w", ErrInvalid)
}

// sameGiven reports whether the ledger keeps what a source is given now; nil is nothing.
func sameGiven(kept *Given, now Given) bool {
	if kept == nil {
		kept = &Given{}
	}
	return kept.Title == now.Title && bytes.Equal(canonical(kept.Meta), canonical(now.Meta))
}
