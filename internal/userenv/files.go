package userenv

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
)

// ofFiles returns a variable of the files *.conf of a folder, which are read in the order of their names; the last one
// counts.
func ofFiles(dir, name string) (value string, set bool) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.conf")) // sorted; the pattern is right
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			continue
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			if v, ok := assigned(lines.Text(), name); ok {
				value, set = v, true
			}
		}
		_ = f.Close()
	}
	return value, set
}

// assigned returns the value that a line such as NAME=value or NAME="value" gives to a variable. One that is made of other
// variables is passed over: half of a key is worse than none.
func assigned(line, name string) (value string, ok bool) {
	key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
	if !ok || key != name {
		return "", false
	}
	if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		value = value[1 : n-1]
	}
	return value, !strings.ContainsAny(value, `$\`)
}
