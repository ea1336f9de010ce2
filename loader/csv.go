package loader

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
	"github.com/seed-d8745b77/rag/loader/internal/source"
)

// CSVConfig sets how tables in text are read.
type CSVConfig struct {
	Encoding  string `json:"encoding"`                                     // WHATWG label for files without a byte order mark; "": by their bytes
	Separator string `json:"separator"`                                    // one character between fields; "": the one of , ; tab and | that fits
	NoHeader  bool   `json:"no_header"`                                    // the first row is data; columns are named 1, 2, 3
	MaxBytes  int64  `json:"max_bytes,omitzero" range:"[1,1099511627776]"` // a larger source is ErrInvalid; 0: DefaultMaxBytes
}

// CSV reads comma-separated values and their relatives as pipe tables of about a chunk's size, each with the header, so
// that every passage names its columns. Rows may have different lengths; quotes that no rule allows are read as they
// stand. It is safe for concurrent use.
type CSV struct{ cfg CSVConfig }

var (
	_ rag.Loader    = (*CSV)(nil)
	_ rag.Formatter = (*CSV)(nil)
)

// NewCSV returns a loader of separated values. An unknown encoding and a separator of more than one character are
// ErrInvalid.
func NewCSV(cfg CSVConfig) (*CSV, error) {
	if err := checkEncoding(cfg.Encoding); err != nil {
		return nil, err
	}
	if n := len([]rune(cfg.Separator)); n > 1 || strings.ContainsAny(cfg.Separator, "\"\r\n\ufffd") {
		return nil, &rag.ConfigError{Key: "separator", Err: fmt.Errorf("%q is none: give one character, not a quote or line end: %w", cfg.Separator, rag.ErrInvalid)}
	}
	return &CSV{cfg}, nil
}

// Formats says: by extension; the content does not tell it from other text.
func (*CSV) Formats() []rag.Format {
	return []rag.Format{{
		Name:       "csv",
		Extensions: []string{".csv", ".tsv", ".tab", ".psv"},
		MediaTypes: []string{"text/csv", "text/tab-separated-values", "application/csv"},
	}}
}

// Load yields the one document of src.
func (c *CSV) Load(ctx context.Context, src rag.Source) iter.Seq2[rag.Document, error] {
	return single(ctx, src, c.cfg.MaxBytes, c.parse)
}

func (c *CSV) parse(ctx context.Context, _ rag.Source, data []byte) (rag.Document, error) {
	d, err := decode(data, c.cfg.Encoding, "")
	if err != nil {
		return rag.Document{}, err
	}
	separator := []rune(c.cfg.Separator + guessSeparator(d.text))[0]
	rows, err := readCSV(ctx, d.text, separator)
	if err != nil {
		return rag.Document{}, err
	}
	doc := rag.Document{Warnings: d.warnings, Text: tablesText(rows, c.cfg.NoHeader)}
	doc.State = d.state(doc.Text)
	return doc, ctx.Err()
}

// tablesText lays rows out as pipe tables, the first row being the header unless there is none.
func tablesText(rows [][]string, noHeader bool) string {
	if noHeader && len(rows) > 0 {
		rows = append([][]string{columnNumbers(rows)}, rows...)
	}
	if text := mdtext.Tables(rows); text != "" {
		return text + "\n"
	}
	return ""
}

// columnNumbers is a header for rows that have none.
func columnNumbers(rows [][]string) []string {
	widest := 0
	for _, row := range rows {
		widest = max(widest, len(row))
	}
	names := make([]string, widest)
	for i := range names {
		names[i] = fmt.Sprint(i + 1)
	}
	return names
}

// maxTableCells bounds the cells of one table, padding included: a wide row would make all others as wide.
const maxTableCells = 8 << 20

// readCSV returns the rows that are not empty.
func readCSV(ctx context.Context, text string, separator rune) ([][]string, error) {
	r := csv.NewReader(source.Reader(ctx, strings.NewReader(text)))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes, r.TrimLeadingSpace = separator, -1, true, true
	var rows [][]string
	widest := 0
	for {
		row, err := r.Read()
		switch {
		case errors.Is(err, io.EOF):
			return rows, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return nil, fmt.Errorf("%v: %w", err, rag.ErrInvalid)
		}
		if widest = max(widest, len(row)); widest*(len(rows)+1) > maxTableCells {
			return nil, fmt.Errorf("more than %d cells: cut the file into parts: %w", maxTableCells, rag.ErrInvalid)
		}
		if strings.TrimSpace(strings.Join(row, "")) != "" {
			rows = append(rows, row)
		}
	}
}

// separators are what is tried, the most usual first.
const separators = ",;\t|"

// guessSeparator returns the separator that cuts the first lines into the most columns, of equal number in each; of
// two the more usual one.
func guessSeparator(text string) string {
	const lines = 20
	best, most := ",", 0
	for _, sep := range separators {
		r := csv.NewReader(strings.NewReader(text))
		r.Comma, r.FieldsPerRecord, r.LazyQuotes = sep, -1, true
		columns, equal, n := 0, 0, 0
		for ; n < lines; n++ {
			row, err := r.Read()
			if err != nil {
				break
			}
			if n == 0 {
				columns = len(row)
			}
			if len(row) == columns {
				equal++
			}
		}
		if score := (columns - 1) * equal * equal / max(n, 1); score > most { // a few short rows do not decide
			best, most = string(sep), score
		}
	}
	return best
}
