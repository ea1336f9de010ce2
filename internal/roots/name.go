package roots

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a name, below those of usual file systems.
const (
	maxNameBytes = 240 // of one element: systems take 255, and a partial file has a longer one
	maxPathBytes = 2000
	maxDepth     = 32
)

// CheckName checks the name under which a file was uploaded, with slashes between its folders. One that passes is a place
// below a folder on every system, and one that an ingest does not pass over. Nothing is mended: a file is either kept
// under the name that its owner knows, or refused with the reason.
func CheckName(name string) error {
	switch {
	case name == "" || name == ".":
		return errors.New("the file has no name")
	case !utf8.ValidString(name):
		return errors.New("its name is not UTF-8")
	case strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("its name has a control character")
	case strings.Contains(name, `\`):
		return errors.New("its name has a backslash")
	case !fs.ValidPath(name) || !filepath.IsLocal(filepath.FromSlash(name)):
		return errors.New("its name leads out of the folder")
	case len(name) > maxPathBytes || strings.Count(name, "/") > maxDepth:
		return errors.New("its name is too long")
	}
	for elem := range strings.SplitSeq(name, "/") {
		switch {
		case len(elem) > maxNameBytes:
			return errors.New("its name is too long")
		case strings.HasPrefix(elem, "."):
			return errors.New("a name that begins with a dot is not ingested")
		case strings.TrimRight(elem, " .") != elem:
			return errors.New("its name ends in a blank or a dot")
		case isDevice(elem):
			return fmt.Errorf("%q is the name of a device on some systems", elem)
		}
	}
	return nil
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
