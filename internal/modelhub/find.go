package modelhub

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// DirVariable is the environment variable that names the folder of model folders.
const DirVariable = "RAG_MODEL_DIR"

// Place is a folder that holds model folders.
type Place struct {
	Dir    string
	Origin string // where its name comes from: "model_dir", "RAG_MODEL_DIR", "the user's cache"
}

// Places returns where models are looked for, in this order: the setting model_dir (of the provider, or else of the
// configuration), the environment variable RAG_MODEL_DIR, the user's cache. What is not set is left out.
func Places(modelDir string) []Place {
	var places []Place
	if modelDir != "" {
		places = append(places, Place{modelDir, "model_dir"})
	}
	if dir := os.Getenv(DirVariable); dir != "" {
		places = append(places, Place{dir, DirVariable})
	}
	if cache, err := os.UserCacheDir(); err == nil { // no home: no cache to look into
		places = append(places, Place{filepath.Join(cache, "rag", "models"), "the user's cache"})
	}
	return places
}

// Find returns the folder that holds all files of a model: NAME below the first of [Places] that has them. The error,
// of kind ErrNotFound, says where it looked, what was missing, and what the user can do.
func Find(name, modelDir string) (string, error) {
	var tried []string
	for _, p := range Places(modelDir) {
		dir, missing := Folder(p, name)
		if len(missing) == 0 {
			return dir, nil
		}
		why := "no such folder"
		if _, err := os.Stat(dir); err == nil {
			why = "lacks " + strings.Join(missing, ", ")
		}
		tried = append(tried, fmt.Sprintf("  %s (%s): %s", dir, p.Origin, why))
	}
	if len(tried) == 0 {
		tried = []string{"  nowhere: model_dir and " + DirVariable + " are not set, and the user has no cache folder"}
	}
	return "", fmt.Errorf("%w: %s; looked in\n%s\n%s", ErrNotFound, name, strings.Join(tried, "\n"), waysOut(name))
}

// Folder returns where a place has a model, and what of its files is missing there. A swap that was cut short has left
// the model under its old name.
func Folder(p Place, name string) (dir string, missing []string) {
	dir = filepath.Join(p.Dir, name)
	if missing = Missing(dir); len(missing) > 0 && len(Missing(dir+oldSuffix)) == 0 {
		return dir + oldSuffix, nil
	}
	return dir, missing
}

// waysOut says what a user can do who has not got a model.
func waysOut(name string) string {
	instead := "use the model that is part of the program: `model: " + Builtin + "`"
	if c, ok := Named(name); ok && c.Task == TaskRerank {
		instead = "search without reranking: `rerank: none`"
	}
	return "three ways out:\n" +
		"  1. fetch it once: `rag models pull " + name + "`\n" +
		"  2. copy " + strings.Join(FileNames, ", ") + " into one of the folders above, or name the folder that has them: `model: /path/to/folder`\n" +
		"  3. " + instead
}

// Missing returns which of a model's files a folder lacks.
func Missing(dir string) []string {
	var missing []string
	for _, name := range FileNames {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.IsDir() {
			missing = append(missing, name)
		}
	}
	return missing
}

// IsPath reports whether a model's name in settings is the path of a folder: it is absolute or begins with a dot.
// "owner/name" is a repository.
func IsPath(name string) bool {
	return filepath.IsAbs(name) || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/")
}
