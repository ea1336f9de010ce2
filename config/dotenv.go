package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/userenv"
)

// EnvFileName is the name of the file of variables that may lie beside a configuration file.
const EnvFileName = ".env"

// environment gives the variables of the process, and those of the file .env in a folder, which is not there as a rule.
// What the process has goes before, also where it is empty; what neither has comes from the environment of the user.
func environment(folder string) (func(string) (string, bool), error) {
	path := filepath.Join(folder, EnvFileName)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return userenv.Lookup, nil
	}
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	variables, err := parseEnv(path, data)
	if err != nil {
		return nil, err
	}
	return func(name string) (string, bool) {
		if value, ok := os.LookupEnv(name); ok {
			return value, true
		}
		if value, ok := variables[name]; ok {
			return value, true
		}
		return userenv.Lookup(name)
	}, nil
}

// parseEnv reads lines NAME=value as shells do, as far as they agree: "export" may stand before, # begins a comment, quotes
// are taken off, and what stands in "double" ones may have \n, \", \\ and \$. Nothing is expanded. Of two lines of one name the
// last counts.
func parseEnv(path string, data []byte) (map[string]string, error) {
	if len(data) > maxFileBytes {
		return nil, fmt.Errorf("%s: larger than %d bytes: %w", path, maxFileBytes, rag.ErrInvalid)
	}
	variables := map[string]string{}
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if rest, ok := strings.CutPrefix(line, "export "); ok {
			line = strings.TrimSpace(rest)
		}
		name, value, ok := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); !ok || !variableName.MatchString(name) {
			return nil, fmt.Errorf("%s:%d: want NAME=value: %w", path, number, rag.ErrInvalid)
		}
		if value, ok = envValue(strings.TrimSpace(value)); !ok {
			return nil, fmt.Errorf("%s:%d: the quotes around the value of %s are not closed, or something follows them: %w", path, number, name, rag.ErrInvalid)
		}
		variables[name] = value
	}
	return variables, nil
}

// escaped is what a backslash stands for in double quotes.
var escaped = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\$`, `$`, `\n`, "\n")

// envValue takes quotes and the comment off a value. ok is false if a quote is not closed.
func envValue(s string) (value string, ok bool) {
	if s == "" || s[0] != '\'' && s[0] != '"' {
		if at := strings.Index(" "+s, " #"); at >= 0 {
			s = strings.TrimSpace(s[:max(0, at-1)])
		}
		return s, true
	}
	quote, end := s[0], 1
	for ; end < len(s) && s[end] != quote; end++ {
		if quote == '"' && s[end] == '\\' {
			end++
		}
	}
	if end >= len(s) {
		return "", false
	}
	if after := strings.TrimSpace(s[end+1:]); after != "" && after[0] != '#' {
		return "", false
	}
	if value = s[1:end]; quote == '"' {
		value = escaped.Replace(value)
	}
	return value, true
}
