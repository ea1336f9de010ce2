// Command admissions tells what will not be in force much longer, and which questions of the test set rely on it: a job for
// the night, beside the command. From the project's folder, after the ingest of the README:
//
//	go run ./examples/admissions examples/admissions 2026-07-15
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/domain"
	"github.com/seed-d8745b77/rag/eval"
)

// notice is how long before its end a document is told.
const notice = 60 * 24 * time.Hour

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: admissions FOLDER DAY")
	}
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, folder, day string) error {
	d, err := domain.Load(filepath.Join(folder, "admissions.yaml"))
	if err != nil {
		return err
	}
	today, err := d.Instant(day)
	if err != nil {
		return err
	}
	set, err := eval.Load(filepath.Join(folder, "questions.jsonl"))
	if err != nil {
		return err
	}
	eng, err := rag.Open(filepath.Join(folder, ".rag"), rag.WithSnapshot()) // beside whoever writes
	if err != nil {
		return err
	}
	defer eng.Close()
	var due []rag.Entry
	for e, err := range eng.Documents(ctx, d.Collection) {
		if err != nil {
			return err
		}
		if e.Validity.Status(today) == rag.StatusCurrent && e.Validity.Status(today.Add(notice)) == rag.StatusExpired {
			due = append(due, e)
		}
	}
	slices.SortFunc(due, func(a, b rag.Entry) int { return a.Validity.Until.Compare(b.Validity.Until) })
	for _, e := range due {
		var questions []string
		for _, q := range set.Questions {
			for name := range q.Documents {
				if eval.SameDocument(e.URI, name) {
					questions = append(questions, q.ID)
				}
			}
		}
		fmt.Printf("%s  %s: %s\n", e.Validity.Until.Format("2006-01-02 15:04 MST"), filepath.Base(e.URI), strings.Join(questions, ", "))
	}
	return nil
}
