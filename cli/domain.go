package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/domain"
)

// domainFlag is the flag of the verbs that know a domain.
type domainFlag struct{ file string }

func (f *domainFlag) add(cmd *cobra.Command, purpose string) {
	cmd.Flags().StringVar(&f.file, "domain", "", "file that describes the subject (YAML): "+purpose)
}

// load returns the domain, or nil if none is named.
func (f *domainFlag) load() (*domain.Domain, error) {
	if f.file == "" {
		return nil, nil
	}
	return domain.Load(f.file)
}

// request makes the engine's request of the flags. Everything that is wrong with domain and manifest is found here,
// before a data folder is opened or made.
func (a *app) request(f ingestFlags) (rag.IngestRequest, error) {
	req := rag.IngestRequest{Collection: a.collection, Force: f.force, Prune: f.prune, DryRun: f.dryRun}
	d, err := f.domain.load()
	if err != nil {
		return req, err
	}
	if d != nil && req.Collection == "" {
		req.Collection = d.Collection
	}
	if d != nil && f.manifest != "" {
		req.Sources, err = d.Manifest(f.manifest, f.paths...)
		return req, err
	}
	for _, p := range f.paths {
		req.Sources = append(req.Sources, rag.Path(p))
	}
	if d != nil {
		req.Sources = d.Sources(req.Sources...)
	}
	return req, nil
}

// date is the flag --as-of of verbs that show documents: a day of the domain's time zone, or an instant. Without it a
// domain that has dates means today.
func date(cmd *cobra.Command, text string, d *domain.Domain) (time.Time, error) {
	var at time.Time
	var ok bool
	switch {
	case text == "" && d != nil && d.Validity != nil:
		return time.Now(), nil
	case text == "":
		return time.Time{}, nil
	case d != nil:
		var err error
		at, err = d.Instant(text)
		ok = err == nil
	default:
		at, ok = rag.FirstInstant(text, time.UTC)
	}
	if !ok || at.IsZero() { // the first day of year 1 stands for no day
		return at, usagef(cmd, "--as-of %s: neither a day like 2006-01-02 nor an instant like 2006-01-02T15:04:05Z", text)
	}
	return at, nil
}
