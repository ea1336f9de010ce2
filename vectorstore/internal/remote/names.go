package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Parts of a name: what can be read of the collection's, and what tells it from all others.
const (
	readable = 40 // bytes
	digest   = 10 // bytes of a SHA-256: two of a million names are the same with a chance below 10⁻¹²
)

// Name returns the name under which a service knows a collection, whatever that is called: letters, digits and joint
// between them. It begins with prefix, which must begin with a letter.
func Name(prefix, collection, joint string) string {
	sum := sha256.Sum256([]byte(collection))
	words := strings.FieldsFunc(collection, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') })
	parts := []string{prefix}
	if read := strings.Join(words, joint); read != "" {
		parts = append(parts, strings.TrimRight(read[:min(len(read), readable)], joint))
	}
	return strings.Join(append(parts, hex.EncodeToString(sum[:digest])), joint)
}
