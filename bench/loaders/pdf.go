package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/bench/cputime"
	"github.com/seed-d8745b77/rag/loader/pdf"
)

// pythonPDF are the Python peers that read PDF.
var pythonPDF = []string{"pymupdf", "pymupdf4llm", "markitdown"}

// comparePDF prints the table of all files, and the one of reading order.
func comparePDF(ctx context.Context, b *bench) error {
	paths, err := b.files("pdf", ".pdf")
	if err != nil {
		return err
	}
	passwords, err := b.passwords()
	if err != nil {
		return err
	}
	if _, err := exec.LookPath("pdftotext"); err != nil {
		return fmt.Errorf("the reference pdftotext (poppler-utils) is not installed: %w", err)
	}
	peers := map[string]map[string]reading{}
	for _, name := range pythonPDF {
		if peers[name], err = b.peer(ctx, name, paths, passwords); err != nil {
			fmt.Printf("%s is left out: %.200v\n", name, err)
		}
	}
	if err := b.tablePDF(ctx, paths, passwords, peers); err != nil {
		return err
	}
	return b.tableOrder(ctx, peers)
}

// tablePDF compares words and time with pdftotext's.
func (b *bench) tablePDF(ctx context.Context, paths []string, passwords map[string]string, peers map[string]map[string]reading) error {
	fmt.Println("| file | pages | words of pdftotext | recall | without running lines | pdftotext ms | ours, with pictures: ratio | ours, text only: ratio | PyMuPDF: recall, ratio | pymupdf4llm: recall, ratio | markitdown: recall, ratio |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	var means [2 + 3]mean // ours, ours without running lines, the peers
	var ours, bareOurs, theirs float64
	for _, p := range paths {
		name := filepath.Base(p)
		ref := command(ctx, b.rounds, "pdftotext", "-upw", passwords[p], p, "-")
		if ref.Error != "" {
			_, _, err := b.readPDF(ctx, p, pdf.Config{Password: passwords[p]})
			fmt.Printf("| %s | | pdftotext: error | ours: %s | | | | | | | |\n", name, errorWord(err))
			continue
		}
		doc, cpu, err := b.readPDF(ctx, p, pdf.Config{Password: passwords[p]})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		_, bare, err := b.readPDF(ctx, p, pdf.Config{Password: passwords[p], SkipPictures: true})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		want, got := words(ref.Text), words(doc.Text)
		counts := len(want) >= leastWords
		all, body := recall(want, got), recall(words(withoutFurniture(ref.Text, doc.Meta)), got)
		if counts {
			means[0].add(all)
			means[1].add(body)
			ours, bareOurs, theirs = ours+cpu, bareOurs+bare, theirs+ref.CPU
		}
		line := fmt.Sprintf("| %s | %d | %d | %.3f | %.3f | %.0f | %.1f | %.1f |", name, len(doc.Pages), len(want), all, body, ref.CPU*1000, cpu/ref.CPU, bare/ref.CPU)
		for i, peer := range pythonPDF {
			r, ok := peers[peer][p]
			switch {
			case !ok:
				line += " |"
			case r.Error != "":
				line += " error |"
			default:
				found := recall(want, words(r.Text))
				if counts {
					means[2+i].add(found)
				}
				line += fmt.Sprintf(" %.3f, %.1f |", found, r.CPU/ref.CPU)
			}
		}
		fmt.Println(line)
	}
	fmt.Printf("| mean of files with %d words or more; CPU in all | | | %s | %s | %.0f | %.1f | %.1f | %s | %s | %s |\n", leastWords, &means[0], &means[1], theirs*1000, ours/theirs, bareOurs/theirs, &means[2], &means[3], &means[4])
	return nil
}

// leastWords is how many words of pdftotext a file needs to count in the mean: without a text layer there is nothing to
// compare.
const leastWords = 20

// mean is the mean of what was added.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(x float64) { m.sum, m.n = m.sum+x, m.n+1 }

func (m *mean) String() string { return fmt.Sprintf("%.3f", m.sum/float64(max(1, m.n))) }

// readPDF reads a file in this process, where the engine is warm, and returns the least CPU time of several rounds.
func (b *bench) readPDF(ctx context.Context, path string, c pdf.Config) (doc rag.Document, cpu float64, err error) {
	l, err := pdf.New(c)
	if err != nil {
		return rag.Document{}, 0, err
	}
	for i := range b.rounds {
		start := cputime.Used()
		for src, err := range rag.Files(path).All {
			if err != nil {
				return rag.Document{}, 0, err
			}
			for d, err := range l.Load(ctx, src) {
				if err != nil {
					return rag.Document{}, 0, err
				}
				doc = d
			}
		}
		if took := (cputime.Used() - start).Seconds(); i == 0 || took < cpu {
			cpu = took
		}
	}
	return doc, cpu, nil
}

// passwords are by path, from the list of what the files hold.
func (b *bench) passwords() (map[string]string, error) {
	raw, err := os.ReadFile(filepath.Join(b.docs, "expected.json"))
	if err != nil {
		return nil, err
	}
	var list map[string]struct{ Password string }
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for name, f := range list {
		if f.Password != "" {
			out[filepath.Join(b.docs, name)] = f.Password
		}
	}
	return out, nil
}

// withoutFurniture is a reference without the running lines that our loader says it left out. pdftotext parts some of
// them: a line of it that has two words or more and is part of one goes too.
func withoutFurniture(text string, meta rag.Meta) string {
	running, _ := meta["page_furniture"].([]string)
	var all strings.Builder
	for _, line := range running {
		all.WriteString(" " + digitless(line) + " |")
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		if l := digitless(line); !strings.Contains(l, " ") || !strings.Contains(all.String(), " "+l+" ") {
			out.WriteString(line)
		}
	}
	return out.String()
}

// digitless is a line's words with each figure as "#".
func digitless(line string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '#'
		}
		return r
	}, strings.Join(words(line), " "))
}

func errorWord(err error) string {
	switch {
	case err == nil:
		return "read"
	case errors.Is(err, rag.ErrInvalid):
		return "ErrInvalid"
	case errors.Is(err, rag.ErrUnsupported):
		return "ErrUnsupported"
	}
	return err.Error()
}
