package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/loader/pdf"
)

// columned is a page set in columns, with the boxes in which its text stands, in the order in which a reader takes them:
// chosen by eye on the printed page. Points, from the upper left: x, y, width, height. The reference is what pdftotext
// reads of one box after the other.
type columned struct {
	file  string
	page  int
	boxes [][4]int
}

var columnedPages = []columned{
	{"multicolumn.pdf", 1, [][4]int{{60, 150, 480, 75}, {60, 240, 244, 440}, {304, 240, 250, 440}}},
	{"multicolumn.pdf", 2, [][4]int{{60, 120, 244, 560}, {304, 120, 250, 560}}},
	{"normal_4pages.pdf", 3, [][4]int{{55, 80, 250, 720}, {306, 80, 250, 720}}},
	{"normal_4pages.pdf", 4, [][4]int{{55, 80, 250, 690}, {306, 80, 250, 690}}},
	{"federal-register-2020-17221.pdf", 2, threeColumns},
	{"federal-register-2020-17221.pdf", 3, threeColumns},
	{"federal-register-2020-17221.pdf", 4, threeColumns},
}

var threeColumns = [][4]int{{40, 55, 175, 690}, {215, 55, 178, 690}, {393, 55, 190, 690}}

// tableOrder compares the order of words on pages with columns.
func (b *bench) tableOrder(ctx context.Context, peers map[string]map[string]reading) error {
	fmt.Println("\n| page | words | ours | pdftotext | pdftotext -raw | PyMuPDF | pymupdf4llm | markitdown |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for _, c := range columnedPages {
		path := filepath.Join(b.docs, "pdf", c.file)
		var ref []string
		for _, box := range c.boxes {
			text, err := pageText(ctx, path, c.page, "-x", strconv.Itoa(box[0]), "-y", strconv.Itoa(box[1]), "-W", strconv.Itoa(box[2]), "-H", strconv.Itoa(box[3]))
			if err != nil {
				return err
			}
			ref = append(ref, words(text)...)
		}
		doc, _, err := b.readPDF(ctx, path, pdf.Config{SkipPictures: true})
		if err != nil {
			return err
		}
		line := fmt.Sprintf("| %s, %d | %d | %.3f |", c.file, c.page, len(ref), inOrder(ref, words(onPage(&doc, c.page))))
		for _, args := range [][]string{nil, {"-raw"}} {
			text, err := pageText(ctx, path, c.page, args...)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %.3f |", inOrder(ref, words(text)))
		}
		for _, peer := range pythonPDF {
			// The peers give the whole file: words of other pages do no harm to a subsequence of this one's.
			if r, ok := peers[peer][path]; ok && r.Error == "" {
				line += fmt.Sprintf(" %.3f |", inOrder(ref, words(r.Text)))
			} else {
				line += " |"
			}
		}
		fmt.Println(line)
	}
	return nil
}

func pageText(ctx context.Context, path string, page int, args ...string) (string, error) {
	n := strconv.Itoa(page)
	args = append(append([]string{"-f", n, "-l", n}, args...), path, "-")
	out, err := exec.CommandContext(ctx, "pdftotext", args...).Output()
	return string(out), err
}

// onPage is the text of a 1-based page.
func onPage(doc *rag.Document, page int) string {
	end := len(doc.Text)
	if page < len(doc.Pages) {
		end = doc.Pages[page]
	}
	return strings.TrimSpace(doc.Text[doc.Pages[page-1]:end])
}
