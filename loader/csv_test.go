package loader_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/loader"
	"github.com/seed-d8745b77/rag/ragtest"
)

func newCSV() rag.Loader { return must(loader.NewCSV(loader.CSVConfig{})) }

func TestCSVSuite(t *testing.T) {
	ragtest.TestLoader(t, func(*testing.T) rag.Loader { return newCSV() },
		ragtest.Sample{Name: "a.csv", Data: []byte("name,city\r\nAda,London\r\n\"Lovelace, A.\",\"Par\nis\"\r\n"), Want: "| Lovelace, A. | Par is |"},
		ragtest.Sample{Name: "b.tsv", Data: []byte("name\tcity\nAda\tLondon\n"), Want: "| Ada | London |"},
		ragtest.Sample{Name: "gb.csv", Data: gb18030(t, "名称,说明\r\n合同,"+strings.ReplaceAll(chinese, "\r\n", "")+"\r\n"), Want: "有效期为三年"},
	)
}

func TestCSV(t *testing.T) {
	for _, tt := range []struct {
		name, in, want string
		cfg            loader.CSVConfig
	}{
		{name: "semicolons, decimal commas", in: "a;b\n1,5;2,5\n", want: "| a | b |\n| --- | --- |\n| 1,5 | 2,5 |\n"},
		{name: "pipes in cells", in: "a,b\nx|y,z\n", want: "| a | b |\n| --- | --- |\n| x\\|y | z |\n"},
		{name: "rows of other lengths, empty rows", in: "a,b\n1\n,\n\n1,2,3\n", want: "| a | b |  |\n| --- | --- | --- |\n| 1 |  |  |\n| 1 | 2 | 3 |\n"},
		{name: "stray quotes", in: "a,b\n5\" pipe,x \"y\" z\n", want: "| a | b |\n| --- | --- |\n| 5\" pipe | x \"y\" z |\n"},
		{name: "no header", cfg: loader.CSVConfig{NoHeader: true}, in: "x,y\n", want: "| 1 | 2 |\n| --- | --- |\n| x | y |\n"},
		{name: "a separator of one's own", cfg: loader.CSVConfig{Separator: "~"}, in: "x~y,z\n", want: "| x | y,z |\n| --- | --- |\n"},
		{name: "one column", in: "x\ny\n", want: "| x |\n| --- |\n| y |\n"},
	} {
		doc := mustLoad(t, must(loader.NewCSV(tt.cfg)), tt.in)
		if diff := cmp.Diff(tt.want, doc.Text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if _, err := loader.NewCSV(loader.CSVConfig{Separator: ",,"}); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("a separator of two characters: %v", err)
	}
}

func TestCSVRepeatsTheHeaderOfALongTable(t *testing.T) {
	doc := mustLoad(t, newCSV(), "number,word\n"+strings.Repeat("1,something that is said\n", 200))
	tables := strings.Split(strings.TrimSpace(doc.Text), "\n\n")
	rows := 0
	for _, table := range tables {
		if !strings.HasPrefix(table, "| number | word |\n| --- | --- |\n| 1 |") || len(table) > 1400 {
			t.Fatalf("a table of %d bytes that begins %q", len(table), table[:40])
		}
		rows += strings.Count(table, "| 1 |")
	}
	if rows != 200 || len(tables) < 4 {
		t.Errorf("%d rows in %d tables, want 200 in several", rows, len(tables))
	}
}

func FuzzCSV(f *testing.F) {
	fuzzLoader(f, newCSV(), "a,b\n1,\"2\n3\"\n", "a;b\n", "\"", "a\tb\r\"\"\"\n", "|\n|")
}
