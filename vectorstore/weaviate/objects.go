package weaviate

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/httpjson"
	"github.com/seed-d8745b77/rag/vectorstore/internal/remote"
)

// How much goes into a request. A number of a vector has about 20 digits in a reply.
const (
	mostRows      = 1000
	mostWritten   = 200     // as was measured on three nodes
	bytesOfVector = 4 << 20 // of all of them
	bytesOfNumber = 20
)

// rowsOf is how many records with vectors go into a request.
func rowsOf(dims int) int { return max(1, min(mostRows, bytesOfVector/(bytesOfNumber*max(1, dims)))) }

// namespace is that of the UUIDs that are made of chunk IDs; it was drawn once.
var namespace = [16]byte{0x6f, 0x1d, 0x0c, 0x52, 0x9b, 0x0e, 0x4b, 0x7f, 0x8a, 0x3d, 0x51, 0xc4, 0x2e, 0x97, 0x60, 0xd8}

// uuid is the version 5 UUID of a chunk ID (RFC 9562, section 5.5).
func uuid(id string) string {
	sum := sha1.Sum(append(namespace[:], id...)) // the RFC says so, and nothing rests on it
	sum[6] = sum[6]&0x0f | 0x50
	sum[8] = sum[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// record is an object as it is written.
type record struct {
	Class      string     `json:"class"`
	ID         string     `json:"id"`
	Vector     []float32  `json:"vector,omitempty"`
	Properties properties `json:"properties"`
}

type properties struct {
	Chunk string   `json:"chunk"`
	Doc   string   `json:"doc"`
	Meta  string   `json:"meta"`
	Has   []string `json:"has"`
	From  float64  `json:"from"` // an int of GraphQL has 32 bits
	Until float64  `json:"until"`

	Terms  *string  `json:"terms,omitempty"`  // of words: of the analyzer, a blank between them
	Length *float64 `json:"length,omitempty"` // of words: by which BM25 compares texts
}

func propertiesOf(id, doc string, f remote.Fields) properties {
	return properties{Chunk: id, Doc: doc, Meta: f.Payload, Has: f.Has, From: float64(f.From), Until: float64(f.Until)}
}

// batchReply has the fate of each object: the status of the whole says nothing.
type batchReply []struct {
	ID     string `json:"id"`
	Result struct {
		Errors *struct {
			Error []struct {
				Message string `json:"message"`
			} `json:"error"`
		} `json:"errors"`
	} `json:"result"`
}

// Failed makes the request be tried again if an object was refused, as all are right after their class was made; but not
// where that is of no use.
func (b *batchReply) Failed() error {
	if text := b.refusal(); text != "" && !isAbsence(text) && !isShort(text) {
		return errors.New(text)
	}
	return nil
}

// refusal is what is said of the first object that was refused; "" if none was.
func (b *batchReply) refusal() string {
	for _, o := range *b {
		if o.Result.Errors != nil && len(o.Result.Errors.Error) > 0 {
			return fmt.Sprintf("object %s of a batch: %s", o.ID, o.Result.Errors.Error[0].Message)
		}
	}
	return ""
}

// isShort tells whether a write was refused because too few of the nodes live.
func isShort(text string) bool {
	return strings.Contains(text, "cannot reach enough replicas") || strings.Contains(text, "cannot achieve consistency level")
}

// upsert writes records, some at a time.
func (s *classes) upsert(ctx context.Context, c class, recs []record) error {
	for some := range slices.Chunk(recs, min(mostWritten, rowsOf(len(recs[0].Vector)))) {
		for i := range some {
			some[i].Class = c.name
		}
		text, err := s.batch(ctx, some, "ALL")
		if isShort(text) && s.config.Consistency != "ALL" {
			text, err = s.batch(ctx, some, s.config.Consistency)
		}
		switch {
		case err != nil:
			return err
		case isAbsence(text):
			return s.service.Errorf("%s: %w", text, rag.ErrNotFound)
		case text != "":
			return s.service.Errorf("%s: %w", text, rag.ErrUnavailable)
		}
	}
	return nil
}

// batch writes records to so many of the replicas and returns what is said of one that was refused; "" if none was. All are
// to have them while all live, since a search asks only one. A record that is written twice is the same, so that a batch of
// which a part failed is sent whole.
func (s *classes) batch(ctx context.Context, recs []record, level string) (refusal string, err error) {
	var reply batchReply
	if err := s.change(ctx, http.MethodPost, "/v1/batch/objects?consistency_level="+level, object{"objects": recs}, &reply); err != nil {
		return "", err
	}
	if len(reply) != len(recs) {
		return "", s.service.Errorf("%d of %d objects of a batch were answered for: %w", len(reply), len(recs), rag.ErrUnavailable)
	}
	return reply.refusal(), nil
}

// deleteReply counts what a delete did.
type deleteReply struct {
	Results struct {
		Failed int `json:"failed"`
	} `json:"results"`
}

// Failed makes the request be tried again if some objects stayed.
func (d *deleteReply) Failed() error {
	if n := d.Results.Failed; n > 0 {
		return fmt.Errorf("%d objects could not be deleted", n)
	}
	return nil
}

// Delete removes records.
func (s *classes) Delete(ctx context.Context, collection string, ids []string) error {
	if err := ctx.Err(); err != nil || len(ids) == 0 {
		return err
	}
	return s.read(ctx, collection, func(c class) error {
		for some := range slices.Chunk(ids, mostRows) {
			request := object{
				"match":  object{"class": c.name, "where": object{"path": []string{"id"}, "operator": "ContainsAny", "valueTextArray": uuids(some)}},
				"output": "minimal",
				// Without it the delete has the time zero, and loses against the write wherever a node was down.
				"deletionTimeUnixMilli": time.Now().UnixMilli(),
			}
			var reply deleteReply
			if err := s.change(ctx, http.MethodDelete, "/v1/batch/objects?consistency_level="+s.config.Consistency, request, &reply); err != nil {
				return err
			}
			if err := s.settle(ctx, c, some); err != nil {
				return err
			}
		}
		return nil
	})
}

// settleTries is how often a replica is asked whether it is done with a delete, with a pause after each: two seconds. What it
// has later than that is not shown, since the catalog decides.
const settleTries = 8

// settle waits until the one replica that a search asks has deleted records too: a delete is over when as many as
// Consistency says have. To delete at ALL would wait for a node that was lost a moment ago, half a minute.
func (s *classes) settle(ctx context.Context, c class, ids []string) error {
	for try := 1; c.replicated; try++ {
		left, err := s.get(ctx, c, []string{among(ids), "limit:1"}, "_additional{id}")
		if err != nil || len(left) == 0 || try == settleTries {
			return err
		}
		if err := httpjson.Sleep(ctx, leaderPause); err != nil {
			return err
		}
	}
	return nil
}

// among is the argument for the records of these IDs.
func among(ids []string) string {
	return `where:{path:["id"] operator:ContainsAny valueText:` + quote(uuids(ids)) + "}"
}

func uuids(ids []string) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = uuid(id)
	}
	return out
}

// objects are a page of a class, by UUID.
type objects struct {
	Objects []struct {
		ID         string     `json:"id"`
		Vector     []float32  `json:"vector"`
		Properties properties `json:"properties"`
	} `json:"objects"`
}

// walk reads a whole class. Records that are written meanwhile may or may not come.
func (s *classes) walk(ctx context.Context, c class, vectors bool) iter.Seq2[remote.Row, error] {
	return func(yield func(remote.Row, error) bool) {
		size, include := mostRows, ""
		if vectors {
			size, include = rowsOf(c.Dims), "&include=vector"
		}
		for after := ""; ; {
			var page objects
			path := "/v1/objects?class=" + url.QueryEscape(c.name) + "&limit=" + strconv.Itoa(size) + "&after=" + after + include
			if err := s.call(ctx, http.MethodGet, path, nil, &page); err != nil {
				yield(remote.Row{}, err)
				return
			}
			for _, o := range page.Objects {
				if !yield(remote.Row{ID: o.Properties.Chunk, Vector: o.Vector, Payload: o.Properties.Meta}, nil) {
					return
				}
				after = o.ID
			}
			if len(page.Objects) < size {
				return
			}
		}
	}
}

// IDs yields the IDs in the order of their UUIDs.
func (s *classes) IDs(ctx context.Context, collection string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		err := s.read(ctx, collection, func(c class) error {
			for r, err := range s.walk(ctx, c, false) {
				if err != nil {
					return err
				}
				if !yield(r.ID, nil) {
					return errStop
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield("", err)
		}
	}
}

// errStop ends a walk early.
var errStop = errors.New("enough")
