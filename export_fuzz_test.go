package rag

import "testing"

// FuzzExportLine reads any line of an export, and what it says of a document.
func FuzzExportLine(f *testing.F) {
	for _, line := range []string{
		`{"export":{"version":1,"collection":"default"}}`, `{"end":{"documents":3}}`, `{"end":{}} {}`, `{"document":{"uri":"a","text":"b","source":{"digest":"00"}}}`,
		`{"document":{"uri":"a","text":"b","images":[{"data":"AA=="}],"sections":[{"start":-1,"end":9}]}}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		l, err := decodeExportLine(line)
		if err != nil || l.Document == nil {
			return
		}
		doc, stored, err := l.Document.restore()
		if err == nil && (doc == nil || stored == nil || doc.URI == "") {
			t.Errorf("%s becomes %+v", line, doc)
		}
	})
}
