package domain

import (
	"fmt"

	"github.com/seed-d8745b77/rag"
)

func init() {
	rag.Default.Domain = func(rec rag.DomainRecord) (rag.Domain, error) {
		d, err := Parse(rec.Name, []byte(rec.Text))
		if err != nil {
			return nil, fmt.Errorf("as the collection remembers it: %w", err)
		}
		d.record.File = rec.File
		return d, nil
	}
}
