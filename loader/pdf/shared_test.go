package pdf_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/internal/testdata"
	"github.com/seed-d8745b77/rag/loader/pdf"
)

// expectation is what the shared corpus says of a file.
type expectation struct {
	Type        string
	Pages       int
	Password    string
	ExpectError string          `json:"expect_error"`
	OCRText     string          `json:"ocr_text"`
	Title       string          `json:"title"`
	Sentences   []placed        `json:"sentences"`
	Captions    []placed        `json:"captions"`
	Headings    []string        `json:"headings"`
	Outline     [][]any         `json:"outline_first"`
	Furniture   []string        `json:"page_furniture"`
	TableCells  []expectedCells `json:"table_cells"`

	Images       *int           `json:"images"`
	ImagesByPage map[string]int `json:"images_by_page"`
}

type placed struct {
	Page int
	Text string
}

type expectedCells struct {
	Page   int
	Row    string
	Values []string
}

// share counts what was found of one kind.
type share struct{ found, all int }

func TestSharedCorpus(t *testing.T) {
	racetest.Skip(t)
	root := testdata.Shared(t, "data", "docs")
	shares := map[string]*share{}
	for name, want := range expectations(t, root) {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			checkFile(t, data, want, func(kind, what string, ok bool) {
				if shares[kind] == nil {
					shares[kind] = &share{}
				}
				shares[kind].all++
				if ok {
					shares[kind].found++
				} else {
					t.Logf("%s not found: %s", kind, what)
				}
			})
		})
	}
	for _, kind := range []string{"sentence", "caption", "heading", "title", "row", "outline"} {
		s := shares[kind]
		if s == nil {
			continue
		}
		t.Logf("%s: %d of %d", kind, s.found, s.all)
		if s.found < s.all {
			t.Errorf("%s: found %d of %d, want all", kind, s.found, s.all)
		}
	}
}

func expectations(t *testing.T, root string) map[string]expectation {
	raw, err := os.ReadFile(filepath.Join(root, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var head map[string]struct{ Type string }
	var all map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(raw, &head), json.Unmarshal(raw, &all)); err != nil {
		t.Fatal(err)
	}
	out := map[string]expectation{}
	for name, h := range head {
		if h.Type != "pdf" {
			continue
		}
		var e expectation
		if err := json.Unmarshal(all[name], &e); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = e
	}
	return out
}

func checkFile(t *testing.T, data []byte, want expectation, count func(kind, what string, ok bool)) {
	if want.ExpectError != "" {
		if _, err := load(t, pdf.Config{}, data); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("got error %v, want ErrInvalid (%s)", err, want.ExpectError)
		}
		return
	}
	if want.Password != "" {
		if _, err := load(t, pdf.Config{}, data); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "password") {
			t.Errorf("without its password: got %v, want ErrInvalid that names the setting", err)
		}
	}
	doc, err := load(t, pdf.Config{Password: want.Password, TimeoutMS: patience, PageTimeoutMS: patience}, data)
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Pages) != want.Pages {
		t.Errorf("got %d pages, want %d", len(doc.Pages), want.Pages)
	}
	checkPictures(t, &doc, want)
	if want.OCRText != "" {
		if doc.State != rag.StateEmpty || len(doc.Warnings) == 0 || doc.Warnings[0].Page != 1 {
			t.Errorf("a scan: state %q, warnings %v", doc.State, doc.Warnings)
		}
		return
	}
	for _, s := range want.Sentences {
		count("sentence", s.Text, onPage(&doc, s.Page, s.Text))
	}
	for _, s := range want.Captions {
		count("caption", s.Text, onPage(&doc, s.Page, s.Text))
	}
	for _, h := range want.Headings {
		count("heading", h, hasSection(doc, h, 0))
	}
	for _, o := range want.Outline {
		count("outline", o[0].(string), hasSection(doc, o[0].(string), int(o[1].(float64))))
	}
	if want.Title != "" {
		count("title", want.Title, strings.HasPrefix(plain(doc.Title), plain(want.Title)))
	}
	for _, c := range want.TableCells {
		count("row", c.Row, hasRow(&doc, c))
	}
	if len(doc.Pages) > 1 {
		for _, f := range want.Furniture {
			if strings.Contains(plain(doc.Text), plain(f)) {
				t.Errorf("the running line %q is in the text", f)
			}
		}
	}
}

// patience is longer than any file takes on a machine that does much else, in milliseconds.
const patience = 600_000

// checkPictures counts the pictures by page. Each must be a file that can be shown, in a box on its page.
func checkPictures(t *testing.T, doc *rag.Document, want expectation) {
	if want.Images != nil && len(doc.Images) != *want.Images {
		t.Errorf("got %d pictures, want %d", len(doc.Images), *want.Images)
	}
	byPage := map[string]int{}
	for _, img := range doc.Images {
		byPage[strconv.Itoa(img.Page)]++
		c, _, err := image.DecodeConfig(bytes.NewReader(img.Data))
		if err != nil || c.Width == 0 || c.Height == 0 {
			t.Errorf("the picture on page %d is no %s: %v", img.Page, img.MediaType, err)
		}
		if img.Box[2] <= img.Box[0] || img.Box[3] <= img.Box[1] {
			t.Errorf("the picture on page %d has the box %v", img.Page, img.Box)
		}
		t.Logf("picture: page %d, %v, %s, %d by %d, %d bytes, at %d: %.40q", img.Page, img.Box, img.MediaType, c.Width, c.Height, len(img.Data), img.Offset, doc.Text[img.Offset:])
	}
	if want.ImagesByPage != nil {
		if diff := cmp.Diff(want.ImagesByPage, byPage); diff != "" {
			t.Errorf("pictures by page (-want +got):\n%s", diff)
		}
	}
}

// plain is text without differences that do not matter: compatibility forms and runs of blanks.
func plain(s string) string { return strings.Join(strings.Fields(norm.NFKC.String(s)), " ") }

func onPage(doc *rag.Document, page int, text string) bool {
	return strings.Contains(plain(pageText(doc, page)), plain(text))
}

// pageText is the text of a 1-based page.
func pageText(doc *rag.Document, page int) string {
	end := len(doc.Text)
	if page < len(doc.Pages) {
		end = doc.Pages[page]
	}
	return doc.Text[doc.Pages[page-1]:end]
}

func hasSection(doc rag.Document, title string, level int) bool {
	return slices.ContainsFunc(doc.Sections, func(s rag.Section) bool {
		got := strings.TrimLeftFunc(plain(s.Title), func(r rune) bool { return unicode.IsDigit(r) || r == '.' || r == ' ' })
		return (plain(s.Title) == plain(title) || got == plain(title)) && (level == 0 || s.Level == level)
	})
}

// hasRow reports whether a line of the page has the row's name and then the values, each a cell or a word of its own.
func hasRow(doc *rag.Document, c expectedCells) bool {
	for line := range strings.Lines(pageText(doc, c.Page)) {
		rest := " " + plain(strings.ReplaceAll(line, "|", " ")) + " "
		ok := true
		for _, v := range append([]string{c.Row}, c.Values...) {
			i := strings.Index(rest, " "+plain(v)+" ")
			if ok = i >= 0; !ok {
				break
			}
			rest = rest[i+len(plain(v))+1:]
		}
		if ok {
			return true
		}
	}
	return false
}
