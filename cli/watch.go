package cli

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/watch"
)

// watch ingests and goes on to follow the files and folders until it is interrupted.
func (a *app) watch(ctx context.Context, f ingestFlags) error {
	f.prune = true
	if _, err := a.request(f); err != nil { // before a data folder is made
		return err
	}
	return a.withDataToFill(ctx, func(eng *rag.Engine) error {
		bar := a.progress()
		paths := f.followed()
		a.note("following %s; an interrupt (Ctrl-C) ends it", strings.Join(paths, ", "))
		return watch.Run(ctx, eng, watch.Config{
			Paths:  paths,
			Ignore: []string{a.dataDir()},
			Request: func() (rag.IngestRequest, error) {
				req, err := a.request(f)
				bar = a.progress()
				req.Progress = bar.step
				return req, err
			},
			Tell:   func(p watch.Pass) { bar.clear(); a.printPass(p) },
			Logger: a.logger(),
		})
	}, f.ocrChanges()...)
}

// followed are the paths whose changes matter: what is ingested, and what says how.
func (f ingestFlags) followed() []string {
	paths := slices.Clone(f.paths)
	if len(paths) == 0 { // the manifest names the files, which lie below its folder
		paths = append(paths, filepath.Dir(f.manifest))
	}
	for _, file := range []string{f.manifest, f.domain.file} {
		if file != "" {
			paths = append(paths, file)
		}
	}
	return paths
}

// printPass tells of one pass: a line, or with --json an object on a line of its own.
func (a *app) printPass(p watch.Pass) {
	var line any = p.Report
	if p.Err != nil {
		line = a.errorJSON(p.Err)
	}
	switch {
	case a.json:
		enc := json.NewEncoder(a.out)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(line) // a reader that went away is no reason to stop following
	case p.Err != nil:
		a.fail(p.Err)
	default:
		a.printIngest(a.out, p.Report)
	}
}
