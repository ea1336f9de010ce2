package loader_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/loader"
	"github.com/seed-d8745b77/rag/ragtest"
)

func newEML() rag.Loader { return must(loader.NewEML(loader.EMLConfig{})) }

const plainMail = "From: =?utf-8?q?J=C3=B6rg?= <j@example.org>\r\nTo: ada@example.org\r\nSubject: =?gb2312?B?us/NrA==?= plan\r\n" +
	"Date: Fri, 03 May 2024 10:00:00 +0200\r\nMessage-ID: <1@example.org>\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nDer S=\r\ntahl h=E4lt.\r\n\r\n# no heading\r\n"

// mixedMail has a page beside its plain text, a picture in the page, a file of text, one of no known kind and a message.
func mixedMail() string {
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	part := func(headers, body string) string { return "\r\n" + headers + "\r\n\r\n" + body + "\r\n" }
	page := "--r" + part("Content-Type: text/html; charset=utf-8", "<h1>Page</h1><p>With <img src=\"cid:pic\" alt=\"a plan\">.") +
		"--r" + part("Content-Type: image/png\r\nContent-ID: <pic>\r\nContent-Transfer-Encoding: base64", b64(pngBytes)) + "--r--\r\n"
	return "From: a@example.org\r\nSubject: Mixed\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=m\r\n\r\nnobody reads this\r\n" +
		"--m" + part("Content-Type: multipart/related; boundary=r", page) +
		"--m" + part("Content-Type: text/csv; name=\"t.csv\"\r\nContent-Disposition: attachment", "a,b\r\n1,2") +
		"--m" + part("Content-Type: application/zip\r\nContent-Disposition: attachment; filename*=utf-8''x%C3%A4.zip\r\nContent-Transfer-Encoding: base64", b64("PK")) +
		"--m" + part("Content-Type: message/rfc822", "Subject: Before\r\nFrom: b@example.org\r\n\r\nWhat was said.") + "--m--\r\n"
}

func TestEMLSuite(t *testing.T) {
	ragtest.TestLoader(t, func(*testing.T) rag.Loader { return newEML() },
		ragtest.Sample{Name: "a.eml", Data: []byte(plainMail), Want: "Der Stahl hält."},
		ragtest.Sample{Name: "b.eml", Data: []byte(mixedMail()), Want: "What was said."})
}

func TestEMLPlain(t *testing.T) {
	doc := mustLoad(t, newEML(), plainMail)
	want := "# 合同 plan\n\nFrom: Jörg <j@example.org>\nTo: ada@example.org\nDate: 2024-05-03T10:00:00+02:00\n\nDer Stahl hält.\n\n\\# no heading\n"
	if diff := cmp.Diff(want, doc.Text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	meta := rag.Meta{"from": "Jörg <j@example.org>", "to": "ada@example.org", "created": "2024-05-03T10:00:00+02:00", "message_id": "<1@example.org>"}
	if diff := cmp.Diff(meta, doc.Meta); diff != "" {
		t.Errorf("meta (-want +got):\n%s", diff)
	}
}

func TestEMLParts(t *testing.T) {
	docs, err := loadAll(t, newEML(), []byte(mixedMail()))
	if err != nil || len(docs) != 2 {
		t.Fatalf("%d documents, %v", len(docs), err)
	}
	want := `# Mixed

From: a@example.org

# Page

With a plan.

## Before

From: b@example.org

What was said.

Attachments:

- t.csv (text/csv, 8 bytes)
- xä.zip (application/zip, 2 bytes)
`
	if diff := cmp.Diff(want, docs[0].Text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"1 Mixed @ # Mixed", "2 Page @ # Page", "2 Before @ ## Before"}, outlineOf(docs[0])); diff != "" {
		t.Errorf("sections (-want +got):\n%s", diff)
	}
	if len(docs[0].Images) != 1 || docs[0].Images[0].MediaType != "image/png" || len(docs[0].Warnings) != 1 {
		t.Errorf("%d images, warnings %v: want the picture, and a warning about the archive", len(docs[0].Images), docs[0].Warnings)
	}
	if diff := cmp.Diff("| a | b |\n| --- | --- |\n| 1 | 2 |\n", docs[1].Text); diff != "" || docs[1].Title != "t.csv" || docs[1].Meta["message"] != "Mixed" {
		t.Errorf("attachment %q of %v:\n%s", docs[1].Title, docs[1].Meta, diff)
	}
	docs, err = loadAll(t, must(loader.NewEML(loader.EMLConfig{NoAttachments: true})), []byte(mixedMail()))
	if err != nil || len(docs) != 1 || len(docs[0].Warnings) != 0 {
		t.Errorf("without attachments: %d documents, %v", len(docs), err)
	}
}

func TestEMLAlternatives(t *testing.T) {
	mail := func(plain string) string {
		return "Subject: s\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\n" + plain + "\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>Rich.\r\n--b--"
	}
	for plain, want := range map[string]string{"Plain.": "# s\n\nPlain.\n", " ": "# s\n\nRich.\n"} {
		if doc := mustLoad(t, newEML(), mail(plain)); doc.Text != want {
			t.Errorf("plain text %q: got %q, want %q", plain, doc.Text, want)
		}
	}
}

// The pictures of an alternative are kept when its text is not the one that is read.
func TestEMLPictureOfAlternative(t *testing.T) {
	doc := mustLoad(t, newEML(), "Subject: s\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nPlain.\r\n"+
		"--b\r\nContent-Type: multipart/related; boundary=r\r\n\r\n--r\r\nContent-Type: text/html\r\n\r\n<p>Rich.<img src=\"cid:p\">\r\n"+
		"--r\r\nContent-Type: image/png\r\nContent-Id: <p>\r\nContent-Transfer-Encoding: base64\r\n\r\n"+base64.StdEncoding.EncodeToString([]byte(pngBytes))+"\r\n--r--\r\n--b--")
	if doc.Text != "# s\n\nPlain.\n" || len(doc.Images) != 1 {
		t.Errorf("text %q, %d pictures", doc.Text, len(doc.Images))
	}
}

func TestEMLBadInput(t *testing.T) {
	for name, in := range map[string]string{"no headers": "hello\n\nworld", "other headers": "a: b\n\nc", "header broken": "Subject x\n"} {
		if _, err := load(t, newEML(), []byte(in)); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
	var deep strings.Builder
	for i := range 100 {
		fmt.Fprintf(&deep, "Subject: s%d\r\nContent-Type: message/rfc822\r\n\r\n", i)
	}
	deep.WriteString("Subject: last\r\n\r\ntext")
	doc := mustLoad(t, newEML(), deep.String())
	if !strings.Contains(doc.Text, "Attachments:") || strings.Contains(doc.Text, "s50") {
		t.Errorf("a hundred messages within one another: %.300q", doc.Text)
	}
	parts := "Subject: s\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" + strings.Repeat("--b\r\n\r\nx\r\n", 2000)
	if _, err := load(t, newEML(), []byte(parts)); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("two thousand parts: %v", err)
	}
}

func TestEMLMatch(t *testing.T) {
	f := newEML().(rag.Formatter).Formats()[0]
	for in, want := range map[string]bool{plainMail: true, "From: here on\nit is text\n": false, "a line\nFrom: x\nTo: y\nDate: z\n": false} {
		if got := f.Match([]byte(in)); got != want {
			t.Errorf("%.20q: Match says %v", in, got)
		}
	}
}

func FuzzEML(f *testing.F) {
	f.Add([]byte(mixedMail()))
	f.Add([]byte(plainMail))
	f.Add([]byte("Subject: =?x?q?=FF?=\nContent-Type: multipart/alternative; boundary=\"\"\n\n--\n--"))
	f.Add([]byte("From: x\nContent-Type: text/html\n\n<h1>a<img src=cid:>"))
	l := newEML()
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := loadAll(t, l, data); err != nil && !errors.Is(err, rag.ErrInvalid) && !errors.Is(err, rag.ErrUnsupported) {
			t.Errorf("an error of no kind: %v", err)
		}
	})
}
