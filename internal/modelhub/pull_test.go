package modelhub_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/filelock"
	"github.com/seed-d8745b77/rag/internal/modelhub"
)

// puller returns a puller from the hub that does not wait, and the waits it was told to make.
func puller(h *hub) (*modelhub.Puller, *[]time.Duration) {
	var waits []time.Duration
	return &modelhub.Puller{Mirror: h.url + "/", Sleep: func(ctx context.Context, d time.Duration) error {
		waits = append(waits, d)
		return ctx.Err()
	}}, &waits
}

// mustPull pulls and checks that the folder holds what the hub has, and nothing is left beside it.
func mustPull(t *testing.T, h *hub, p *modelhub.Puller, card modelhub.Card, dir string) modelhub.Pulled {
	t.Helper()
	got, err := p.Pull(t.Context(), card, dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range h.files {
		if content, err := os.ReadFile(filepath.Join(dir, card.Name, name)); err != nil || string(content) != want {
			t.Errorf("%s: %d bytes, error %v: want the hub's %d", name, len(content), err, len(want))
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 || entries[0].Name() != ".pull-"+card.Name+".lock" {
		t.Errorf("%v are in the folder (error %v), want the model and its lock", entries, err)
	}
	inside, err := os.ReadDir(filepath.Join(dir, card.Name))
	if err != nil || len(inside) != len(modelhub.FileNames)+1 {
		t.Errorf("%v are in the model's folder (error %v), want its files and the manifest", inside, err)
	}
	return got
}

func proofs(p modelhub.Pulled) []string {
	var out []string
	for _, f := range p.Files {
		out = append(out, f.Name+" "+f.Proof)
	}
	return out
}

func TestPullBringsAllFilesAndProvesThem(t *testing.T) {
	for _, tt := range []struct {
		name     string
		pinned   bool
		plain    bool
		redirect bool
		want     string
	}{
		{"pinned", true, true, false, modelhub.ProofPinned},
		{"stated by the hub", false, false, false, modelhub.ProofHub},
		{"stated in a redirection", false, false, true, modelhub.ProofHub},
		{"known to nobody", false, true, false, modelhub.ProofNone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, dir := newHub(t), t.TempDir()
			h.plain, h.redirect = tt.plain, tt.redirect
			p, _ := puller(h)
			var last modelhub.Progress
			p.Progress = func(s modelhub.Progress) { last = s }
			got := mustPull(t, h, p, h.card(tt.pinned), dir)
			var want []string
			for _, name := range modelhub.FileNames {
				want = append(want, name+" "+tt.want)
			}
			if diff := cmp.Diff(want, proofs(got)); diff != "" || !got.Fetched {
				t.Errorf("fetched %v, files (-want +got):\n%s", got.Fetched, diff)
			}
			size := int64(len(h.files[modelhub.WeightsFile]))
			if last != (modelhub.Progress{File: modelhub.WeightsFile, Done: size, Total: size}) {
				t.Errorf("the last progress is %+v", last)
			}
			h.requests()
			if got := mustPull(t, h, p, h.card(tt.pinned), dir); got.Fetched || len(h.requests()) != 0 {
				t.Error("a second pull fetched again what was there")
			}
		})
	}
}

func TestPullGoesOnWhereItBroke(t *testing.T) {
	for name, noRange := range map[string]bool{"a hub that sends parts": false, "a hub that does not": true} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			h.noRange = noRange
			h.broken = func(w http.ResponseWriter, name string, n int) bool {
				if name == modelhub.WeightsFile && n == 3 {
					cut(w, h.files[name], 1000)
				}
				return false
			}
			p, waits := puller(h)
			mustPull(t, h, p, h.card(true), t.TempDir())
			want := []string{"config.json", "tokenizer.json", "model.safetensors", "model.safetensors from 1000"}
			if diff := cmp.Diff(want, h.requests()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]time.Duration{time.Second}, *waits); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPullGoesOnWhereAnEarlierOneEnded(t *testing.T) {
	for _, tt := range []struct {
		name   string
		part   func(weights string) string // what the earlier pull left of the weights
		pinned bool
		want   []string
	}{
		{"in the middle", func(w string) string { return w[:777] }, true, []string{"model.safetensors from 777"}},
		{"before it could check", func(w string) string { return w }, true, []string{"model.safetensors from 40000"}},
		{"with other bytes", func(string) string { return "xxxxxxx" }, true, []string{"model.safetensors from 7", "model.safetensors"}},
		{"with too many bytes", func(w string) string { return w + "x" }, true, []string{"model.safetensors"}},
		{"and nothing is pinned", func(w string) string { return w[:777] }, false, []string{"model.safetensors"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, dir := newHub(t), t.TempDir()
			card := h.card(tt.pinned)
			stage := filepath.Join(dir, ".pull-"+card.Name)
			if err := os.MkdirAll(stage, 0o755); err != nil {
				t.Fatal(err)
			}
			left := map[string]string{
				modelhub.ConfigFile: h.files[modelhub.ConfigFile], modelhub.TokenizerFile: h.files[modelhub.TokenizerFile],
				modelhub.WeightsFile + ".part": tt.part(h.files[modelhub.WeightsFile]),
			}
			for name, content := range left {
				if err := os.WriteFile(filepath.Join(stage, name), []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			p, _ := puller(h)
			mustPull(t, h, p, card, dir)
			want := tt.want
			if !tt.pinned { // what nothing proves is fetched again
				want = append([]string{"config.json", "tokenizer.json"}, want...)
			}
			if diff := cmp.Diff(want, h.requests()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPullTriesAgainWhenTheHubIsBusy(t *testing.T) {
	h := newHub(t)
	h.broken = func(w http.ResponseWriter, _ string, n int) bool {
		switch n {
		case 1:
			w.WriteHeader(http.StatusInternalServerError)
		case 2:
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			return false
		}
		return true
	}
	p, waits := puller(h)
	var told []time.Duration
	p.Retrying = func(err error, after time.Duration) {
		if !errors.Is(err, modelhub.ErrUnavailable) {
			t.Errorf("told of %v, want ErrUnavailable", err)
		}
		told = append(told, after)
	}
	mustPull(t, h, p, h.card(true), t.TempDir())
	want := []time.Duration{time.Second, 7 * time.Second}
	if diff := cmp.Diff(want, *waits); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told of waits (-want +got):\n%s", diff)
	}
}

func TestPullFails(t *testing.T) {
	for _, tt := range []struct {
		name   string
		pinned bool
		change func(h *hub, c *modelhub.Card)
		want   error
		text   string
		asked  int // requests
	}{
		{"other content than pinned", true, func(_ *hub, c *modelhub.Card) { c.Files[0].SHA256 = sha256Hex("another") }, modelhub.ErrMismatch, "it was not kept", 1},
		{"other content than stated", false, func(h *hub, _ *modelhub.Card) {
			h.broken = func(w http.ResponseWriter, _ string, _ int) bool {
				w.Header().Set("X-Linked-Etag", `"`+sha256Hex("another")+`"`)
				fmt.Fprint(w, "this")
				return true
			}
		}, modelhub.ErrMismatch, sha256Hex("another"), 1},
		{"more content than pinned", true, func(_ *hub, c *modelhub.Card) { c.Files[0].Size = 3 }, modelhub.ErrMismatch, "more than 3 bytes", 1},
		{"no such model", true, func(_ *hub, c *modelhub.Card) { c.Repository = "owner/none" }, modelhub.ErrNotFound, "404", 1},
		{"not allowed", true, func(h *hub, _ *modelhub.Card) {
			h.broken = func(w http.ResponseWriter, _ string, _ int) bool { w.WriteHeader(http.StatusForbidden); return true }
		}, modelhub.ErrUnavailable, "403", 1},
		{"always busy", true, func(h *hub, _ *modelhub.Card) {
			h.broken = func(w http.ResponseWriter, _ string, _ int) bool { w.WriteHeader(http.StatusBadGateway); return true }
		}, modelhub.ErrUnavailable, "502", 3},
		{"a shape that cannot be run", true, func(_ *hub, c *modelhub.Card) { c.Unsupported = "too large" }, modelhub.ErrUnsupported, "too large", 0},
		{"part of the program", true, func(_ *hub, c *modelhub.Card) { c.Repository = "" }, modelhub.ErrUnsupported, "nothing to fetch", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, dir := newHub(t), t.TempDir()
			card := h.card(tt.pinned)
			tt.change(h, &card)
			p, _ := puller(h)
			p.Attempts = 3
			_, err := p.Pull(t.Context(), card, dir)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got error %v, want %v with %q", err, tt.want, tt.text)
			}
			if n := len(h.requests()); n != tt.asked {
				t.Errorf("%d requests, want %d", n, tt.asked)
			}
			if _, err := os.Stat(filepath.Join(dir, card.Name)); err == nil {
				t.Error("a folder was left in the model's place")
			}
		})
	}
	t.Run("no address", func(t *testing.T) {
		h := newHub(t)
		for _, mirror := range []string{"example.org", "ftp://example.org", "http://", "::"} {
			p := &modelhub.Puller{Mirror: mirror}
			if _, err := p.Pull(t.Context(), h.card(true), t.TempDir()); !errors.Is(err, modelhub.ErrInvalid) {
				t.Errorf("mirror %q: got error %v, want ErrInvalid", mirror, err)
			}
		}
	})
}

func TestPullGivesUpOnAConnectionThatBringsNothing(t *testing.T) {
	h := newHub(t)
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	h.broken = func(w http.ResponseWriter, name string, n int) bool {
		if name != modelhub.WeightsFile || n > 3 {
			return false
		}
		content := h.files[name]
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		fmt.Fprint(w, content[:500])
		w.(http.Flusher).Flush()
		<-release
		return true
	}
	p, _ := puller(h)
	p.Stall = 20 * time.Millisecond
	mustPull(t, h, p, h.card(true), t.TempDir())
	want := []string{"config.json", "tokenizer.json", "model.safetensors", "model.safetensors from 500"}
	if diff := cmp.Diff(want, h.requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestPullEndsWithItsContextAndGoesOnLater(t *testing.T) {
	small := []string{"config.json", "tokenizer.json"}
	for _, tt := range []struct {
		name    string
		pinned  bool
		etag    string // of what came first
		changed bool   // the hub has another file by then
		want    []string
	}{
		{"pinned", true, "", false, nil},
		{"stated by the hub, which has the file still", false, `"of the storage"`, false, small},
		{"stated by the hub, which has another file", false, `"another"`, true, small},
		{"stated by the hub, without a strong tag", false, `W/"of the storage"`, true, small},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, dir := newHub(t), t.TempDir()
			h.redirect = true
			ctx, cancel := context.WithCancel(t.Context())
			h.broken = func(w http.ResponseWriter, name string, n int) bool {
				if n == 4 { // the weights, from the storage
					w.Header().Set("ETag", tt.etag)
					content := h.files[name]
					if tt.changed {
						content = strings.Repeat("x", len(content))
					}
					cut(w, content, 100)
				}
				return false
			}
			p, _ := puller(h)
			p.Progress = func(s modelhub.Progress) {
				if s.File == modelhub.WeightsFile && s.Done == 100 {
					cancel()
				}
			}
			if _, err := p.Pull(ctx, h.card(tt.pinned), dir); !errors.Is(err, context.Canceled) {
				t.Errorf("got error %v, want context.Canceled", err)
			}
			if _, err := os.Stat(filepath.Join(dir, "small")); err == nil {
				t.Error("half a model is in place")
			}
			h.requests()
			p.Progress = nil
			mustPull(t, h, p, h.card(tt.pinned), dir)
			from := " from 100"
			if tt.changed && strings.HasPrefix(tt.etag, "W/") {
				from = ""
			}
			want := append(slices.Clone(tt.want), "model.safetensors"+from, "model.safetensors"+from)
			if diff := cmp.Diff(want, h.requests()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOnePullWaitsForTheOther(t *testing.T) {
	h, dir := newHub(t), t.TempDir()
	begun, told := make(chan struct{}), make(chan int, 1)
	h.broken = func(_ http.ResponseWriter, _ string, n int) bool {
		if n == 3 { // the first pull is at it until the second has said that it waits
			close(begun)
			told <- <-told
		}
		return false
	}
	first, _ := puller(h)
	second, _ := puller(h)
	second.Waiting = func(pid int) { told <- pid }
	done := make(chan error, 1)
	go func() {
		_, err := first.Pull(t.Context(), h.card(true), dir)
		done <- err
	}()
	<-begun
	got := mustPull(t, h, second, h.card(true), dir)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if pid := <-told; pid != os.Getpid() || got.Fetched || len(h.requests()) != 3 {
		t.Errorf("told of process %d, fetched %v: want one pull of three files", pid, got.Fetched)
	}
}

func TestAPullThatWaitsEndsWithItsContext(t *testing.T) {
	h, dir := newHub(t), t.TempDir()
	lock, err := filelock.Take(filepath.Join(dir, ".pull-small.lock"), 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	p, _ := puller(h)
	p.Waiting = func(int) { cancel() }
	if _, err := p.Pull(ctx, h.card(true), dir); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("got error %v, want context.Canceled, and who pulls", err)
	}
	if err := lock.Release(true); err != nil {
		t.Fatal(err)
	}
	mustPull(t, h, p, h.card(true), dir)
}

func TestASwapThatWasCutShortLosesNothing(t *testing.T) {
	h, dir := newHub(t), t.TempDir()
	p, _ := puller(h)
	mustPull(t, h, p, h.card(true), dir)
	old := filepath.Join(dir, "small.old")
	if err := os.Rename(filepath.Join(dir, "small"), old); err != nil {
		t.Fatal(err)
	}
	t.Setenv(modelhub.DirVariable, "")
	if got, err := modelhub.Find("small", dir); err != nil || got != old {
		t.Errorf("found %q (error %v), want %q", got, err, old)
	}
	h.requests()
	if got := mustPull(t, h, p, h.card(true), dir); got.Fetched || len(h.requests()) != 0 {
		t.Errorf("fetched %v: want the model back in its place", got.Fetched)
	}
}

func TestPullReplacesADamagedModel(t *testing.T) {
	h, dir := newHub(t), t.TempDir()
	p, _ := puller(h)
	mustPull(t, h, p, h.card(false), dir)
	if err := os.WriteFile(filepath.Join(dir, "small", modelhub.WeightsFile), []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := mustPull(t, h, p, h.card(false), dir); !got.Fetched {
		t.Error("the damaged model was left alone")
	}
}
