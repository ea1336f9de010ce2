package eval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/datafile"
)

// replies keeps what a chat model answered to a judge, so that a run that is graded again asks only what it did not. What
// cannot be read back it does not have.
type replies struct {
	dir   string // "": nothing is kept
	model string // fingerprint; "": unknown, and nothing is kept
}

func newReplies(model rag.ChatModel, dir string) *replies {
	r := &replies{dir: dir}
	if f, ok := model.(rag.Fingerprinter); ok {
		r.model = f.Fingerprint()
	}
	return r
}

// keptReply is a file of the cache.
type keptReply struct {
	Reply string `json:"reply"`
}

// path is the file of a question in the n-th round; "" if nothing is kept.
func (r *replies) path(task, text string, round int) string {
	if r.dir == "" || r.model == "" {
		return ""
	}
	h := sha256.New()
	for _, part := range []string{r.model, task, text, fmt.Sprint(round)} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return filepath.Join(r.dir, hex.EncodeToString(h.Sum(nil))+".json")
}

func (r *replies) get(path string) (string, bool) {
	if path == "" {
		return "", false
	}
	var kept keptReply
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &kept) != nil {
		return "", false
	}
	return kept.Reply, kept.Reply != ""
}

// put keeps a reply; one that cannot be kept costs a question next time.
func (r *replies) put(path, reply string) {
	if path == "" || os.MkdirAll(r.dir, datafile.DirMode) != nil {
		return
	}
	if data, err := json.Marshal(keptReply{reply}); err == nil {
		_ = writeWhole(path, data)
	}
}

// judgeFailed begins the reason of a null that a chat model left.
const judgeFailed = "the judge "

// attempts is how often a verdict is asked for: models that slip once seldom slip twice.
const attempts = 2

// ask has the model reply and reads it. A reply that cannot be read is told so, once.
func (j *Judge) ask(ctx context.Context, task, text string, round int, read func(reply string) error) error {
	path := j.replies.path(task, text, round)
	if reply, ok := j.replies.get(path); ok && read(reply) == nil {
		return nil
	}
	messages := []rag.ChatMessage{{Role: rag.RoleSystem, Text: task}, {Role: rag.RoleUser, Text: text}}
	var wrong error
	for range attempts {
		reply, err := chat(ctx, j.model, messages, round)
		if err != nil {
			return fmt.Errorf(judgeFailed+"did not answer: %w", err)
		}
		if wrong = read(reply); wrong == nil {
			j.replies.put(path, reply)
			return nil
		}
		messages = append(messages[:2:2], rag.ChatMessage{Role: rag.RoleAssistant, Text: reply},
			rag.ChatMessage{Role: rag.RoleUser, Text: "This cannot be used: " + wrong.Error() + ". Reply with the JSON object that was asked for and nothing else."})
	}
	return fmt.Errorf(judgeFailed+"gave %w that can be read, %d times: %w", errNoVerdict, attempts, wrong)
}

// repeatTemperature lets a model differ from itself where it is asked several times: at 0 the rounds would be one.
const repeatTemperature = 0.3

// maxReply bounds what is read of a reply: a verdict is short.
const maxReply = 256 << 10

// chat collects a reply.
func chat(ctx context.Context, model rag.ChatModel, messages []rag.ChatMessage, round int) (string, error) {
	req := rag.ChatRequest{Messages: messages}
	if round > 0 {
		req.Temperature = repeatTemperature
	}
	reply, err := rag.Reply(ctx, model, req, maxReply)
	if err == nil && reply.Text == "" {
		err = errors.New("an empty reply")
	}
	return reply.Text, err
}

// cosine of two vectors of one length, 0 if one is zero.
func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range min(len(a), len(b)) {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return min(1, dot/math.Sqrt(aa*bb))
}
