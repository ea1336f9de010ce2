// Package config reads rag.yaml into a rag.Config.
//
//	loaded, err := config.Load(config.Find(".rag"))
//	engine, err := rag.Open(".rag", rag.WithConfig(loaded.Config))
//
// Reading is strict: an unknown key, a key given twice and a value of the wrong type are errors that name the file and
// the line. Text values may hold ${NAME}, the value of an environment variable, or ${NAME:-default}; $${ stands for ${.
// A file .env beside rag.yaml may give variables that the environment does not have.
package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/strict"
	"github.com/seed-d8745b77/rag/internal/userenv"
)

// FileName is the name of the file that Find looks for.
const FileName = "rag.yaml"

// maxFileBytes bounds what is read: a larger file is no configuration.
const maxFileBytes = 1 << 20

// Loaded is a configuration that knows where its values came from.
type Loaded struct {
	Config rag.Config
	Path   string // of the file; "" if there is none and everything is a default

	// Secrets are the values of environment variables that went into the texts of the file, for [rag.WithSecrets]: traces
	// and whatever else is kept must not tell them. What a variable gives a key that holds a name or a number, such as
	// provider or retrieval.top_k, is none.
	Secrets []string

	origins map[string]Origin
	lines   Lines
	lookup  func(string) (string, bool) // nil: that of the process
}

// Getenv returns a variable of the process, or else of the file .env beside the configuration file; "" if there is none. It is
// for [rag.WithGetenv]: providers take the keys of services from it.
func (l Loaded) Getenv(name string) string {
	if l.lookup == nil {
		return userenv.Getenv(name)
	}
	value, _ := l.lookup(name)
	return value
}

// Origin says where a value came from. The zero value is the default.
type Origin struct {
	File string // "" for a default
	Line int    // 1-based
	Env  string // the environment variable that gave the value or a part of it; "" if none did
}

// String returns "default", "file:line" or "env NAME".
func (o Origin) String() string {
	switch {
	case o.Env != "":
		return "env " + o.Env
	case o.File != "":
		return fmt.Sprintf("%s:%d", o.File, o.Line)
	}
	return "default"
}

// Find returns the path of the configuration for a data directory: rag.yaml in it, else in the working directory, else "".
func Find(dir string) string {
	for _, path := range []string{filepath.Join(dir, FileName), FileName} {
		// A file that is there but cannot be read is found: Load then says what is wrong.
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return path
		}
	}
	return ""
}

// Load reads the file over rag.DefaultConfig: a key that is not given keeps its default. Path "" gives the defaults.
// Variables that the process does not have come from the file .env beside it, if there is one, or else from the environment of
// the user. What cannot be right is rag.ErrInvalid.
func Load(path string) (Loaded, error) {
	if path == "" {
		return Loaded{Config: rag.DefaultConfig()}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return Loaded{}, fmt.Errorf("configuration: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return Loaded{}, fmt.Errorf("configuration: %w", err)
	}
	lookup, err := environment(filepath.Dir(path))
	if err != nil {
		return Loaded{}, err
	}
	return Parse(path, data, lookup)
}

// Parse is Load for the content of a file. path is used in messages only; lookup gives environment variables.
func Parse(path string, data []byte, lookup func(string) (string, bool)) (Loaded, error) {
	if len(data) > maxFileBytes {
		return Loaded{}, fmt.Errorf("%s: larger than %d bytes: %w", path, maxFileBytes, rag.ErrInvalid)
	}
	loaded := Loaded{Config: rag.DefaultConfig(), Path: path, lookup: lookup}
	root, err := document(path, data)
	if err != nil || root == nil {
		return loaded, err
	}
	r := reader{file: path, origins: map[string]Origin{}, lines: map[string]int{}, lookup: lookup}
	values, err := r.value(root, reflect.TypeFor[rag.Config](), "")
	if err != nil {
		return Loaded{}, err
	}
	if err := merge(&loaded.Config, values); err != nil {
		return Loaded{}, fmt.Errorf("%s: %w", path, err)
	}
	loaded.origins, loaded.lines, loaded.Secrets = r.origins, Lines{path, r.lines}, r.secrets
	return loaded, nil
}

// document parses YAML that holds one document, or none.
func document(path string, data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, syntaxError(path, data, err)
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		if err != nil {
			return nil, syntaxError(path, data, err)
		}
		return nil, fmt.Errorf("%s:%d: a second document begins: one is read: %w", path, second.Line, rag.ErrInvalid)
	}
	root := doc.Content[0]
	if root.ShortTag() == "!!null" {
		return nil, nil
	}
	return root, nil
}

// syntaxError says "file:line: what".
func syntaxError(path string, data []byte, err error) error {
	line, message := strict.YAMLError(err, data)
	return fmt.Errorf("%s:%d: %s: %w", path, line, message, rag.ErrInvalid)
}

// merge writes values over c.
func merge(c *rag.Config, values any) error {
	raw, err := json.Marshal(values)
	if err != nil {
		return err
	}
	if given, ok := values.(map[string]any); ok && given["transforms"] != nil {
		// encoding/json would let new elements inherit from the old ones.
		c.Transforms = nil
	}
	// encoding/json writes through pointers, and two defaults may share what they point to.
	c.Retrieval.EnableDense, c.Retrieval.EnableSparse = clone(c.Retrieval.EnableDense), clone(c.Retrieval.EnableSparse)
	return json.Unmarshal(raw, c)
}

func clone(b *bool) *bool {
	if b == nil {
		return nil
	}
	v := *b
	return &v
}
