// Package domain describes a subject as data: which metadata its documents have and in which words, when a text is in
// force, what folders say, and the tool by which it is asked.
//
//	d, err := domain.Load("admissions.yaml")
//	sets, err := d.Manifest("manifest.jsonl", "docs") // every mistake in it, before anything is written; or no manifest: rag.Dir("docs")
//	report, err := engine.Ingest(ctx, rag.IngestRequest{Collection: d.Collection, Domain: d, Sources: sets})
//	result, err := engine.Search(ctx, rag.Query{Text: "deadline?", Collection: d.Collection})
//
// The collection remembers the domain, and each document what the manifest said of it: later ingests and searches need
// neither. [Of] tells the domain of a collection. A question may be asked under another domain, see [Domain.Query].
//
// Reading is strict: every mistake in a file is reported at once, with line and column. docs/domains.md describes the
// files.
package domain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-d8745b77/rag"
)

// Names of fields that every document has, and that no domain declares with another meaning.
const (
	FieldPath  = "document_path" // in a manifest: the file
	FieldTitle = "title"         // goes into the document's title
)

// Domain is what a subject knows of its documents. Make one with [Load] or [Parse]; it is read only from then on, and
// safe for concurrent use.
type Domain struct {
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Collection  string    `json:"collection,omitempty"`    // where its documents are and questions go; "": the configured one
	Forced      rag.Meta  `json:"forced_filter,omitempty"` // every document gets these values, and every hit must have them
	Fields      []Field   `json:"fields"`                  // in the order of the file
	Validity    *Validity `json:"validity,omitempty"`      // nil: dates mean nothing
	Paths       *Paths    `json:"paths,omitempty"`         // nil: folders say nothing
	Tool        *Tool     `json:"tool,omitempty"`          // nil: no tool of its own

	fingerprint string
	record      rag.DomainRecord
}

var _ rag.Domain = (*Domain)(nil)

// Tool is how a domain is offered to programs that call tools.
type Tool struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Parameters  []string `json:"parameters"` // filterable fields that may be given; by default all of them
}

// Field returns the declared field of this name.
func (d *Domain) Field(name string) (*Field, bool) {
	i := slices.IndexFunc(d.Fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return nil, false
	}
	return &d.Fields[i], true
}

// Record is what a collection keeps of the domain: its text, and the file it was read from.
func (d *Domain) Record() rag.DomainRecord { return d.record }

// Of returns the domain that a collection remembers; nil if it has none. "" means the engine's configured collection.
func Of(ctx context.Context, eng *rag.Engine, collection string) (*Domain, error) {
	remembered, err := eng.Domain(ctx, collection)
	if err != nil {
		return nil, err
	}
	d, _ := remembered.(*Domain) // nil for one of a program's own kind
	return d, nil
}

// Fingerprint names everything that decides metadata and validity of a document.
func (d *Domain) Fingerprint() string { return d.fingerprint }

// seal computes the fingerprint. What only searches use is not part of it.
func (d *Domain) seal() error {
	described := Domain{Name: d.Name, Forced: d.Forced, Fields: slices.Clone(d.Fields), Paths: d.Paths}
	for i := range described.Fields {
		described.Fields[i].Description, described.Fields[i].Filterable = "", false
	}
	if d.Validity != nil {
		v := *d.Validity
		v.Expired = ""
		described.Validity = &v
	}
	b, err := json.Marshal(described)
	sum := sha256.Sum256(b)
	d.fingerprint = "domain/v1/" + d.Name + "/" + hex.EncodeToString(sum[:8])
	return err
}

// maxFileBytes bounds what is read: a larger file is no domain.
const maxFileBytes = 1 << 20

// Load reads a domain from a YAML file. What cannot be right is a *FileError, which matches rag.ErrInvalid.
func Load(path string) (*Domain, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("domain: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("domain: %w", err)
	}
	d, err := Parse(path, data)
	if err != nil {
		return nil, err
	}
	if abs, err := filepath.Abs(path); err == nil {
		d.record.File = rag.FileURI(abs)
	}
	return d, nil
}

// zone is the time zone of days; UTC without a validity policy.
func (d *Domain) zone() *time.Location {
	if d.Validity == nil || d.Validity.zone == nil {
		return time.UTC
	}
	return d.Validity.zone
}
