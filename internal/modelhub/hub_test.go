package modelhub_test

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag/internal/modelhub"
)

const revision = "0123456789abcdef0123456789abcdef01234567"

// hub is a model hub that a test can break. Set the fields before the first request.
type hub struct {
	url      string
	files    map[string]string
	noRange  bool // send whole files whatever is asked for
	plain    bool // state no digests
	redirect bool // send the weights from another path, as hubs do
	// broken, if not nil, may answer in place of the hub; it then returns true. n counts the requests from 1.
	broken func(w http.ResponseWriter, name string, n int) bool

	mu   sync.Mutex
	n    int
	seen []string
}

// newHub starts a hub with a model of three small files.
func newHub(t *testing.T) *hub {
	t.Helper()
	h := &hub{files: map[string]string{
		modelhub.ConfigFile:    `{"model_type": "bert"}`,
		modelhub.TokenizerFile: `{"version": "1.0"}`,
		modelhub.WeightsFile:   strings.Repeat("weights ", 5000),
	}}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	h.url = s.URL
	return h
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := path.Base(r.URL.Path)
	n := h.note(name, r.Header.Get("Range"))
	stored := strings.HasPrefix(r.URL.Path, "/storage/")
	content, ok := h.files[name]
	if !ok || !stored && r.URL.Path != "/owner/model/resolve/"+revision+"/"+name {
		http.NotFound(w, r)
		return
	}
	if h.broken != nil && h.broken(w, name, n) {
		return
	}
	switch {
	case stored:
		w.Header().Set("ETag", `"of the storage"`)
	case h.plain:
	case name == modelhub.WeightsFile:
		w.Header().Set("X-Linked-Etag", `"`+sha256Hex(content)+`"`)
	default:
		w.Header().Set("X-Repo-Commit", revision)
		w.Header().Set("ETag", `"`+gitHex(content)+`"`)
	}
	switch {
	case h.redirect && !stored && name == modelhub.WeightsFile:
		http.Redirect(w, r, "/storage/"+name, http.StatusFound)
	case h.noRange:
		fmt.Fprint(w, content)
	default:
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(content))
	}
}

// note writes a request down as "name" or "name from 5" and returns how many there were.
func (h *hub) note(name, from string) int {
	if from != "" {
		name += " from " + strings.TrimSuffix(strings.TrimPrefix(from, "bytes="), "-")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, name)
	h.n++
	return h.n
}

// requests returns what was asked for since the last call.
func (h *hub) requests() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	seen := h.seen
	h.seen = nil
	return seen
}

// card describes the hub's model and pins all of its files, or none.
func (h *hub) card(pinned bool) modelhub.Card {
	c := modelhub.Card{Name: "small", Task: modelhub.TaskEmbed, Repository: "owner/model", Revision: revision}
	if pinned {
		for _, name := range modelhub.FileNames {
			content := h.files[name]
			c.Files = append(c.Files, modelhub.File{Name: name, Size: int64(len(content)), SHA256: sha256Hex(content)})
		}
	}
	return c
}

// cut sends the header of a whole file and the first bytes of its content, then breaks the connection.
func cut(w http.ResponseWriter, content string, bytes int) {
	w.Header().Set("Content-Length", fmt.Sprint(len(content)))
	fmt.Fprint(w, content[:bytes])
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	panic(http.ErrAbortHandler)
}

func sha256Hex(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func gitHex(s string) string {
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(s), s))
	return hex.EncodeToString(sum[:])
}
