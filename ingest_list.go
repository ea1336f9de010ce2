package rag

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// maxURI is the longest URI in bytes that stores must keep; bbolt takes keys of up to 32 KiB.
const maxURI = 16 << 10

// listedScope is a part of the URI space that a set of sources is complete for, but for what could not be listed.
type listedScope struct {
	prefix     string
	unreadable []string
}

// list walks the sources once, so that a rename can be told from a new file.
func (r *ingestRun) list(ctx context.Context) error {
	for _, set := range r.req.Sources {
		sc := listedScope{prefix: set.Scope}
		for src, err := range set.All {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if src.URI == "" {
				return fmt.Errorf("ingest: a source without a URI: %w", ErrInvalid)
			}
			if r.known[src.URI] || r.ownData(set, src.URI) || r.describes(src.URI) {
				continue
			}
			r.known[src.URI] = true
			if err == nil {
				err = checkURI(src)
			}
			switch {
			case errors.Is(err, ErrSkipped):
				if errors.Is(err, ErrLinkOutside) { // what lay below may have been moved there: it is not known to be gone
					sc.unreadable = append(sc.unreadable, src.URI)
				}
				note := SourceNote{src.URI, StageLoad, strings.TrimSuffix(err.Error(), ": "+ErrSkipped.Error())}
				r.report.Skipped = append(r.report.Skipped, note)
				r.ended(src.URI, ActionSkipped, note.Message)
			case err != nil:
				sc.unreadable = append(sc.unreadable, src.URI)
				r.fail(StageLoad, src.URI, err)
			default:
				r.sources = append(r.sources, src)
				r.tell(SourceStep{URI: src.URI, Stage: StageCheck})
			}
		}
		if sc.prefix != "" {
			r.scopes = append(r.scopes, sc)
		}
	}
	if len(r.scopes) == 0 {
		return nil
	}
	return r.readLedger(ctx)
}

// checkURI reports a URI that no source can have.
func checkURI(src Source) error {
	switch {
	case len(src.URI) > maxURI:
		return fmt.Errorf("its URI has %d bytes, the most is %d: %w", len(src.URI), maxURI, ErrInvalid)
	case src.stored == nil && SourceURI(src.URI) != src.URI:
		return fmt.Errorf("its URI ends in # and a number, as those of further documents of one source do: write %%23 for #, or another name: %w", ErrInvalid)
	}
	return nil
}

// ownData reports whether the URI lies in the engine's data folder and that lies in the set's folder: its files are no
// documents.
func (r *ingestRun) ownData(set Sources, uri string) bool {
	abs, err := filepath.Abs(r.dir)
	if r.dir == "" || err != nil {
		return false
	}
	data := FileURI(abs)
	return set.Scope != "" && under(data, set.Scope) && under(uri, data)
}

// inScopes reports whether a set was complete for the URI. What lies under a folder that could not be listed is not
// known to be gone.
func inScopes(uri string, scopes []listedScope) bool {
	return slices.ContainsFunc(scopes, func(sc listedScope) bool {
		return under(uri, sc.prefix) && !anyUnder(uri, sc.unreadable)
	})
}

// use notes that files beside a source are parts of it: a picture that a page shows is not passed over.
func (r *ingestRun) use(source string, parts []Part) {
	place, err := url.Parse(source)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range parts {
		from, name := place, p.Name
		if top, ok := strings.CutPrefix(name, "/"); ok {
			if from, err = url.Parse(r.scopeOf(source)); err != nil {
				continue
			}
			name = top
		}
		if p.Digest != [32]byte{} {
			r.used[from.ResolveReference(&url.URL{Path: name}).String()] = true
		}
	}
}

// scopeOf is that of the set a source was found in; "" if it was asked for by name.
func (r *ingestRun) scopeOf(uri string) string {
	if r.held != nil {
		return r.held.scope(uri)
	}
	for _, set := range r.req.Sources {
		if set.Scope != "" && under(uri, set.Scope) {
			return set.Scope
		}
	}
	return ""
}

// SourceURI returns the URI of the source that gave a document: without # and a number at its end, which the documents of
// a source after its first have.
func SourceURI(docURI string) string {
	i := strings.LastIndexByte(docURI, '#')
	if i < 0 || i+1 == len(docURI) || strings.Trim(docURI[i+1:], "0123456789") != "" {
		return docURI
	}
	return docURI[:i]
}

// under reports whether the URI is the prefix or lies below it.
func under(uri, prefix string) bool {
	p := strings.TrimSuffix(prefix, "/")
	return uri == p || strings.HasPrefix(uri, p+"/")
}

func anyUnder(uri string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return under(uri, p) })
}
