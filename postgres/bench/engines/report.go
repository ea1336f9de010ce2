package main

import (
	_ "embed"
	"fmt"
	"io"
	"time"
)

// reading explains the figures; a person wrote it.
//
//go:embed reading.md
var reading string

// report writes the tables.
func report(w io.Writer, d *data, engines []*engine, dense, words []*asked) {
	n := float64(len(d.chunks))
	rate := func(s stopwatch) string {
		if s.total == 0 {
			return "–"
		}
		return fmt.Sprintf("%.0f", n/s.total.Seconds())
	}
	fmt.Fprintf(w, `
## Writing

Batches of %d records, as an ingest writes them, each durable when it returns; the engines take turns by %d records. "Both" is chunks a second
where an engine takes vectors and words, the embedded index in place of words that an engine has not got.

| engine | vectors/s | of embedded | words/s | of embedded | both/s | of embedded |
|---|---|---|---|---|---|---|
`, batch, block)
	base := engines[0]
	for _, e := range engines {
		with := e.wordTime
		ratio := "–"
		if e.words == nil {
			with = base.wordTime
		} else {
			ratio = fmt.Sprintf("%.2f", base.wordTime.total.Seconds()/e.wordTime.total.Seconds())
		}
		both := stopwatch{e.vectorTime.total + with.total}
		fmt.Fprintf(w, "| %s | %s | %.2f | %s | %s | %s | %.2f |\n", e.name, rate(e.vectorTime), base.vectorTime.total.Seconds()/e.vectorTime.total.Seconds(),
			rate(e.wordTime), ratio, rate(both), (base.vectorTime.total+base.wordTime.total).Seconds()/both.total.Seconds())
	}
	askedTable(w, "Vectors", fmt.Sprintf("The ten nearest of all, or of those that a filter lets through. Recall is against exact search; short are questions with fewer\nresults than there are. First is the first question of its kind. Questions one after the other, %d of them unmeasured before;\nof the last kind, of which an engine may have to read much, %d in all.", warmUp, few), "recall", dense)
	askedTable(w, "Words", "Alike are the results that the embedded index gives, too; nDCG@10 is that of the documents that the ten chunks are of.", "alike", words)
	fmt.Fprint(w, "\n## Memory and disk\n\nAfter all of it, less what the engine takes without chunks. Memory is that of its processes which the system cannot take back, and pages of files that\nit can; of the embedded stores, that of a process which opens them and asks all questions. Disk holds logs, too.\n\n| engine | memory MiB | bytes a chunk | without chunks MiB | pages of files MiB | disk MiB | bytes a chunk | without chunks MiB |\n|---|---|---|---|---|---|---|---|\n")
	for _, e := range engines {
		grown, disk := e.memory.Own-e.emptyMemory.Own, e.disk-e.emptyDisk
		fmt.Fprintf(w, "| %s | %s | %.0f | %s | %s | %s | %.0f | %s |\n", e.name, mib(grown), float64(grown)/n, mib(e.emptyMemory.Own), mib(e.memory.Files), mib(disk), float64(disk)/n, mib(e.emptyDisk))
	}
	for _, e := range engines {
		if e.relations == nil {
			continue
		}
		fmt.Fprintf(w, "\nTables and indexes of %s, the largest:\n\n| relation | MiB | bytes a chunk |\n|---|---|---|\n", e.name)
		for _, r := range e.relations {
			fmt.Fprintf(w, "| %s | %s | %.0f |\n", r.name, mib(r.bytes), float64(r.bytes)/n)
		}
	}
}

// askedTable writes what questions told, one kind after the other.
func askedTable(w io.Writer, title, about, found string, rows []*asked) {
	ndcg, line := "", ""
	if found == "alike" {
		ndcg, line = " nDCG@10 |", "---|"
	}
	fmt.Fprintf(w, "\n## %s\n\n%s\n\n| of | engine | %s |%s short | first ms | p50 ms | p99 ms | speed, embedded = 1 |\n|---|---|---|%s---|---|---|---|---|\n", title, about, found, ndcg, line)
	var base *asked
	for _, r := range rows {
		if base == nil || base.kind != r.kind {
			base = r
		}
		fmt.Fprintf(w, "| %s | %s | %.4f |", r.kind, r.engine, r.found.Value())
		if ndcg != "" {
			fmt.Fprintf(w, " %.4f |", r.ndcg.Value())
		}
		fmt.Fprintf(w, " %d | %s | %s | %s | %.3f |\n", r.short, ms(r.first), ms(r.p50), ms(r.p99), base.p50.Seconds()/r.p50.Seconds())
	}
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()*1000) }

func mib(bytes int64) string { return fmt.Sprintf("%.0f", float64(bytes)/(1<<20)) }
