package rag

import (
	"context"
	"errors"
	"fmt"
)

// Checker is implemented by catalogs, vector stores and sparse indexes that can read back all that they hold.
type Checker interface {
	// Check reads all that is held of a collection, with its checksums and references, and returns what is wrong; nothing if
	// all is well, or the collection is unknown. Its error is what kept it from looking.
	Check(ctx context.Context, collection string) ([]Problem, error)
}

// Problem is something that is not as it was written, or not what the settings say.
type Problem struct {
	Part    string `json:"part"`    // "catalog", StageDense or StageSparse
	URI     string `json:"uri"`     // of the document; "" if it is not known, or concerns all
	Message string `json:"message"` // what is wrong, and, if Repair does not put it right, what to do

	Settings bool `json:"settings,omitempty"` // nothing is damaged: other settings are in force than those it was built with
}

// partCatalog is the Part of a problem of the catalog.
const partCatalog = "catalog"

// check has catalog and indexes read all they hold of a collection, and adds to the report what is wrong.
func (e *Engine) check(ctx context.Context, rep *VerifyReport, h Header) error {
	index := indexName(rep.Collection, h.Generation)
	dense := e.vectors
	if h.Embedder == "" {
		dense = nil
	}
	for _, part := range []struct {
		name, collection string
		store            any
	}{{partCatalog, rep.Collection, e.catalog}, {StageDense, index, dense}, {StageSparse, index, e.sparse}} {
		c, ok := part.store.(Checker)
		if !ok {
			continue
		}
		found, err := c.Check(ctx, part.collection)
		if err != nil {
			return fmt.Errorf("check %s: %w", part.name, err)
		}
		for _, p := range found {
			p.Part, p.Message = part.name, e.HideSecrets(p.Message)
			rep.Problems = append(rep.Problems, p)
		}
	}
	if err := e.checkHeader(rep.Collection, h, true, true); errors.Is(err, ErrFingerprint) {
		rep.Problems = append(rep.Problems, Problem{Part: partCatalog, Message: err.Error(), Settings: true})
	}
	return nil
}

// Mendable reports whether the problems are such that the indexes, made anew from the catalog, are without them. What is damaged in
// the catalog itself is not of these: see [VerifyReport.Dropped].
func (r *VerifyReport) Mendable() bool {
	for _, p := range r.Problems {
		if p.Part == partCatalog {
			return false
		}
	}
	return true
}
