package unipdf

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

// licensed is the configuration of whoever runs the tests with a key; without one the test is skipped.
func licensed(t *testing.T) Config {
	t.Helper()
	c := Config{LicenseFile: os.Getenv("RAG_UNIPDF_LICENSE_FILE"), Customer: os.Getenv("RAG_UNIPDF_CUSTOMER")}
	if c.LicenseFile == "" {
		t.Skip("skipped: needs a licence of unipdf; set RAG_UNIPDF_LICENSE_FILE and RAG_UNIPDF_CUSTOMER")
	}
	return c
}

func TestContract(t *testing.T) {
	c := licensed(t)
	data, err := os.ReadFile("testdata/text.pdf")
	if err != nil {
		t.Fatal(err)
	}
	ragtest.TestLoader(t, func(t *testing.T) rag.Loader {
		l, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}, ragtest.Sample{Name: "text.pdf", Data: data, Want: "The ferry leaves at seven."})
}

func TestWithoutLicence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		c    Config
		says string
	}{
		{"no key", Config{}, "set license_key or license_file"},
		{"a key without a customer", Config{LicenseKey: "x"}, "needs customer"},
		{"a text that is no key", Config{LicenseKey: "x", Customer: "y"}, "does not take the licence key"},
		{"a file that holds none", Config{LicenseFile: file, Customer: "y"}, "does not take the licence key"},
		{"two offline keys", Config{LicenseKey: "x", LicenseFile: file, Customer: "y"}, "not both"},
		{"keys of two kinds", Config{LicenseKey: "x", MeteredKey: "z", Customer: "y"}, "not both"},
		{"a negative limit", Config{MaxPages: -1}, "must not be negative"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if l, err := New(tt.c); l != nil || !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v and the error %v, want ErrInvalid that says %q", l, err, tt.says)
			}
		})
	}
	if _, err := New(Config{LicenseFile: filepath.Join(t.TempDir(), "absent"), Customer: "y"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: got %v", err)
	}
}

// Without a key a program that has the loader opens, and each PDF fails with the reason.
func TestRegister(t *testing.T) {
	var p rag.Providers
	Register(&p)
	loaders, err := rag.NewLoaders(rag.Config{}, rag.WithProviders(&p))
	if err != nil {
		t.Fatal(err)
	}
	for src := range rag.Bytes("mem:///a.pdf", []byte("%PDF-1.4")).All {
		if _, _, err := loaders.Load(t.Context(), src); !errors.Is(err, errNoKey) {
			t.Errorf("got %v, want what New says", err)
		}
	}
	if _, err := p.Loaders.New("unipdf", rag.Env{}, []byte(`{"license_key": "x"}`)); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("a key without a customer: got %v, want ErrInvalid", err)
	}
}

// sumOfX is the SHA-256 of "x".
const sumOfX = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"

func TestDocument(t *testing.T) {
	f := &file{
		total: 4,
		pages: []page{
			{text: "1 First part\r\nSome\x02 words.\n", images: []rag.Image{{ID: sumOfX, MediaType: "image/png", Data: []byte("x"), Box: [4]float64{0, 0, 9, 9}}}},
			{lost: []string{"could not be read: torn"}},
			{text: "Under it\nmore\n2 Second\nend"},
		},
		outline: []entry{{"First part", 1, 0}, {"Under it", 2, 2}, {"Second", 1, 2}, {"Elsewhere", 1, 3}},
		info:    rag.Meta{"title": "A title", "author": "Ada"},
	}
	doc := f.document()
	if err := ragtest.CheckDocument(doc); err != nil {
		t.Fatal(err)
	}
	want := rag.Document{
		Title: "A title", Text: "1 First part\nSome words.\n\nUnder it\nmore\n2 Second\nend", Pages: []int{0, 24, 26}, State: rag.StatePartial,
		Sections: []rag.Section{{Level: 1, Title: "First part", Start: 0, End: 40}, {Level: 2, Title: "Under it", Start: 26, End: 40}, {Level: 1, Title: "Second", Start: 40, End: 52}},
		Images:   []rag.Image{{ID: sumOfX, MediaType: "image/png", Data: []byte("x"), Page: 1, Box: [4]float64{0, 0, 9, 9}}},
		Warnings: []rag.Warning{{Page: 2, Message: "has no text (blank, or scanned)"}, {Page: 2, Message: "could not be read: torn"}, {Message: "pages 4 to 4 were not read (setting max_pages)"}},
		Meta:     rag.Meta{"pages": 4.0, "author": "Ada"},
	}
	if diff := cmp.Diff(want, doc); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	if doc := (&file{total: 1, pages: []page{{}}}).document(); doc.State != rag.StateEmpty {
		t.Errorf("state of a file without text: %q", doc.State)
	}
}
