package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// countTests runs the tests of the module and counts them, and the statements that they reach.
func countTests(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "rag-systems")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	profile := filepath.Join(dir, "profile")
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-json", "-coverprofile="+profile, "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil && len(out) == 0 {
		return err
	}
	var whole, parts, skipped, failed int
	for line := range bytes.Lines(out) {
		var e struct{ Action, Test string }
		if err := json.Unmarshal(line, &e); err != nil || e.Test == "" {
			continue
		}
		switch {
		case e.Action == "skip":
			skipped++
		case e.Action == "fail":
			failed++
		case e.Action == "pass" && strings.Contains(e.Test, "/"):
			parts++
		case e.Action == "pass":
			whole++
		}
	}
	row("A28", "tests that pass", "1,422, 13 skipped", "%d, and %d parts of them; %d skipped, %d failed", whole, parts, skipped, failed)
	share, err := coverage(profile)
	if err != nil {
		return err
	}
	row("F12", "statements that tests of their own package reach", "80 %", "%.1f %%", 100*share)
	return nil
}

// coverage returns the share of statements that a profile counts as reached.
func coverage(profile string) (float64, error) {
	f, err := os.Open(profile)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var all, reached int
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text()) // file:from,to statements times
		if len(fields) != 3 {
			continue
		}
		n, err := strconv.Atoi(fields[1])
		if err != nil {
			continue
		}
		all += n
		if fields[2] != "0" {
			reached += n
		}
	}
	if all == 0 {
		return 0, errors.New("the profile holds no statements")
	}
	return float64(reached) / float64(all), nil
}
