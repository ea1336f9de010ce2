package domain

import (
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// policy is what a domain makes of the documents of one source.
type policy struct {
	d        *Domain
	pathNote string // why the path says nothing; "" if it does, or need not
}

var _ rag.MetaPolicy = policy{}

// Fingerprint names the domain's rules and what the path said.
func (p policy) Fingerprint() string {
	if p.pathNote != "" {
		return p.d.fingerprint + "/" + p.pathNote
	}
	return p.d.fingerprint
}

// Apply puts values into the words of the vocabulary and reads the validity. A value that does not fit stays as it is,
// since the source says it, and a warning says so.
func (p policy) Apply(m rag.Meta) (rag.Meta, rag.Validity, []rag.Warning) {
	var warnings []rag.Warning
	warn := func(format string, args ...any) {
		warnings = append(warnings, rag.Warning{Message: fmt.Sprintf(format, args...)})
	}
	p.fillUnknown(m, warn)
	for i := range p.d.Fields {
		f := &p.d.Fields[i]
		if p.given(f, m) {
			continue
		}
		v, err := f.Value(m[f.Name])
		switch {
		case err != nil:
			if !p.d.Validity.dates(f.Name) { // the validity policy says it in its own words
				warn("%s: %s", f.Name, reason(err))
			}
		case v != nil:
			m[f.Name] = v
		default:
			delete(m, f.Name)
			if f.Required {
				warn("%s: is required and not given", f.Name)
			}
		}
	}
	maps.Copy(m, p.d.Forced)
	if p.d.Validity == nil {
		return m, rag.Validity{}, warnings
	}
	v, dates := p.d.Validity.of(m, p.d.zone())
	if err := p.d.Validity.inverted(m, p.d.zone()); err != nil {
		v.Stated = false
		warn("%s: the text needs review", reason(err))
	}
	return m, v, append(warnings, dates...)
}

var _ rag.MetaChecker = (*Domain)(nil)

// CheckMeta lists, by the names of their fields, what metadata have that are no fields of the domain, and values that their
// fields do not allow. A date that cannot be read is one of those only where the domain refuses it.
func (d *Domain) CheckMeta(given rag.Meta) []rag.MetaProblem {
	var list []rag.MetaProblem
	known := append(d.names(), FieldTitle, rag.FieldLanguage)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value := given[name]
		if _, forced := d.Forced[name]; forced {
			continue
		}
		f, ok := d.Field(name)
		if !ok {
			if !slices.Contains(known, name) {
				list = append(list, rag.MetaProblem{Field: name, Value: value, NoField: true, Message: "the domain has no such field" + rag.DidYouMean(name, known)})
			}
			continue
		}
		if _, err := f.Value(value); err != nil && !d.Validity.tolerated(name, err) {
			list = append(list, rag.MetaProblem{Field: name, Value: value, Message: reason(err)})
		}
	}
	return list
}

// given reports a field that is not in the metadata by design: the title is the document's, and where the path says
// nothing its fields hold a word that is in no vocabulary.
func (p policy) given(f *Field, m rag.Meta) bool {
	if f.Name == FieldTitle {
		return true
	}
	return p.pathNote != "" && m[f.Name] == p.d.Paths.Unknown
}

// fillUnknown marks the fields that a path would have told and nothing else does.
func (p policy) fillUnknown(m rag.Meta, warn func(string, ...any)) {
	if p.pathNote == "" {
		return
	}
	var untold []string
	for _, name := range p.d.Paths.fields() {
		if m[name] == nil {
			m[name] = p.d.Paths.Unknown
			untold = append(untold, name)
		}
	}
	if untold != nil {
		warn("%s; so %q is what stands for %s", p.pathNote, p.d.Paths.Unknown, strings.Join(untold, " and "))
	}
}

// Describe completes a source, of which title and metadata are what was said of it: what is said goes over what its folders
// say, and what the domain forces over both.
func (d *Domain) Describe(src rag.Source) rag.Source {
	m := rag.Meta{}
	p := policy{d: d}
	if d.Paths != nil {
		var said rag.Meta
		said, p.pathNote = d.fromPath(pathOf(src.URI))
		maps.Copy(m, said)
	}
	maps.Copy(m, src.Meta)
	maps.Copy(m, d.Forced)
	src.Meta, src.Policy = m, p
	return src
}

// pathOf returns the path of a URI with slashes.
func pathOf(uri string) string {
	if p, ok := rag.FilePath(uri); ok {
		return filepath.ToSlash(p)
	}
	if u, err := url.Parse(uri); err == nil {
		return u.Path
	}
	return uri
}
