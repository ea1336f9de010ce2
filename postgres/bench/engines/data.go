package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/bench/ir"
	"github.com/seed-d8745b77/rag/embed/local"
	"github.com/seed-d8745b77/rag/eval"
)

// sets are the labelled English sets that chunks and questions come from.
var sets = []string{"scifact", "cranfield", "xquad-en"}

const (
	sentences    = 3  // of a chunk: one and those that follow it, as chunks overlap
	leastOfText  = 20 // bytes of a sentence; shorter ones are rests of abbreviations
	embeddedOnce = 512
)

// chunk is a passage of a document.
type chunk struct {
	rag.TextRecord
	vector []float32
}

// question is one of a set.
type question struct {
	text   string
	vector []float32
	judged eval.Grades // of documents
}

// data are the chunks and the questions of a run; equal numbers give equal data.
type data struct {
	chunks    []chunk
	questions []question
	docOf     map[string]string // by chunk ID
}

// Fields that filters select by: each value of a parted field is that of one in so many chunks, and places are spread evenly.
var parted = []struct {
	field string
	of    uint64
}{{"half", 2}, {"hundredth", 100}, {"thousandth", 1000}}

const (
	placeField = "place"
	places     = 10_000
)

// meanText is the mean length of the chunks' texts in bytes.
func (d *data) meanText() float64 {
	sum := 0
	for _, c := range d.chunks {
		sum += len(c.Text)
	}
	return float64(sum) / float64(len(d.chunks))
}

// read makes n chunks of the sentences of the sets, whole documents in an order of chance, and takes questions from all
// sets. Their vectors are kept in dir, so that they are computed once.
func read(ctx context.Context, shared, dir string, n, questions int) (*data, error) {
	d := &data{}
	var docs []rag.TextRecord
	for _, name := range sets {
		set, err := ir.Read(filepath.Join(shared, "data", "ir", name))
		if err != nil {
			return nil, err
		}
		for _, doc := range set.Docs {
			docs = append(docs, rag.TextRecord{DocID: name + "/" + doc.ID, Text: doc.FullText(), Title: doc.Title})
		}
		for _, q := range set.Queries {
			judged := eval.Grades{}
			for id, grade := range set.Judged[q.ID] {
				judged[name+"/"+id] = grade
			}
			d.questions = append(d.questions, question{text: q.Text, judged: judged})
		}
	}
	order := rand.New(rand.NewPCG(1, 1))
	order.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	order.Shuffle(len(d.questions), func(i, j int) { d.questions[i], d.questions[j] = d.questions[j], d.questions[i] })
	for _, doc := range docs {
		d.chunks = append(d.chunks, cut(doc)...)
	}
	if len(d.chunks) < n || len(d.questions) < questions {
		return nil, fmt.Errorf("there are %d chunks and %d questions: ask for no more", len(d.chunks), len(d.questions))
	}
	if err := d.embed(ctx, dir, n, questions); err != nil {
		return nil, err
	}
	d.docOf = make(map[string]string, n)
	for _, c := range d.chunks {
		d.docOf[c.ID] = c.DocID
	}
	return d, nil
}

// cut makes the chunks of a document.
func cut(doc rag.TextRecord) (chunks []chunk) {
	var parts []string
	for s := range strings.SplitSeq(strings.ReplaceAll(doc.Text, "\n", ". "), ". ") {
		if s = strings.TrimSpace(s); len(s) > leastOfText {
			parts = append(parts, s)
		}
	}
	for i := range parts {
		c := doc
		c.Text = strings.Join(parts[i:min(i+sentences, len(parts))], ". ")
		sum := sha256.Sum256([]byte(doc.DocID + "\x00" + c.Text))
		c.ID = fmt.Sprintf("%x", sum[:12])
		c.Language = "en"
		c.Meta = rag.Meta{rag.FieldDocID: doc.DocID, rag.FieldURI: "library/" + doc.DocID + ".txt", rag.FieldLanguage: "en"}
		place := binary.LittleEndian.Uint64(sum[16:]) // by chance, and the same in each run
		for _, f := range parted {
			c.Meta[f.field] = fmt.Sprint(place % f.of)
		}
		c.Meta[placeField] = float64(place % places)
		chunks = append(chunks, chunk{TextRecord: c})
	}
	return chunks
}

// embed gives the first chunks and questions their vectors, and drops the others.
func (d *data) embed(ctx context.Context, dir string, chunks, questions int) error {
	e, err := local.New(local.Config{})
	if err != nil {
		return err
	}
	key := sha256.New()
	fmt.Fprintln(key, e.Model().Fingerprint())
	var passages, asked []string
	for _, c := range d.chunks {
		passages = append(passages, c.Text)
		fmt.Fprintln(key, c.Text)
	}
	for _, q := range d.questions {
		asked = append(asked, q.text)
		fmt.Fprintln(key, q.text)
	}
	file := func(kind string) string { return filepath.Join(dir, fmt.Sprintf("%s-%x.f32", kind, key.Sum(nil)[:6])) }
	d.chunks, d.questions = d.chunks[:chunks], d.questions[:questions]
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	vectors, err := vectorsOf(ctx, e, rag.AsPassage, passages[:chunks], file("chunks"))
	if err != nil {
		return err
	}
	for i, v := range vectors {
		d.chunks[i].vector = v
	}
	if vectors, err = vectorsOf(ctx, e, rag.AsQuestion, asked[:questions], file("questions")); err != nil {
		return err
	}
	for i, v := range vectors {
		d.questions[i].vector = v
	}
	return nil
}

// vectorsOf reads the vectors of the texts from a file, computes those that it has not got yet, and adds them to it.
func vectorsOf(ctx context.Context, e *local.Embedder, role rag.EmbedRole, texts []string, file string) ([][]float32, error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var vectors [][]float32
	row := make([]byte, 4*e.Model().Dims)
	for from := bufio.NewReader(f); len(vectors) < len(texts); {
		if _, err := io.ReadFull(from, row); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		} else if err != nil {
			return nil, err
		}
		v := make([]float32, e.Model().Dims)
		if _, err := binary.Decode(row, binary.LittleEndian, v); err != nil {
			return nil, err
		}
		vectors = append(vectors, v)
	}
	if _, err := f.Seek(int64(len(vectors)*len(row)), io.SeekStart); err != nil { // a row that was cut off is written anew
		return nil, err
	}
	for len(vectors) < len(texts) {
		some, err := e.Embed(ctx, role, texts[len(vectors):min(len(vectors)+embeddedOnce, len(texts))])
		if err != nil {
			return nil, err
		}
		for _, v := range some {
			normalise(v)
			if err := binary.Write(f, binary.LittleEndian, v); err != nil {
				return nil, err
			}
		}
		vectors = append(vectors, some...)
		say("%d of %d %ss embedded", len(vectors), len(texts), role)
	}
	return vectors, nil
}

// normalise gives a vector unit length.
func normalise(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
}
