package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag/trace"
)

// key is a row of a table of the reference.
type key struct {
	sometimes bool // may be absent
	open      bool // its own keys are described elsewhere, or are the user's
}

// documentedKeys returns the keys that the reference lists below a heading.
func documentedKeys(t *testing.T, heading string) map[string]key {
	t.Helper()
	_, rest, ok := strings.Cut(reference, "\n### "+heading+"\n")
	if !ok {
		t.Fatalf("the reference has no part %q", heading)
	}
	part, _, _ := strings.Cut(rest, "\n### ")
	keys := map[string]key{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [^|]+ \\| ([^|]+) \\|$").FindAllStringSubmatch(part, -1) {
		keys[m[1]] = key{sometimes: strings.HasPrefix(m[2], "*sometimes*")}
	}
	if len(keys) == 0 {
		t.Fatalf("the part %q of the reference lists no keys", heading)
	}
	for path, k := range keys { // an object without documented keys is open
		k.open = true
		for other := range keys {
			if strings.HasPrefix(other, path+".") || strings.HasPrefix(other, path+"[].") {
				k.open = false
			}
		}
		keys[path] = k
	}
	return keys
}

// keysOf collects the paths of the keys in decoded JSON, down to the open ones, and the paths of the objects they
// stand in.
func keysOf(v any, at string, documented map[string]key, keys, objects map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		objects[at] = true
		for name, value := range v {
			path := strings.TrimPrefix(at+"."+name, ".")
			keys[path] = true
			if !documented[path].open {
				keysOf(value, path, documented, keys, objects)
			}
		}
	case []any:
		for _, e := range v {
			keysOf(e, at+"[]", documented, keys, objects)
		}
	}
}

// parent is the path of the object that a key stands in; "" for the outermost.
func parent(path string) string { return path[:max(0, strings.LastIndexByte(path, '.'))] }

// checkJSON checks that a run printed exactly the keys that the reference lists below a heading.
func checkJSON(t *testing.T, heading string, o outcome) {
	t.Helper()
	documented := documentedKeys(t, heading)
	var v map[string]any
	o.into(&v)
	printed, objects := map[string]bool{}, map[string]bool{}
	keysOf(v, "", documented, printed, objects)
	for path := range printed {
		if _, ok := documented[path]; !ok {
			t.Errorf("%s: %s is printed and not documented", heading, path)
		}
	}
	for path, k := range documented {
		if !printed[path] && !k.sometimes && objects[parent(path)] {
			t.Errorf("%s: %s is documented and not printed:\n%s", heading, path, o.stdout)
		}
	}
}

// Every key that is printed is documented, and every documented key is printed.
func TestJSONIsWhatTheReferenceSays(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.write("none.yaml", "embedder: none\n")
	s.write("docs/picture.bin", "\x00\x01\x02\x03")
	s.write("docs/empty.md", "")
	s.write("docs/picture.md", "# Picture\n\nText.\n")

	check := func(heading string, o outcome) {
		t.Helper()
		checkJSON(t, heading, o)
	}

	check("Errors", s.rag("list", "--json").want(exitFailed))
	check("JSON of ingest", s.rag("ingest", "docs", "nothing", "--dry-run", "--json").want(exitPartial))
	check("JSON of ingest", s.rag("ingest", "docs", "nothing", "--json").want(exitPartial))
	check("JSON of search", s.rag("search", "notice period", "--explain", "--json").want(exitDone))
	var res searchOutput
	s.rag("search", "notice period", "--json").want(exitDone).into(&res)
	check("JSON of list", s.rag("list", "--json").want(exitDone))
	check("JSON of list", s.rag("list", "--as-of", "2026-03-01", "--json").want(exitDone))
	check("JSON of list documents", s.rag("list", "documents", "--json").want(exitDone))
	check("JSON of show", s.rag("show", "docs/leave.md", "--json").want(exitDone))
	check("JSON of show", s.rag("show", "docs/empty.md", "--json").want(exitDone))
	check("JSON of show for a passage", s.rag("show", res.Hits[0].ChunkID, "--json").want(exitDone))
	check("JSON of load", s.rag("load", "docs/leave.md", "--json").want(exitDone))
	check("JSON of verify", s.rag("verify", "--json").want(exitDone))
	check("JSON of reindex", s.rag("reindex", "--json").want(exitDone))
	check("JSON of compact", s.rag("compact", "--json").want(exitDone))
	check("JSON of backup", s.rag("backup", "b", "--json").want(exitDone))
	check("JSON of restore", s.rag("restore", "b", "--dir", "again", "--json").want(exitDone))
	check("JSON of export", s.rag("export", "e", "--json").want(exitDone))
	check("JSON of ingest", s.rag("import", "e", "--collection", "second", "--json").want(exitDone))
	check("JSON of explain", s.rag("explain", "notice period", "--chunk", res.Hits[0].ChunkID, "--json").want(exitDone))
	check("JSON of explain", s.rag("explain", "notice period", "--document", "docs/leave.md", "--json").want(exitDone))
	check("JSON of explain", s.rag("explain", "notice period", "--text", "coffee machine", "-k", "1", "--json").want(exitDone))
	var kept trace.Page
	check("JSON of trace list", s.rag("trace", "list", "--json").want(exitDone).into(&kept))
	check("JSON of trace show", s.rag("trace", "show", kept.Traces[0].ID, "--json").want(exitDone))
	check("JSON of config print", s.rag("config", "print", "--json").want(exitDone))
	check("JSON of config path", s.rag("config", "path", "--json").want(exitDone))
	check("JSON of config check", s.rag("config", "check", "--json").want(exitDone))
	check("JSON of init", s.rag("init", "--json").want(exitDone))
	check("JSON of delete", s.rag("delete", "docs/notes.txt", "docs/nothing.md", "--json").want(exitPartial))
}
