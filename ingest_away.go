package rag

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// maxAway is how many sources that are gone a collection remembers something of: all stand in its header, which every search
// reads.
const maxAway = 4096

// note adds a remark on a source to the report.
func (r *ingestRun) note(uri, stage, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Warnings = append(r.report.Warnings, SourceNote{uri, stage, fmt.Sprintf(format, args...)})
}

// whileAway returns what had been given with a source before a prune removed it; nil if nothing is known, or it is there.
func (r *ingestRun) whileAway(uri string, was *Entry) *Given {
	if was.URI != "" {
		return nil
	}
	i := slices.IndexFunc(r.header.Away, func(a AwaySource) bool { return a.URI == uri })
	if i < 0 {
		return nil
	}
	return &r.header.Away[i].Given
}

// putAway has the collection remember what was given with the sources of documents that a prune is about to remove, and says
// of which: a file that has another name and other content now cannot be told from a new one.
func (r *ingestRun) putAway(removed []Entry) {
	var left []AwaySource
	for _, entry := range removed {
		if entry.URI == SourceURI(entry.URI) && entry.Given != nil && !entry.Given.empty() {
			left = append(left, AwaySource{entry.URI, *entry.Given})
			r.note(entry.URI, StageClean, "its file is gone, and the document goes with the metadata that an earlier ingest was given, such as by a manifest: they count again when a file of this name comes back; if it was renamed and edited, name the manifest again, with its new name (--manifest)")
		}
	}
	before := len(r.header.Away)
	r.header.forget(urisOf(removed)) // also of those that had nothing at last
	r.newRules = r.newRules || len(left) > 0 || len(r.header.Away) < before
	r.header.Away = slices.Concat(r.header.Away, left)
	if over := len(r.header.Away) - maxAway; over > 0 {
		for _, old := range r.header.Away[:over] {
			r.note(old.URI, StageClean, "what an earlier ingest was given with it is remembered no longer, since %d files are gone after it: name the manifest again (--manifest) when it comes back", maxAway)
		}
		r.header.Away = r.header.Away[over:]
	}
}

func urisOf(entries []Entry) []string {
	uris := make([]string, len(entries))
	for i := range entries {
		uris[i] = entries[i].URI
	}
	return uris
}

// forgetAway drops what is remembered of sources that have come back, and, where this ingest is to forget, of what lies among
// its sources.
func (r *ingestRun) forgetAway() {
	before := len(r.header.Away)
	r.header.Away = slices.DeleteFunc(slices.Clone(r.header.Away), func(a AwaySource) bool {
		return r.cameBack[a.URI] || r.req.Forget && (r.known[a.URI] || inScopes(a.URI, r.scopes))
	})
	r.newRules = r.newRules || len(r.header.Away) < before
}

// forget drops what is remembered of sources that are gone, by URI; one that ends in a slash means every source below it. It
// returns those of the URIs that meant one, once for each source.
func (h *Header) forget(uris []string) (known []string) {
	exact, folders := map[string]bool{}, []string{}
	for _, uri := range uris {
		if strings.HasSuffix(uri, "/") {
			folders = append(folders, uri)
		} else {
			exact[uri] = true
		}
	}
	kept := make([]AwaySource, 0, len(h.Away))
	for _, a := range h.Away {
		below := slices.IndexFunc(folders, func(folder string) bool { return strings.HasPrefix(a.URI, folder) })
		switch {
		case exact[a.URI]:
			known = append(known, a.URI)
		case below >= 0:
			known = append(known, folders[below])
		default:
			kept = append(kept, a)
		}
	}
	if len(known) > 0 {
		h.Away = kept
	}
	return known
}

// compareNames warns of a file whose content is now what another one's was, of which something else was said. What is said
// belongs to the path as long as there is a file, as it would by a manifest that is read again.
func (r *ingestRun) compareNames(ctx context.Context, rd *reading, old *Entry) error {
	want := &rd.want
	given := want.Given != nil && !rd.kept && !want.Given.empty()
	if old.URI != want.URI || old.Digest == want.Digest || given || r.req.Forget || rd.loader == "" || r.held != nil {
		return nil
	}
	if err := r.readLedger(ctx); err != nil {
		return err
	}
	for _, other := range r.told[want.Digest] {
		if other.URI != want.URI && !sameGiven(&other.Given, *want.Given) {
			r.note(want.URI, StageLoad, "it has the content that %s had, of which an earlier ingest was given other metadata: these stay with the path; if the files changed names, name the manifest as it is now (--manifest)", other.URI)
			break
		}
	}
	return nil
}
