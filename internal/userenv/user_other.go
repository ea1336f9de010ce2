//go:build !windows && !darwin

package userenv

import (
	"os"
	"path/filepath"
)

func ofUser(name string) (string, bool) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", false
	}
	return ofFiles(filepath.Join(dir, "environment.d"), name)
}
