package ragtest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"time"

	"github.com/seed-d8745b77/rag"
)

// ingested is when the suite's documents were committed.
var ingested = time.Date(2024, 3, 1, 12, 30, 15, 123456789, time.UTC)

// paper is a small document: n chunks with IDs "uri#0" and so on, whose text names the version.
func paper(uri, version string, n int) rag.Change {
	rec := &rag.Record{
		Entry:    rag.Entry{URI: uri, DocID: "doc:" + uri, State: rag.StateOK, Ingested: ingested},
		Document: rag.Document{ID: "doc:" + uri, URI: uri, Text: version, State: rag.StateOK},
	}
	for i := range n {
		id := fmt.Sprintf("%s#%d", uri, i)
		rec.Entry.Chunks = append(rec.Entry.Chunks, rag.ChunkRef{ID: id, Input: version, Index: version})
		rec.Chunks = append(rec.Chunks, rag.Chunk{ID: id, DocID: rec.Entry.DocID, URI: uri, Ordinal: i, Text: version})
	}
	return rag.Change{Put: rec}
}

// picture is one with these bytes.
func picture(data string) rag.Image {
	sum := sha256.Sum256([]byte(data))
	return rag.Image{ID: hex.EncodeToString(sum[:]), MediaType: "image/png", Data: []byte(data)}
}

// illustrated is a small document with these pictures.
func illustrated(uri string, data ...string) rag.Change {
	c := paper(uri, "1", 1)
	for _, d := range data {
		c.Put.Document.Images = append(c.Put.Document.Images, picture(d))
	}
	return c
}

// fullRecord has a value in every field, and nil and empty ones side by side.
func fullRecord() rag.Record {
	zone := time.FixedZone("", 8*3600)
	valid := rag.Validity{From: time.Date(2020, 2, 29, 1, 2, 3, 4, zone), Until: time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC), Stated: true}
	meta := func() rag.Meta {
		return rag.Meta{"s": "x\x00\u00e9\u6c34", "f": -1.5e300, "inf": math.Inf(1), "t": true, "no": false, "": "empty key",
			"l": []string{"b", "a", ""}, "empty": []string{}}
	}
	img := picture("data of the picture")
	img.Page, img.Box, img.Offset, img.Alt = 3, [4]float64{1, 2.5, -3, 1e9}, 17, "a cat"
	named := img
	named.Data = nil
	warnings := []rag.Warning{{Page: 7, Message: "no text"}, {Message: ""}}
	return rag.Record{
		Entry: rag.Entry{
			URI: "file:///a%20b.pdf", DocID: "d1", Title: "Title", State: rag.StatePartial, Digest: sha256.Sum256([]byte("a")),
			MetaDigest: sha256.Sum256([]byte("b")), Pipeline: "p/1", Size: 1 << 40, Language: "zh-Hant", Meta: meta(), Validity: valid,
			Warnings: warnings, Chunks: []rag.ChunkRef{{ID: "c1", Input: "i1", Index: "x1"}, {ID: "c2"}}, Images: 2, Ingested: ingested,
			Parts: []rag.Part{{Name: "img/a.png", Digest: sha256.Sum256([]byte("c"))}, {}},
		},
		Document: rag.Document{
			ID: "d1", URI: "file:///a%20b.pdf", Title: "Title", Text: "text\n\xff not UTF-8",
			Sections: []rag.Section{{Level: 1, Title: "One", Start: 0, End: 9}, {Level: 2}}, Pages: []int{0, 5},
			Images: []rag.Image{img, {ID: "no data", Alt: "x"}, {ID: "empty", Data: []byte{}}, img}, Warnings: warnings,
			State: rag.StatePartial, Language: "zh-Hant", Digest: sha256.Sum256([]byte("a")), Validity: valid, Meta: meta(),
		},
		Chunks: []rag.Chunk{
			{ID: "c1", DocID: "d1", URI: "file:///a%20b.pdf", Title: "Title", Text: "text", Context: "One", Images: []rag.Image{named, {}}, Captions: []rag.Caption{{ImageID: img.ID, Text: "a cat"}},
				Start: 0, End: 4, Page: 1, Headings: []string{"One", ""}, Language: "zh-Hant", ParentID: "p", Validity: valid, Meta: meta()},
			{ID: "c2", Ordinal: 1, Images: []rag.Image{}, Captions: []rag.Caption{}, Headings: []string{}, Meta: rag.Meta{}},
		},
	}
}
