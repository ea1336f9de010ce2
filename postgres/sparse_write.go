package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/bm25"
	"github.com/seed-d8745b77/rag/internal/terms"
)

// wordPassage is what the index keeps of a record.
type wordPassage struct {
	stemming string
	length   int32
	fields   string
	validity rag.Validity
	postings map[string]*posting // by term
	forms    map[wordForm]bool
}

type posting struct {
	tf     int32
	places []int32
}

// wordForm says that a word was made into a term.
type wordForm struct{ form, term string }

// passages analyses the records, by ID.
func (x *Sparse) passages(ctx context.Context, recs []rag.TextRecord) (map[string]*wordPassage, error) {
	passages := make(map[string]*wordPassage, len(recs))
	for i, r := range slices.Backward(recs) {
		if r.ID == "" || !isText(r.ID) {
			return nil, fmt.Errorf("record %d has the ID %q, which is empty or no text: %w", i, r.ID, rag.ErrInvalid)
		}
		if passages[r.ID] != nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		fields, err := fieldsJSON(r.Meta)
		if err != nil {
			return nil, fmt.Errorf("record %s: %w", r.ID, err)
		}
		stemming, tokens, length := x.maker.Passage(terms.Passage{Text: r.Text, Title: r.Title, Headings: r.Headings, Language: r.Language})
		p := &wordPassage{stemming: stemming, length: int32(length), fields: string(fields), validity: r.Validity, postings: map[string]*posting{}, forms: map[wordForm]bool{}}
		for _, t := range tokens {
			p.add(t)
		}
		passages[r.ID] = p
	}
	return passages, nil
}

// add counts a token.
func (p *wordPassage) add(t bm25.Token) {
	term := textOf(t.Term)
	at := p.postings[term]
	if at == nil {
		at = &posting{}
		p.postings[term] = at
	}
	at.tf += int32(t.Weight)
	at.places = append(at.places, int32(t.Position))
	if t.Form != "" {
		p.forms[wordForm{textOf(t.Form), term}] = true
	}
}

// totals are how the statistics of a collection change, by stemming.
type totals map[string]*total

type total struct{ passages, length int64 }

func (t totals) count(stemming string, passages, length int64) {
	if t[stemming] == nil {
		t[stemming] = &total{}
	}
	t[stemming].passages += passages
	t[stemming].length += length
}

// remove takes passages out with their postings.
func (t totals) remove(ctx context.Context, tx pgx.Tx, collection int64, ids []string) error {
	rows, err := tx.Query(ctx, `delete from word_passages where collection = $1 and id = any($2) returning no, stemming, length, terms`, collection, ids)
	if err != nil {
		return err
	}
	var no, length int64
	var stemming string
	var had []string
	var numbers []int64
	var gone []string
	_, err = pgx.ForEachRow(rows, []any{&no, &stemming, &length, &had}, func() error {
		t.count(stemming, -1, -length)
		for _, term := range had {
			numbers, gone = append(numbers, no), append(gone, term)
		}
		return nil
	})
	if err != nil || len(gone) == 0 {
		return err
	}
	_, err = tx.Exec(ctx, `
		delete from word_postings p using unnest($2::text[], $3::bigint[]) as g(term, passage)
		where p.collection = $1 and p.term = g.term collate "C" and p.passage = g.passage`, collection, gone, numbers)
	return err
}

// add puts passages in, none of which is there.
func (t totals) add(ctx context.Context, tx pgx.Tx, collection int64, passages map[string]*wordPassage) error {
	numbers, err := t.insert(ctx, tx, collection, passages)
	if err != nil {
		return err
	}
	var rows [][]any
	forms := map[wordForm]bool{}
	for _, id := range slices.Sorted(maps.Keys(passages)) {
		p := passages[id]
		for _, term := range slices.Sorted(maps.Keys(p.postings)) {
			at := p.postings[term]
			slices.Sort(at.places)
			rows = append(rows, []any{collection, term, numbers[id], at.tf, p.length, slices.Compact(at.places)})
		}
		maps.Copy(forms, p.forms)
	}
	_, err = tx.CopyFrom(ctx, pgx.Identifier{"word_postings"}, []string{"collection", "term", "passage", "tf", "length", "places"}, pgx.CopyFromRows(rows))
	if err != nil || len(forms) == 0 {
		return err
	}
	var form, term []string
	for f := range forms {
		form, term = append(form, f.form), append(term, f.term)
	}
	_, err = tx.Exec(ctx, `
		insert into word_forms (collection, form, term) select $1, * from unnest($2::text[], $3::text[]) on conflict do nothing`, collection, form, term)
	return err
}

// insert puts in the passages without their postings, and returns their numbers by ID.
func (t totals) insert(ctx context.Context, tx pgx.Tx, collection int64, passages map[string]*wordPassage) (map[string]int64, error) {
	var b pgx.Batch
	numbers := make(map[string]int64, len(passages))
	for _, id := range slices.Sorted(maps.Keys(passages)) {
		p := passages[id]
		t.count(p.stemming, 1, int64(p.length))
		b.Queue(`
			insert into word_passages (collection, id, length, stemming, terms, fields, valid_from, valid_until)
			values ($1, $2, $3, $4, $5, $6::jsonb, $7::numeric, $8::numeric) returning no`,
			collection, id, p.length, p.stemming, append([]string{}, slices.Sorted(maps.Keys(p.postings))...), p.fields, seconds(p.validity.From), seconds(p.validity.Until)).
			QueryRow(func(row pgx.Row) error {
				var no int64
				err := row.Scan(&no)
				numbers[id] = no
				return err
			})
	}
	return numbers, tx.SendBatch(ctx, &b).Close()
}

// keep writes the changes of the statistics.
func (t totals) keep(ctx context.Context, tx pgx.Tx, collection int64) error {
	var b pgx.Batch
	for _, stemming := range slices.SortedFunc(maps.Keys(t), strings.Compare) {
		b.Queue(`
			insert into word_totals as t (collection, stemming, passages, length) values ($1, $2, $3, $4)
			on conflict (collection, stemming) do update set passages = t.passages + excluded.passages, length = t.length + excluded.length`,
			collection, stemming, t[stemming].passages, t[stemming].length)
	}
	return tx.SendBatch(ctx, &b).Close()
}
