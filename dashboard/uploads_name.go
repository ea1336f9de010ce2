package dashboard

import (
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/roots"
)

// cleanName checks the name under which a file was uploaded; see [roots.CheckName].
func cleanName(name string) (string, error) {
	if err := roots.CheckName(name); err != nil {
		return "", fmt.Errorf("%w: %w", err, rag.ErrInvalid)
	}
	return name, nil
}
