package ocr_test

import (
	_ "embed"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/loader/ocr"
	"github.com/seed-d8745b77/rag/ragtest"
)

// ferry is a picture of two lines of Times at 150 dpi, and ferryText what it says.
//
//go:embed testdata/ferry.png
var ferry []byte

const (
	ferryDPI  = 150
	ferryText = "The ferry leaves at seven. Tickets are sold on board."
)

// The program that users have. Where it is not installed its test is skipped and says so.
func TestTesseract(t *testing.T) {
	if _, err := exec.LookPath("tesseract"); err != nil {
		if os.Getenv("RAG_REQUIRE_SERVICES") != "" {
			t.Fatal("tesseract is required and not installed: run scripts/install-tesseract")
		}
		t.Skip("skipped: tesseract is not installed")
	}
	ragtest.TestOCR(t, func(t *testing.T) rag.OCR { return newTesseract(t, ocr.TesseractConfig{}) }, ferry, ferryDPI, ferryText)
	if _, err := ocr.NewTesseract(ocr.TesseractConfig{Languages: []string{"eng", "klingon"}}); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), `"klingon"`) {
		t.Errorf("a language that is not there: got %v, want ErrInvalid that names it", err)
	}
}

func newTesseract(t *testing.T, c ocr.TesseractConfig) *ocr.Tesseract {
	t.Helper()
	o, err := ocr.NewTesseract(c)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// fake writes a program that answers as tesseract does: what body does for a picture.
func fake(t *testing.T, body string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("skipped: the made program is a shell script")
	}
	path := filepath.Join(t.TempDir(), "tesseract")
	script := "#!/bin/sh\ncase $1 in\n--version) echo 'tesseract 9.8.7';;\n--list-langs) echo 'List of available languages (2):'; echo eng; echo chi_sim;;\n*) " + body + ";;\nesac\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

const head = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"

func TestTable(t *testing.T) {
	const row = "5\t1\t1\t1\t1\t1\t10\t20\t30\t8\t96.5\tword\n"
	tests := []struct {
		name, table string
		want        []rag.OCRWord
		wantErr     error
	}{
		{"nothing seen", head + "1\t1\t0\t0\t0\t0\t0\t0\t100\t100\t-1\t\n", nil, nil},
		{"words of two lines", head + row + "5\t1\t1\t1\t2\t1\t10\t40\t9\t8\t0\t\"quoted\"\n", []rag.OCRWord{
			{Text: "word", Box: [4]float64{10, 20, 40, 28}, Line: 1, Confidence: .965}, {Text: `"quoted"`, Box: [4]float64{10, 40, 19, 48}, Line: 2},
		}, nil},
		{"lines of two blocks that have one number", head + row + strings.Replace(row, "5\t1\t1", "5\t1\t2", 1), []rag.OCRWord{
			{Text: "word", Box: [4]float64{10, 20, 40, 28}, Line: 1, Confidence: .965}, {Text: "word", Box: [4]float64{10, 20, 40, 28}, Line: 2, Confidence: .965},
		}, nil},
		{"a word of blanks", head + "5\t1\t1\t1\t1\t1\t10\t20\t30\t8\t96\t  \n", nil, nil},
		{"a row cut short", head + "5\t1\t1\n", nil, rag.ErrInvalid},
		{"a number that is none", head + strings.Replace(row, "10", "x", 1), nil, rag.ErrInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			table := filepath.Join(t.TempDir(), "table")
			if err := os.WriteFile(table, []byte(tt.table), 0o644); err != nil {
				t.Fatal(err)
			}
			o := newTesseract(t, ocr.TesseractConfig{Program: fake(t, "cat >/dev/null; cat '"+table+"'")})
			got, err := o.Recognize(t.Context(), ferry, 0)
			if !errors.Is(err, tt.wantErr) {
				t.Fatalf("got the error %v, want %v", err, tt.wantErr)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("words (-want +got):\n%s", diff)
			}
		})
	}
}

func TestArguments(t *testing.T) {
	said := filepath.Join(t.TempDir(), "said")
	o := newTesseract(t, ocr.TesseractConfig{Program: fake(t, `echo "$@ $OMP_THREAD_LIMIT" >'`+said+`'; wc -c >>'`+said+`'`), Languages: []string{"chi_sim", "eng"}})
	if _, err := o.Recognize(t.Context(), ferry, 200); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(said)
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(got))
	want := strings.Fields("stdin stdout -l chi_sim+eng --psm 1 --dpi 200 tsv 1")
	if diff := cmp.Diff(want, fields[:len(fields)-1]); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if got := o.Fingerprint(); got != "tesseract 9.8.7/chi_sim+eng" {
		t.Errorf("fingerprint %q", got)
	}
}

func TestFailures(t *testing.T) {
	if _, err := ocr.NewTesseract(ocr.TesseractConfig{Program: filepath.Join(t.TempDir(), "absent")}); !errors.Is(err, rag.ErrUnavailable) || !strings.Contains(err.Error(), "apt install") {
		t.Errorf("no program: got %v, want ErrUnavailable that says how to get it", err)
	}
	if _, err := ocr.NewTesseract(ocr.TesseractConfig{TimeoutMS: -1}); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("a negative limit: got %v, want ErrInvalid", err)
	}
	program := fake(t, "exit 1")
	for _, l := range []string{"deu", "-c", "../eng"} {
		if _, err := ocr.NewTesseract(ocr.TesseractConfig{Program: program, Languages: []string{l}}); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("language %q: got %v, want ErrInvalid", l, err)
		}
	}
	o := newTesseract(t, ocr.TesseractConfig{Program: fake(t, "echo 'cannot read it' >&2; exit 1")})
	if _, err := o.Recognize(t.Context(), ferry, 0); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "cannot read it") {
		t.Errorf("a program that fails: got %v, want ErrInvalid with what it says", err)
	}
	o = newTesseract(t, ocr.TesseractConfig{Program: fake(t, "exec sleep 60"), TimeoutMS: 300})
	if _, err := o.Recognize(t.Context(), ferry, 0); !errors.Is(err, rag.ErrUnavailable) || !strings.Contains(err.Error(), "timeout_ms") {
		t.Errorf("a program that hangs: got %v, want ErrUnavailable that names the setting", err)
	}
}

func FuzzTable(f *testing.F) {
	f.Add(head + "5\t1\t1\t1\t1\t1\t10\t20\t30\t8\t96.5\tword\n")
	f.Add("5\t\t\n")
	f.Fuzz(func(t *testing.T, table string) {
		words, err := ocr.ParseTSV(table)
		if err != nil && !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("an error of no kind: %v", err)
		}
		for _, w := range words {
			if w.Text == "" || w.Line < 1 {
				t.Errorf("word %+v", w)
			}
		}
	})
}
