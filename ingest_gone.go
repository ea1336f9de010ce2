package rag

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// goneSource is a source that is no longer there, with the documents it gave.
type goneSource struct {
	first   Entry   // zero if only further documents are left
	further []Entry // of a source that gave several
}

// readLedger looks once through all documents that were there before the run: which sources under its scopes are gone, and
// which contents a source that comes may have from another.
func (r *ingestRun) readLedger(ctx context.Context) error {
	r.ledger.Lock()
	defer r.ledger.Unlock()
	if r.ledgerRead {
		return nil
	}
	bySource := map[string]*goneSource{}
	var order []string
	for entry, err := range r.catalog.Entries(ctx, r.name, "", "") {
		if err != nil {
			return err
		}
		source := SourceURI(entry.URI)
		if entry.URI == source && entry.Given != nil && !entry.Given.empty() {
			r.told[entry.Digest] = append(r.told[entry.Digest], AwaySource{source, *entry.Given})
		}
		if r.known[entry.URI] || r.known[source] {
			continue
		}
		if !inScopes(entry.URI, r.scopes) {
			if entry.URI == source {
				r.elsewhere[entry.Digest] = append(r.elsewhere[entry.Digest], source)
			}
			continue
		}
		g := bySource[source]
		if g == nil {
			g = &goneSource{}
			bySource[source] = g
			order = append(order, source)
		}
		if entry.URI == source {
			g.first = entry
		} else {
			g.further = append(g.further, entry)
		}
	}
	for _, source := range order {
		g := bySource[source]
		r.gone[g.first.Digest] = append(r.gone[g.first.Digest], g)
	}
	r.ledgerRead = true
	return nil
}

// claimGone finds the source that a new one was before it was moved, and takes it out of those that are gone: one of the same
// content under a scope of the run that did not list it, or a file elsewhere that is no longer there. Of several it is the one
// whose path ends most like the new one's. It returns a zero one if there is none.
func (r *ingestRun) claimGone(ctx context.Context, want *Entry) (*goneSource, error) {
	if err := r.readLedger(ctx); err != nil {
		return nil, err
	}
	best, from := r.takeGone(want)
	if best != nil || from == "" {
		return cmp.Or(best, &goneSource{}), nil
	}
	first, err := r.catalog.Entry(ctx, r.name, from)
	if err != nil {
		return nil, err
	}
	further, err := r.furtherEntries(ctx, r.name, from)
	return &goneSource{first, further}, err
}

// takeGone takes the best of the sources of a content that are gone: one that was read, or the URI of one that was not.
func (r *ingestRun) takeGone(want *Entry) (best *goneSource, from string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ending := -1
	better := func(uri string) bool {
		n := sameEnding(uri, want.URI)
		if n <= ending {
			return false
		}
		ending = n
		return true
	}
	for _, g := range r.gone[want.Digest] {
		if g.first.URI != "" && better(g.first.URI) {
			best = g
		}
	}
	for _, uri := range r.elsewhere[want.Digest] {
		if r.fileGone(uri, want.URI) && better(uri) {
			best, from = nil, uri
		}
	}
	if best != nil {
		r.gone[want.Digest] = slices.DeleteFunc(r.gone[want.Digest], func(g *goneSource) bool { return g == best })
	}
	r.elsewhere[want.Digest] = slices.DeleteFunc(r.elsewhere[want.Digest], func(uri string) bool { return uri == from })
	return best, from
}

// fileGone reports whether a file is no longer on the disk where another of its content has come. A catalog that several
// processes write to may be that of several machines: what is not on this one may lie on another.
func (r *ingestRun) fileGone(uri, now string) bool {
	file, isFile := FilePath(uri)
	if _, both := FilePath(now); !isFile || !both || r.locker() != nil {
		return false
	}
	_, err := os.Lstat(file)
	return errors.Is(err, fs.ErrNotExist)
}

// sameEnding counts the last parts of two paths that are the same.
func sameEnding(a, b string) int {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	n := 0
	for n < len(x) && n < len(y) && x[len(x)-1-n] == y[len(y)-1-n] {
		n++
	}
	return n
}

// goneEntries returns the documents of sources that are gone and that nobody claimed, by URI.
func (r *ingestRun) goneEntries() []Entry {
	var left []Entry
	for _, list := range r.gone {
		for _, g := range list {
			if g.first.URI != "" {
				left = append(left, g.first)
			}
			left = append(left, g.further...)
		}
	}
	slices.SortFunc(left, func(a, b Entry) int { return cmp.Compare(a.URI, b.URI) })
	return left
}
