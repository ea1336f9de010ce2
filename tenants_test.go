package rag_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/probe"
)

// marked ingests the documents of two tenants, and teaches a prober the names of the second's.
func marked(t *testing.T, eng *rag.Engine, p *probe.Prober) {
	t.Helper()
	shared, hidden := probe.Documents()
	for collection, docs := range map[string]map[string]string{"default": shared, probe.Hidden(): hidden} {
		all := func(yield func(rag.Source, error) bool) {
			for _, name := range slices.Sorted(maps.Keys(docs)) {
				src := rag.Source{URI: "mem:docs/" + name, Size: int64(len(docs[name])), Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(docs[name])), nil }}
				src.Beside = func(_ context.Context, name string) (io.ReadCloser, error) {
					if name == "" {
						return nil, rag.ErrNotFound
					}
					return io.NopCloser(bytes.NewReader(probe.Picture(name))), nil
				}
				if !yield(src, nil) {
					return
				}
			}
		}
		if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Collection: collection, Sources: []rag.Sources{{All: all}}}); err != nil {
			t.Fatal(err)
		}
		pictures := 0
		for c, err := range eng.Chunks(t.Context(), collection, rag.Eq("tenant", "blue")) {
			if err != nil {
				t.Fatal(err)
			}
			p.Learn(c.ID, c.DocID, c.URI)
			for _, m := range c.Images {
				p.Learn(m.ID)
				pictures++
			}
		}
		if collection == "default" && pictures == 0 {
			t.Fatal("the other tenant has no picture")
		}
	}
}

// A view tells nothing of what lies outside, whatever it is asked, in results, traces, notes and errors.
func TestTenantsStayApart(t *testing.T) {
	f, p := newFixture(t), probe.New(t)
	marked(t, f.Engine, p)
	if _, err := f.Search(t.Context(), rag.Query{Text: "where is " + probe.Mark("question") + " kept"}); err != nil {
		t.Fatal(err)
	}
	red := f.Scoped(rag.Eq("tenant", "red"))
	own := 0
	for range probe.Requests {
		what, reply := scopedCall(t, red, p)
		if leak := p.Leak(what, reply); leak != "" {
			t.Fatalf("%s tells %q: %s", what, leak, reply)
		}
		if strings.Contains(reply, probe.Own) && !strings.Contains(what, probe.Own) {
			own++
		}
	}
	if own < 50 {
		t.Errorf("only %d replies have a passage of the tenant's own: the test shows little", own)
	}
	infos, err := f.Collections(t.Context())
	if err != nil || len(infos) != 2 || infos[0].Documents+infos[1].Documents != 5 {
		t.Errorf("something was deleted: %+v, %v", infos, err)
	}
}

// scopedCall makes one call of a view, and returns what was asked, and all that came back as text.
func scopedCall(t *testing.T, red *rag.Engine, p *probe.Prober) (what, reply string) {
	t.Helper()
	ctx, collection, name := t.Context(), p.Collection(), p.Name()
	filter, err := rag.ParseFilter(p.Filter())
	if err != nil {
		filter = rag.Not(rag.Eq("tenant", p.Name()))
	}
	q := rag.Query{
		Text: p.Question(), Collection: collection, Filter: filter, TopK: p.N(30) - 1, Mode: rag.Mode(p.Pick("", "hybrid", "dense", "sparse", "sparse", "magic")), Explain: true,
		Match: rag.TextMatch{Phrase: p.N(2) == 0, Prefix: p.N(2) == 0, Fuzzy: p.N(3)}, Neighbours: new(p.N(3)), Parent: new(p.N(2) == 0), Expired: p.N(2) == 0,
	}
	if p.N(4) == 0 {
		q.AsOf = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	if p.N(4) == 0 {
		q.Also = []rag.SubQuery{{Text: p.Question()}}
	}
	asked := fmt.Sprintf("%+v %s %s", q, filter, name)
	told := func(call string, v any, err error) (string, string) {
		text, bad := json.Marshal(v)
		if bad != nil {
			t.Fatalf("%s: %v", call, bad)
		}
		reply := fmt.Sprintf("%s %+v", text, v)
		for e := err; e != nil; e = errors.Unwrap(e) {
			reply += " " + e.Error()
		}
		return call + " " + collection + " " + asked, reply
	}
	switch p.N(16) {
	case 0, 1, 2:
		v, err := red.Search(ctx, q)
		return told("search", v, err)
	case 3, 4:
		v, err := red.Ask(ctx, rag.AskRequest{Query: q, Turns: []rag.ChatMessage{{Role: rag.RoleUser, Text: p.Question()}}})
		return told("ask", v, err)
	case 5, 6:
		v, err := red.Explain(ctx, q, [...]rag.ExplainTarget{{ChunkID: name}, {URI: name}, {Text: name}, {Text: "heron of red"}, {URI: "mem:docs/red.md"}}[p.N(5)])
		return told("explain", v, err)
	case 7:
		v, err := red.Entry(ctx, collection, name)
		return told("entry", v, err)
	case 8:
		v, err := red.Document(ctx, collection, p.Pick(name, name, "mem:docs/red.md"))
		return told("document", v, err)
	case 9:
		v, err := red.Chunk(ctx, collection, name)
		return told("chunk", v, err)
	case 10:
		v, err := red.Image(ctx, collection, name)
		if p.Leak("", "", v) != "" {
			t.Fatalf("the picture %s is given", name)
		}
		return told("image", nil, err)
	case 11:
		var all []rag.Entry
		var err error
		for e, bad := range red.DocumentsAfter(ctx, collection, p.Pick("", "", "mem:", name), p.Pick("", "", name)) {
			all, err = append(all, e), errors.Join(err, bad)
		}
		return told("documents", all, err)
	case 12:
		var all []rag.Chunk
		var err error
		for c, bad := range red.Chunks(ctx, collection, filter) {
			all, err = append(all, c), errors.Join(err, bad)
		}
		return told("chunks", all, err)
	case 13:
		v, err := red.Collections(ctx)
		s, bad := red.Statuses(ctx, collection, q.AsOf)
		return told("collections", []any{v, s, red.Components()}, errors.Join(err, bad))
	case 14:
		v, err := red.Delete(ctx, rag.DeleteRequest{Collection: collection, URIs: []string{name}, Filter: filter, DryRun: p.N(2) == 0})
		return told("delete", v, err)
	}
	var b bytes.Buffer
	v, err := red.Export(ctx, collection, &b)
	d, bad := red.Ingest(ctx, rag.IngestRequest{Collection: collection, DryRun: true, Sources: []rag.Sources{rag.Bytes(name, []byte("The "+probe.Mark("text")+" badger of blue"))}})
	what, reply = told("export, dry run", []any{v, d}, errors.Join(err, bad))
	return what + probe.Mark("text") + "badger of blue", reply + b.String()
}
