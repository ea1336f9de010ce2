// Package mast lowers masts.
package mast

import "errors"

// ErrWind is returned when it blows too hard.
var ErrWind = errors.New("too much wind")

// Mast is a mast.
type Mast struct{ height int }

// Lower lowers it.
func (m *Mast) Lower(by int) error {
	m.height -= by
	return nil
}
