package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// groups are the kinds of entries in the order of a release's section, https://keepachangelog.com.
var groups = []struct{ kind, title string }{
	{"security", "Security"}, {"removed", "Removed"}, {"changed", "Changed"}, {"added", "Added"}, {"fixed", "Fixed"},
}

// entryStart is the first line of an entry.
var entryStart = regexp.MustCompile(`(?m)^(added|changed|fixed|removed|security): `)

// gather moves the entries of changelog/unreleased into CHANGELOG.md, under the version and its day.
func gather(root, version string, day time.Time) error {
	files, err := filepath.Glob(filepath.Join(root, "changelog", "unreleased", "*.md"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("changelog/unreleased has no entries: there is nothing to release")
	}
	path := filepath.Join(root, "CHANGELOG.md")
	log, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if strings.Contains(string(log), "\n## "+version+" ") {
		return fmt.Errorf("CHANGELOG.md has a section %s already", version)
	}
	var texts []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		texts = append(texts, string(text))
	}
	section, err := sectionOf(version, day, texts)
	if err != nil {
		return err
	}
	const upcoming = "## Unreleased\n\nSee `changelog/unreleased`.\n"
	before, after, found := strings.Cut(string(log), upcoming)
	if !found {
		return fmt.Errorf("CHANGELOG.md lacks %q", upcoming)
	}
	if err := os.WriteFile(path, []byte(before+upcoming+"\n"+section+after), 0o644); err != nil {
		return err
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			return err
		}
	}
	return nil
}

// sectionOf writes the section of a version: the entries by kind, each with its reason below it.
func sectionOf(version string, day time.Time, texts []string) (string, error) {
	byKind := map[string][]string{}
	for _, text := range texts {
		starts := entryStart.FindAllStringIndex(text, -1)
		if len(starts) == 0 || starts[0][0] != 0 {
			return "", fmt.Errorf("an entry begins with its kind, not with %.40q", text)
		}
		for i, at := range starts {
			end := len(text)
			if i+1 < len(starts) {
				end = starts[i+1][0]
			}
			kind, entry, _ := strings.Cut(text[at[0]:end], ": ")
			byKind[kind] = append(byKind[kind], strings.TrimSpace(entry))
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "## %s (%s)\n", version, day.Format(time.DateOnly))
	for _, g := range groups {
		if len(byKind[g.kind]) == 0 {
			continue
		}
		fmt.Fprintf(&out, "\n### %s\n\n", g.title)
		for _, entry := range byKind[g.kind] {
			fmt.Fprintf(&out, "- %s\n", strings.ReplaceAll(strings.ToUpper(entry[:1])+entry[1:], "\n", "\n  "))
		}
	}
	return strings.ReplaceAll(out.String(), "\n  \n", "\n\n"), nil
}
