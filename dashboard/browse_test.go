package dashboard

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/domain"
)

// read asks for a page as JSON.
func read[T any](t *testing.T, s *Server, target string) (view T) {
	t.Helper()
	mark := "?"
	if strings.Contains(target, "?") {
		mark = "&"
	}
	target, _, _ = strings.Cut(target, "#")
	code, _, body := get(t, s, target+mark+"format=json")
	if code != 200 {
		t.Fatalf("%s: %d\n%s", target, code, body)
	}
	if err := json.Unmarshal([]byte(body), &view); err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	return view
}

func titles(v browseView) (names []string) {
	for _, d := range v.Documents {
		names = append(names, d.Title)
	}
	return names
}

const programs = `
name: admissions
fields:
  country: {type: string, enum: {United Kingdom: [UK], Germany: []}, filterable: true}
  year: {type: number, filterable: true}
  open: {type: bool, filterable: true}
  note: {type: string}
  valid_until: {type: date}
validity: {until: valid_until, time_zone: UTC}
`

// admissions is a server over three documents of a domain, which the collection remembers, on the first of June 2026.
func admissions(t *testing.T) *Server {
	t.Helper()
	d, err := domain.Parse("admissions.yaml", []byte(programs))
	if err != nil {
		t.Fatal(err)
	}
	eng := engine(t)
	for name, front := range map[string]string{
		"old":     "country: UK\nyear: 2024\nopen: false\nvalid_until: 2025-12-31",
		"new":     "country: UK\nyear: 2026\nopen: true\nvalid_until: 2026-12-31",
		"undated": "country: Germany\nyear: 2026\nopen: true",
	} {
		src := rag.Bytes("file:///docs/"+name+".md", []byte("---\ntitle: "+name+"\n"+front+"\n---\n# Fees\n\nThe fee of the program is due in autumn.\n\n## Visa\n\nA visa is needed.\n"))
		if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Domain: d, Sources: []rag.Sources{src}}); err != nil {
			t.Fatal(err)
		}
	}
	return server(t, eng, Options{Now: func() time.Time { return time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC) }})
}

func TestBrowseFilters(t *testing.T) {
	s := admissions(t)
	for query, want := range map[string][]string{
		"":                                       {"new", "old", "undated"},
		"f.country=UK":                           {"new", "old"},
		"f.country=uk&f.year=2026":               {"new"},
		"f.open=true":                            {"new", "undated"},
		"filter=year+%3E+2025":                   {"new", "undated"},
		"filter=year+%3E+2025&f.country=Germany": {"undated"},
		"status=current":                         {"new"},
		"status=expired":                         {"old"},
		"status=needs_review":                    {"undated"},
		"status=current&as_of=2025-06-01":        {"new", "old"},
		"prefix=/docs/n":                         {"new"},
		"prefix=file:///docs/u&f.year=2026":      {"undated"},
		"filter=year+%3D+1999":                   nil,
	} {
		v := read[browseView](t, s, "/browse?"+query)
		if diff := cmp.Diff(want, titles(v)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
		if v.Form.Any != (query != "") {
			t.Errorf("%s: the form says that anything is asked for: %v", query, v.Form.Any)
		}
	}
	for query, want := range map[string]string{
		"filter=year+%3D%3D+3": "column 6", "f.year=many": "year", "f.country=Atlantis": "Atlantis", "status=odd": "odd", "as_of=tomorrow": "tomorrow",
	} {
		code, _, body := get(t, s, "/browse?"+query)
		if code != 400 || !strings.Contains(body, want) || !strings.Contains(body, `data-testid="browse-form"`) {
			t.Errorf("%s: %d; want 400, a cause with %q, and the form", query, code, want)
		}
	}
	if code, _, body := get(t, s, "/browse?collection=nowhere"); code != 404 || !strings.Contains(body, "nowhere") {
		t.Errorf("an unknown collection: %d; want 404 with its name", code)
	}
}

func TestBrowseWithoutTheConfiguredCollection(t *testing.T) {
	eng := engine(t)
	for _, name := range []string{"otters", "herons"} {
		if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Collection: name, Sources: []rag.Sources{rag.Bytes("file:///"+name+".md", []byte("Of "+name+"."))}}); err != nil {
			t.Fatal(err)
		}
	}
	s := server(t, eng, Options{})
	if v := read[browseView](t, s, "/browse"); v.Collection != "herons" || len(v.Documents) != 1 {
		t.Errorf("%d documents of %q are shown; want those of the first collection", len(v.Documents), v.Collection)
	}
	if _, _, body := get(t, s, "/"); !strings.Contains(body, "/browse?collection=herons") {
		t.Error("the navigation does not go on with the collection")
	}
}

func TestBrowsePages(t *testing.T) {
	eng := engine(t)
	texts := map[string]string{}
	for i := range 2*pageSize + 3 {
		texts[fmt.Sprintf("file:///docs/%03d.md", i)] = fmt.Sprintf("# Paper %d\n\nOf herons.\n", i)
	}
	ingest(t, eng, texts)
	s := server(t, eng, Options{BasePath: "/kb"})
	var seen []string
	pages := 0
	for next := "/kb/browse"; next != ""; pages++ {
		v := read[browseView](t, s, next)
		for _, d := range v.Documents {
			seen = append(seen, d.URI)
		}
		if (v.Pager.First != "") != (pages > 0) {
			t.Errorf("page %d leads to the first one: %q", pages, v.Pager.First)
		}
		next = v.Pager.Next
	}
	if want := slices.Sorted(maps.Keys(texts)); !slices.Equal(seen, want) || pages != 3 {
		t.Errorf("%d pages hold %d documents; want 3 with %d, each once and by URI", pages, len(seen), len(want))
	}
}

func TestBrowseLooksSoFar(t *testing.T) {
	s := server(t, large(t, lookLimit+100, 1), Options{})
	v := read[browseView](t, s, fmt.Sprintf("/browse?filter=number+%%3D+%d", lookLimit+50))
	if len(v.Documents) != 0 || v.Looked != lookLimit || v.Pager.Next == "" {
		t.Fatalf("the first page has %d documents, looked at %d, next %q; want none, %d, and a next page", len(v.Documents), v.Looked, v.Pager.Next, lookLimit)
	}
	if v = read[browseView](t, s, v.Pager.Next); len(v.Documents) != 1 || v.Pager.Next != "" || v.Looked != 0 {
		t.Errorf("the second page has %d documents, looked at %d, next %q; want 1, to the end", len(v.Documents), v.Looked, v.Pager.Next)
	}
}

func TestLookUp(t *testing.T) {
	s := admissions(t)
	v := read[browseView](t, s, "/browse?q=visa&f.country=UK&status=current")
	if len(v.Found) != 1 || v.Found[0].Title != "new" || v.Found[0].Status != rag.StatusCurrent || v.TraceID == "" {
		t.Fatalf("found %+v; want the passage of new", v.Found)
	}
	marked := ""
	for _, p := range v.Found[0].Snippet {
		if p.Mark {
			marked += p.Text + " "
		}
	}
	if !strings.Contains(marked, "visa") {
		t.Errorf("the words that were found are %q; want visa", marked)
	}
	doc := read[documentView](t, s, v.Found[0].URL)
	if doc.Row.Title != "new" || doc.Chunk != v.Found[0].ChunkID {
		t.Errorf("the link leads to %q of %s", doc.Chunk, doc.Row.Title)
	}
	if v := read[browseView](t, s, "/browse?q=visa&prefix=/docs/old"); len(v.Found) != 1 || v.Found[0].Title != "old" {
		t.Errorf("below /docs/old stands %+v", v.Found)
	}
}

func TestSnippet(t *testing.T) {
	long := strings.Repeat("äöü ", 200) + "heron" + strings.Repeat(" äöü", 200)
	at := strings.Index(long, "heron")
	var text, marked string
	for _, p := range snippet(long, []rag.TextRange{{Start: at, End: at + 5}}) {
		if text += p.Text; p.Mark {
			marked += p.Text
		}
	}
	if marked != "heron" || len(text) > snippetBytes+20 || strings.ContainsRune(text, '\uFFFD') || !strings.HasPrefix(text, "… ") || !strings.HasSuffix(text, " …") {
		t.Errorf("the snippet is %q, marked %q", text, marked)
	}
	if got := snippet("short", nil); !slices.Equal(got, []piece{{"short", false}}) {
		t.Errorf("a short text is %v", got)
	}
}

func TestDocument(t *testing.T) {
	eng := engine(t)
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "## Part %d\n\n%s\n\n", i, strings.Repeat(fmt.Sprintf("The heron of part %d wades through the water. ", i), 30))
	}
	ingest(t, eng, map[string]string{"file:///docs/long.md": text.String()})
	s := server(t, eng, Options{})
	page := "/browse/default/doc?uri=" + url.QueryEscape("file:///docs/long.md")
	doc, err := eng.Document(t.Context(), "", "file:///docs/long.md")
	if err != nil {
		t.Fatal(err)
	}

	var whole strings.Builder
	seen := map[string]bool{}
	end := 0
	for next := page + "&tab=text"; next != ""; {
		v := read[documentView](t, s, next)
		for _, seg := range v.Text {
			whole.WriteString(seg.Text)
			for _, b := range seg.Begins {
				seen[b.ID] = true
			}
		}
		next = v.Next
		end++
	}
	entry, err := eng.Entry(t.Context(), "", "file:///docs/long.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) != len(entry.Chunks) || end < 3 {
		t.Errorf("%d pages of text show where %d chunks begin; want %d", end, len(seen), len(entry.Chunks))
	}
	// Pages overlap where chunks do, and leave out only the blank space between two of them.
	if got, want := squeeze(whole.String()), squeeze(doc.Text); len(got) < len(want) {
		t.Errorf("the pages have %d bytes of text; want %d at least", len(got), len(want))
	}

	chosen := entry.Chunks[47].ID
	v := read[documentView](t, s, page+"&chunk="+chosen)
	marked := ""
	for _, seg := range v.Text {
		if seg.Chosen {
			marked += seg.Text
		}
	}
	chunk, err := eng.Chunk(t.Context(), "", chosen)
	if err != nil {
		t.Fatal(err)
	}
	if marked != chunk.Text || v.From != 40 {
		t.Errorf("from chunk %d on, the text %.60q is marked; want %.60q from 40 on", v.From, marked, chunk.Text)
	}
	cards := read[documentView](t, s, page+"&tab=chunks&chunk="+chosen).Cards
	if len(cards) != chunksOnPage || cards[7].ID != chosen || !cards[7].Chosen || cards[7].Text != chunk.Text || cards[7].Tokens == 0 {
		t.Errorf("the chunk is not among the %d cards", len(cards))
	}
	if code, _, body := get(t, s, page+"&chunk=gone"); code != 404 || !strings.Contains(body, "gone") {
		t.Errorf("a chunk that is gone: %d; want 404", code)
	}
	if code, _, _ := get(t, s, "/browse/default/doc?uri=nowhere"); code != 404 {
		t.Errorf("a document that is not there: %d; want 404", code)
	}
}

// squeeze leaves out blank space.
func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

func TestSegments(t *testing.T) {
	text := "head AAAA BBBB tail"
	chunk := func(ordinal, start, end int) rag.Chunk {
		return rag.Chunk{ID: fmt.Sprint("c", ordinal), Ordinal: ordinal, Start: start, End: end}
	}
	for _, test := range []struct {
		name        string
		chunks      []rag.Chunk
		first, last bool
		want        string // kind:text, * before what is chosen
	}{
		{"apart", []rag.Chunk{chunk(0, 5, 9), chunk(1, 10, 14)}, true, true, "gap:head |even:AAAA|gap: |*odd:BBBB|gap: tail"},
		{"inside", []rag.Chunk{chunk(0, 5, 9), chunk(1, 10, 14)}, false, false, "even:AAAA|gap: |*odd:BBBB"},
		{"overlapping", []rag.Chunk{chunk(0, 0, 12), chunk(1, 10, 19)}, true, true, "even:head AAAA |*overlap:BB|*odd:BB tail"},
		{"the text is shorter by now", []rag.Chunk{chunk(0, 5, 40)}, true, true, "gap:head |even:AAAA BBBB tail"},
		{"none", nil, true, true, "gap:head AAAA BBBB tail"},
	} {
		var got []string
		for _, s := range segments(text, test.chunks, "c1", test.first, test.last) {
			mark := ""
			if s.Chosen {
				mark = "*"
			}
			got = append(got, mark+s.Kind+":"+s.Text)
		}
		if diff := cmp.Diff(test.want, strings.Join(got, "|")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
