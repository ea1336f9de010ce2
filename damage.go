package rag

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// DamageError says that records of documents cannot be read in the catalog. Those of others can. It is of the kind ErrInvalid.
type DamageError struct {
	URIs   []string // of the documents, each once; "" for records of which it cannot be told
	Reason string   // what is damaged
}

// Error names the documents and says what to do.
func (e *DamageError) Error() string {
	names, one := make([]string, len(e.URIs)), "URI"
	for i, uri := range e.URIs {
		if names[i] = uri; uri == "" {
			names[i] = "(unknown)"
		} else {
			one = uri
		}
	}
	return fmt.Sprintf("in the catalog a record of %s is damaged (%s): `rag ingest --force` with the source makes the document anew, `rag delete %s` takes it out, `rag verify --repair` does that with all that are damaged",
		strings.Join(names, ", "), e.Reason, one)
}

// Unwrap returns the kind.
func (e *DamageError) Unwrap() error { return ErrInvalid }

// Mender is implemented by catalogs that can put right what Check finds in them. PostgreSQL sees to its own pages.
type Mender interface {
	// Mend takes out the documents of a collection that cannot be read whole, and makes anew what follows from the rest; ref
	// makes the reference to a passage. It returns the documents it took out, by URI, and why; those whose URI cannot be read,
	// either, have "". It is all or nothing, and durable when it returns.
	Mend(ctx context.Context, collection string, ref func(*Chunk) ChunkRef) ([]Problem, error)
}

// isDamage reports whether an error is about damaged records, and the others can be read.
func isDamage(err error) bool {
	var damage *DamageError
	return errors.As(err, &damage)
}

// live is what of the catalog's chunks can be read, where the damaged ones are seen to elsewhere.
func live(chunks []Chunk, err error) ([]Chunk, error) {
	if isDamage(err) {
		err = nil
	}
	return chunks, err
}

// readable is live for a search, which says what is left out.
func (s *search) readable(chunks []Chunk, err error) ([]Chunk, error) {
	if damage := (*DamageError)(nil); errors.As(err, &damage) {
		s.noteDamage("a passage was left out", damage)
	}
	return live(chunks, err)
}

// noteDamage notes once what a search left out.
func (s *search) noteDamage(what string, damage *DamageError) {
	text := what + ": " + damage.Error()
	s.noting.Lock() // the lanes run side by side
	defer s.noting.Unlock()
	if n := (Note{StageFusion, s.HideSecrets(text)}); !slices.Contains(s.result.Notes, n) {
		s.result.Notes = append(s.result.Notes, n)
	}
}
