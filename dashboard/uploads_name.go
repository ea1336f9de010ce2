package dashboard

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag"
)

// Bounds of a name, below those of usual file systems.
const (
	maxNameBytes = 240 // of one element: systems take 255, and a partial file has a longer one
	maxPathBytes = 2000
	maxDepth     = 32
)

// cleanName checks the name under which a file was uploaded, with slashes between its folders. What it returns is a place
// below a folder on every system, and one that an ingest does not pass over. Nothing is mended: a file is either kept
// under the name that its owner knows, or refused with the reason.
func cleanName(name string) (string, error) {
	switch {
	case name == "" || name == ".":
		return "", fmt.Errorf("the file has no name: %w", rag.ErrInvalid)
	case !utf8.ValidString(name):
		return "", fmt.Errorf("its name is not UTF-8: %w", rag.ErrInvalid)
	case strings.ContainsFunc(name, unicode.IsControl):
		return "", fmt.Errorf("its name has a control character: %w", rag.ErrInvalid)
	case strings.Contains(name, `\`):
		return "", fmt.Errorf("its name has a backslash: %w", rag.ErrInvalid)
	case !fs.ValidPath(name) || !filepath.IsLocal(filepath.FromSlash(name)):
		return "", fmt.Errorf("its name leads out of the folder: %w", rag.ErrInvalid)
	case len(name) > maxPathBytes || strings.Count(name, "/") > maxDepth:
		return "", fmt.Errorf("its name is too long: %w", rag.ErrInvalid)
	}
	for elem := range strings.SplitSeq(name, "/") {
		switch {
		case len(elem) > maxNameBytes:
			return "", fmt.Errorf("its name is too long: %w", rag.ErrInvalid)
		case strings.HasPrefix(elem, "."):
			return "", fmt.Errorf("a name that begins with a dot is not ingested: %w", rag.ErrInvalid)
		case strings.TrimRight(elem, " .") != elem:
			return "", fmt.Errorf("its name ends in a blank or a dot: %w", rag.ErrInvalid)
		case isDevice(elem):
			return "", fmt.Errorf("%q is the name of a device on some systems: %w", elem, rag.ErrInvalid)
		}
	}
	return name, nil
}

// isDevice reports the names that Windows keeps for devices, with any ending: data folders are copied between systems.
func isDevice(elem string) bool {
	base, _, _ := strings.Cut(strings.ToUpper(elem), ".")
	switch base = strings.TrimRight(base, " "); base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	port, found := strings.CutPrefix(base, "COM")
	if !found {
		port, found = strings.CutPrefix(base, "LPT")
	}
	return found && strings.Contains("0123456789¹²³", port) && utf8.RuneCountInString(port) == 1
}
