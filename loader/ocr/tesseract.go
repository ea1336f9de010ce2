// Package ocr reads printed text off pictures with the program tesseract, where it is installed.
//
//	o, err := ocr.NewTesseract(ocr.TesseractConfig{Languages: []string{"eng", "chi_sim"}})
//	eng, err := rag.Open("kb", rag.WithOCR(o))
package ocr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
)

// TesseractConfig sets how tesseract is run.
type TesseractConfig struct {
	Program   string   `json:"program"`                                  // name or path of the program; "": tesseract
	Languages []string `json:"languages"`                                // languages of the text by tesseract's names, the most likely first; none: eng
	TimeoutMS int      `json:"timeout_ms,omitzero" range:"[1,86400000]"` // longest one picture may take, in milliseconds; 0: 60000
}

// defaultTimeout is ten times what a dense page of two columns took.
const defaultTimeout = time.Minute

// Tesseract runs the program tesseract, one process a picture, on one thread: pages are read side by side already. It is
// safe for concurrent use.
type Tesseract struct {
	program   string
	languages string
	version   string
	timeout   time.Duration
}

var (
	_ rag.OCR           = (*Tesseract)(nil)
	_ rag.Fingerprinter = (*Tesseract)(nil)
)

// languageName is how tesseract names languages: eng, chi_sim, script/Latin.
var languageName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_/]*$`)

// NewTesseract finds the program and asks which languages it has. ErrUnavailable if the program is not there;
// ErrInvalid for a language that it lacks and for a negative time limit.
func NewTesseract(c TesseractConfig) (*Tesseract, error) {
	if c.TimeoutMS < 0 {
		return nil, fmt.Errorf("timeout_ms must not be negative: %w", rag.ErrInvalid)
	}
	t := &Tesseract{timeout: time.Duration(c.TimeoutMS) * time.Millisecond}
	if t.timeout == 0 {
		t.timeout = defaultTimeout
	}
	name := c.Program
	if name == "" {
		name = "tesseract"
	}
	var err error
	if t.program, err = exec.LookPath(name); err != nil {
		return nil, fmt.Errorf("the program %s is not installed (Debian and Ubuntu: apt install tesseract-ocr; macOS: brew install tesseract): %w", name, rag.ErrUnavailable)
	}
	languages := c.Languages
	if len(languages) == 0 {
		languages = []string{"eng"}
	}
	if err := t.check(languages); err != nil {
		return nil, err
	}
	return t, nil
}

// check asks the program for its version and languages.
func (t *Tesseract) check(languages []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), defaultTimeout)
	defer cancel()
	version, err := t.run(ctx, nil, "--version")
	if err != nil {
		return fmt.Errorf("%s --version: %w", t.program, err)
	}
	t.version, _, _ = strings.Cut(string(version), "\n")
	list, err := t.run(ctx, nil, "--list-langs")
	if err != nil {
		return fmt.Errorf("%s --list-langs: %w", t.program, err)
	}
	has := strings.Fields(string(list))
	for _, l := range languages {
		if !languageName.MatchString(l) || !slices.Contains(has, l) {
			return fmt.Errorf("tesseract has no language %q (installed: %s; Debian and Ubuntu: apt install tesseract-ocr-…): %w", l, strings.Join(installed(string(list)), ", "), rag.ErrInvalid)
		}
	}
	t.languages = strings.Join(languages, "+")
	return nil
}

// installed are the languages in the program's list, below its first line.
func installed(list string) []string {
	_, names, _ := strings.Cut(list, "\n")
	return strings.Fields(names)
}

// Fingerprint names the program's version and the languages.
func (t *Tesseract) Fingerprint() string { return t.version + "/" + t.languages }

// Recognize returns the words that tesseract sees, columns one after the other, on a picture that may be turned.
func (t *Tesseract) Recognize(ctx context.Context, picture []byte, dpi int) ([]rag.OCRWord, error) {
	limited, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	// Page segmentation 1: find columns, and which way is up.
	args := []string{"stdin", "stdout", "-l", t.languages, "--psm", "1"}
	if dpi > 0 {
		args = append(args, "--dpi", strconv.Itoa(dpi))
	}
	out, err := t.run(limited, picture, append(args, "tsv")...)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, fmt.Errorf("tesseract took longer than %s for a picture (setting timeout_ms): %w", t.timeout, rag.ErrUnavailable)
	case err != nil:
		return nil, err
	}
	return parseTSV(string(out))
}

// run runs the program and returns what it prints. What it says of an error is part of the error.
func (t *Tesseract) run(ctx context.Context, input []byte, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, t.program, args...)
	cmd.Env = append(os.Environ(), "OMP_THREAD_LIMIT=1")
	cmd.WaitDelay = time.Second // for a child that keeps the pipe open
	cmd.Stdin = bytes.NewReader(input)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return nil, fmt.Errorf("tesseract: %v: %.300s: %w", err, strings.Join(strings.Fields(complaint.String()), " "), rag.ErrInvalid)
	case err != nil:
		return nil, fmt.Errorf("run tesseract: %w (%w)", err, rag.ErrUnavailable)
	}
	return out.Bytes(), nil
}

// Columns of tesseract's table: level, page_num, block_num, par_num, line_num, word_num, left, top, width, height, conf,
// text. Only rows of the level of words have a text.
const (
	tsvColumns = 12
	wordLevel  = "5"
	maxPixel   = 1 << 16 // no picture that tesseract reads is larger
)

// parseTSV reads the table that tesseract prints.
func parseTSV(table string) ([]rag.OCRWord, error) {
	var words []rag.OCRWord
	line, last := 0, ""
	for i, row := range strings.Split(strings.TrimRight(table, "\n"), "\n") {
		cols := strings.SplitN(strings.TrimSuffix(row, "\r"), "\t", tsvColumns)
		if i == 0 || row == "" || cols[0] != wordLevel {
			continue // the head, and what holds words
		}
		if len(cols) < tsvColumns {
			return nil, fmt.Errorf("tesseract's table has a row of %d columns, not %d: %w", len(cols), tsvColumns, rag.ErrInvalid)
		}
		text := strings.ToValidUTF8(strings.TrimSpace(cols[11]), "")
		if text == "" {
			continue
		}
		var n [5]float64 // left, top, width, height, conf
		for k := range n {
			v, err := strconv.ParseFloat(cols[6+k], 64)
			if err != nil || !(math.Abs(v) <= maxPixel) {
				return nil, fmt.Errorf("tesseract's table says %q where a number is due: %w", cols[6+k], rag.ErrInvalid)
			}
			n[k] = v
		}
		if at := strings.Join(cols[1:5], " "); at != last {
			line, last = line+1, at
		}
		words = append(words, rag.OCRWord{Text: text, Box: [4]float64{n[0], n[1], n[0] + n[2], n[1] + n[3]}, Line: line, Confidence: max(0, n[4]) / 100})
	}
	return words, nil
}
