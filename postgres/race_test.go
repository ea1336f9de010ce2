//go:build race

package postgres_test

const raceDetector = true
