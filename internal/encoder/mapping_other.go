//go:build !darwin && !linux

package encoder

import "os"

// mapFile reads a file.
func mapFile(name string) (*mapping, error) {
	bytes, err := os.ReadFile(name)
	return &mapping{bytes: bytes}, err
}

// forget does nothing: the content is kept.
func (m *mapping) forget() {}
