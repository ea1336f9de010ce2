package domain

import (
	"fmt"
	"time"

	"github.com/seed-d8745b77/rag"
)

// What a [Validity] may say.
const (
	NeedsReview = "needs_review" // a text without a date that can be read is found, and marked
	Current     = "current"      // a text without a date counts as in force
	Reject      = "reject"       // a date that cannot be read is a mistake in the manifest
	Exclude     = "exclude"      // what is not in force is not found
	Flag        = "flag"         // what is not in force is found, and marked
)

// Validity says when a text of a domain is in force. The field From names the first day or instant, the field Until the
// last day, which is inside, or the instant at which it ends. Days are those of the time zone.
type Validity struct {
	From       string `json:"from,omitempty"`  // field of type date; "": from ever
	Until      string `json:"until,omitempty"` // field of type date; "": for ever
	TimeZone   string `json:"time_zone"`       // name in the tz database; default UTC
	Missing    string `json:"missing"`         // NeedsReview (default) or Current: what a document is whose date is not given
	Unparsable string `json:"unparsable"`      // NeedsReview (default) or Reject: what becomes of a date that cannot be read
	Expired    string `json:"expired"`         // Exclude (default) or Flag

	zone *time.Location
}

// dates says whether the field is one of the policy.
func (v *Validity) dates(field string) bool {
	return v != nil && field != "" && (field == v.From || field == v.Until)
}

// of reads the validity that metadata state. A date that cannot be read is in warnings, and leaves the text unstated.
func (v *Validity) of(m rag.Meta, zone *time.Location) (out rag.Validity, warnings []rag.Warning) {
	readable := true
	date := func(field string, read func(string, *time.Location) (time.Time, bool)) (time.Time, bool) {
		value, given := m[field]
		if field == "" || !given {
			return time.Time{}, false
		}
		text, _ := value.(string)
		t, ok := read(text, zone)
		if !ok {
			readable = false
			warnings = append(warnings, rag.Warning{Message: fmt.Sprintf("%s: %v: the text needs review", field, dateError(fmt.Sprint(value)))})
		}
		return t, ok
	}
	from, hasFrom := date(v.From, rag.FirstInstant)
	until, hasUntil := date(v.Until, rag.EndInstant)
	out.From, out.Until = from, until
	switch {
	case !readable:
	case v.Until != "":
		out.Stated = hasUntil || v.Missing == Current
	default:
		out.Stated = hasFrom || v.Missing == Current
	}
	return out, warnings
}

// inverted reports dates between which no time lies.
func (v *Validity) inverted(m rag.Meta, zone *time.Location) error {
	first, _ := m[v.From].(string)
	last, _ := m[v.Until].(string)
	from, okFrom := rag.FirstInstant(first, zone)
	until, okUntil := rag.EndInstant(last, zone)
	if okFrom && okUntil && !until.IsZero() && !from.Before(until) {
		return &valueError{InvertedDates, fmt.Sprintf("%s %s is not after %s %s", v.Until, last, v.From, first)}
	}
	return nil
}

// tolerated reports whether the policy lets an error of a field's value pass.
func (v *Validity) tolerated(field string, err error) bool {
	return v.dates(field) && v.Unparsable == NeedsReview && kindOfError(err) == UnparsableDate
}

// Instant reads the date of a question: a day, which means its beginning in the domain's time zone, or an instant.
func (d *Domain) Instant(text string) (time.Time, error) {
	t, ok := rag.FirstInstant(text, d.zone())
	if !ok || t.IsZero() {
		return time.Time{}, dateError(text)
	}
	return t, nil
}
