package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/domain"
)

// domainFlag is the flag of the verbs that know a domain. Without it the engine follows the domain that the collection
// remembers; none leaves its rules out of a question.
type domainFlag struct{ file string }

func (f *domainFlag) add(cmd *cobra.Command, purpose string) {
	f.addOwn(cmd, purpose, "; none: its rules are left out this once")
}

// addOwn adds the flag with what else its default is.
func (f *domainFlag) addOwn(cmd *cobra.Command, purpose, more string) {
	cmd.Flags().StringVar(&f.file, "domain", "", "file that describes the subject (YAML): "+purpose+" (default: the one that the collection was ingested with"+more+")")
}

// load returns the domain, or nil if none is named.
func (f *domainFlag) load() (*domain.Domain, error) {
	if f.file == "" || f.none() {
		return nil, nil
	}
	return domain.Load(f.file)
}

// none reports whether a question is to be asked without a domain, also the collection's.
func (f *domainFlag) none() bool { return f.file == rag.None }

// of returns the domain that the flag names, else the one that the collection remembers; nil if there is none.
func (f *domainFlag) of(ctx context.Context, eng *rag.Engine, collection string) (*domain.Domain, error) {
	if f.file != "" {
		return f.load()
	}
	return domain.Of(ctx, eng, collection)
}

// request makes the engine's request of the flags; a question's --domain none says nothing of what is ingested before it. Everything that is wrong with domain and manifest is found here,
// before a data folder is opened or made.
func (a *app) request(f ingestFlags) (rag.IngestRequest, error) {
	req := rag.IngestRequest{Collection: a.collection, Force: f.force, Prune: f.prune, DryRun: f.dryRun, NoDomain: f.endDomain, Forget: f.noManifest}
	d, err := f.domain.load()
	if err != nil {
		return req, err
	}
	if d != nil {
		req.Domain = d
		if req.Collection == "" {
			req.Collection = d.Collection
		}
	}
	if f.manifest != "" {
		if d == nil {
			d = f.remembered
		}
		req.Sources, err = d.Manifest(f.manifest, f.paths...)
		return req, err
	}
	for _, p := range f.paths {
		req.Sources = append(req.Sources, rag.Path(p))
	}
	return req, nil
}

// remembered returns the domain that a manifest is read by where no flag names it: that of the collection; nil if there is
// none.
func (a *app) remembered(ctx context.Context) (d *domain.Domain, err error) {
	err = a.withExistingData(ctx, func(eng *rag.Engine) error {
		d, err = domain.Of(ctx, eng, a.collection)
		return err
	})
	if errors.Is(err, rag.ErrNotFound) {
		return nil, nil
	}
	return d, err
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
		return at, usagef(cmd, "--as-of %s: neither a day like 2026-12-31 nor an instant like 2026-12-31T15:04:05Z", text)
	}
	return at, nil
}
