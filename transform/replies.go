package transform

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/datafile"
)

// Replies keeps replies of chat models, so that no run asks twice what an earlier one was told. It saves time and money
// and decides nothing: its files may be deleted at any time, and one that is damaged is not there. It is safe for
// concurrent use, also by several processes.
type Replies struct {
	dir string // "": in memory

	mu     sync.Mutex
	memory map[string]string
	asked  map[string]chan struct{} // closed when the question under way has its reply, or none
}

// NewReplies keeps replies in a folder, a file each; with "" in memory.
func NewReplies(dir string) *Replies {
	return &Replies{dir: dir, memory: map[string]string{}, asked: map[string]chan struct{}{}}
}

// Bounds of what is kept. A reply has some hundred bytes.
const (
	maxKept  = 10_000 // in memory; beyond it no more are
	maxShard = 1_000  // files in one of the 256 folders; those not used for longest go
)

// turn waits until nobody else asks for the reply named key, so that what two documents share is asked once. Its end
// must be called, also if there was no reply. An error is that of ctx.
func (r *Replies) turn(ctx context.Context, key string) (end func(), err error) {
	for {
		r.mu.Lock()
		other, busy := r.asked[key]
		if !busy {
			mine := make(chan struct{})
			r.asked[key] = mine
			r.mu.Unlock()
			return func() {
				r.mu.Lock()
				delete(r.asked, key)
				r.mu.Unlock()
				close(mine)
			}, nil
		}
		r.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// replyKey names the reply to a request. Pictures are named by about, since the one who asks knows their digest.
func replyKey(asker, about string, req rag.ChatRequest) string {
	h := sha256.New()
	for _, part := range []string{asker, about, string(req.Schema)} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	for _, m := range req.Messages {
		fmt.Fprintf(h, "%d:%s%d:%s", len(m.Role), m.Role, len(m.Text), m.Text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// keptReply is a file's content. Sum tells a whole file from one that a crash or a disk has hurt.
type keptReply struct {
	Reply string `json:"reply"`
	Sum   string `json:"sum"`
}

func (r *Replies) path(key string) string { return filepath.Join(r.dir, key[:2], key+".json") }

func replySum(reply string) string {
	sum := sha256.Sum256([]byte(reply))
	return hex.EncodeToString(sum[:8])
}

func (r *Replies) get(key string) (string, bool) {
	if r.dir == "" {
		r.mu.Lock()
		defer r.mu.Unlock()
		reply, ok := r.memory[key]
		return reply, ok
	}
	if datafile.NoLink(r.path(key)) != nil {
		return "", false
	}
	b, err := os.ReadFile(r.path(key))
	var kept keptReply
	if err != nil || json.Unmarshal(b, &kept) != nil || kept.Sum != replySum(kept.Reply) {
		return "", false
	}
	now := time.Now()
	_ = os.Chtimes(r.path(key), now, now) // used: it stays. Where that cannot be noted, it goes in its turn
	return kept.Reply, true
}

// put keeps a reply if it can.
func (r *Replies) put(key, reply string) {
	if r.dir == "" {
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.memory) < maxKept {
			r.memory[key] = reply
		}
		return
	}
	b, err := json.Marshal(keptReply{reply, replySum(reply)})
	path := r.path(key)
	if err != nil || datafile.MakeFolder(filepath.Dir(path)) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(path), "new-*")
	if err != nil {
		return
	}
	_, err = f.Write(b)
	if closed := f.Close(); err == nil && closed == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // nothing is lost but a reply
	}
	prune(filepath.Dir(path), maxShard)
}

// prune removes the files of a folder that were not used for longest, until no more than so many are left.
func prune(dir string, most int) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= most {
		return
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // another process may have removed it
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files[:max(0, len(files)-most)] {
		_ = os.Remove(filepath.Join(dir, f.Name()))
	}
}
