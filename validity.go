package rag

import (
	"context"
	"time"
)

// Validity is the half-open interval [From, Until) in which a text is in force; a zero bound is open.
// Stated is false where the domain wants a date and the source gives none that can be read: such a text needs review.
type Validity struct {
	From, Until time.Time
	Stated      bool
}

// Contains reports whether t lies in [From, Until).
func (v Validity) Contains(t time.Time) bool {
	return (v.From.IsZero() || !t.Before(v.From)) && (v.Until.IsZero() || t.Before(v.Until))
}

// What a text is at an instant; see [Validity.Status].
const (
	StatusCurrent     = "current"      // in force, and its source says so
	StatusNeedsReview = "needs_review" // nothing says that it is not in force, and nothing that it is
	StatusExpired     = "expired"      // not in force: no longer, or not yet
)

// Status says what the text is at an instant, or "" at the zero time, which stands for no validity policy.
func (v Validity) Status(asOf time.Time) string {
	switch {
	case asOf.IsZero():
		return ""
	case !v.Contains(asOf):
		return StatusExpired
	case !v.Stated:
		return StatusNeedsReview
	}
	return StatusCurrent
}

// StatusCounts counts documents by their status at an instant.
type StatusCounts struct {
	Current     int `json:"current"`
	NeedsReview int `json:"needs_review"`
	Expired     int `json:"expired"`
}

// Add counts one document. The status "" is not counted.
func (c *StatusCounts) Add(status string) {
	switch status {
	case StatusCurrent:
		c.Current++
	case StatusNeedsReview:
		c.NeedsReview++
	case StatusExpired:
		c.Expired++
	}
}

// Statuses counts the documents of a collection by their status at an instant. "" means the configured collection; an
// unknown one is ErrNotFound.
func (e *Engine) Statuses(ctx context.Context, collection string, asOf time.Time) (_ StatusCounts, err error) {
	defer e.hide(&err)
	var counts StatusCounts
	for entry, err := range e.Documents(ctx, collection) {
		if err != nil {
			return StatusCounts{}, err
		}
		counts.Add(entry.Validity.Status(asOf))
	}
	return counts, nil
}

// Metadata names from which the engine fills the Validity of a document whose loader and source gave none: days
// (2006-01-02) or instants (RFC 3339). The day of valid_until is the last one in force.
const (
	FieldValidFrom  = "valid_from"
	FieldValidUntil = "valid_until"
)

// statedValidity reads the validity that metadata states. A date that cannot be read states nothing.
func statedValidity(m Meta) Validity {
	from, _ := m[FieldValidFrom].(string)
	until, _ := m[FieldValidUntil].(string)
	var v Validity
	v.From, _ = FirstInstant(from, time.UTC)
	v.Until, v.Stated = EndInstant(until, time.UTC)
	return v
}

// FirstInstant returns the instant from which on a date holds: that of an RFC 3339 text, or the beginning of a day
// (2006-01-02) in a time zone. ok is false if the text is neither.
func FirstInstant(text string, zone *time.Location) (t time.Time, ok bool) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return writable(beginning(day.Year(), day.Month(), day.Day(), zone)), true
	}
	t, err := time.Parse(time.RFC3339, text)
	return writable(t), err == nil
}

// EndInstant returns the instant up to which a date holds: that of an RFC 3339 text, or the end of a day (2006-01-02)
// in a time zone, so that the day itself is inside. The last day of year 9999, which many
// write for "forever", has no end: the time is zero. ok is false if the text is neither.
func EndInstant(text string, zone *time.Location) (t time.Time, ok bool) {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t, err := time.Parse(time.RFC3339, text)
		return writable(t), err == nil
	}
	if day.Year() == lastYear && day.YearDay() == 365 {
		return time.Time{}, true
	}
	// Not 24 hours later: days of 23 and 25 hours exist.
	return writable(beginning(day.Year(), day.Month(), day.Day()+1, zone)), true
}

// beginning is the first instant of a day. Where clocks are put forward at midnight (as in Chile, or on the Azores) that is
// not 0:00, which the clock does not show, and time.Date answers with an instant an hour off to either side.
func beginning(year int, month time.Month, day int, zone *time.Location) time.Time {
	t := time.Date(year, month, day, 0, 0, 0, 0, zone)
	midnight := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Format(time.DateTime)
	start, end := t.ZoneBounds()
	switch clock := t.Format(time.DateTime); {
	case clock < midnight:
		return end
	case clock > midnight:
		return start
	}
	return t
}

// lastYear is the last one that RFC 3339 can write.
const lastYear = 9999

// writable returns t in UTC, or the zero time, an open bound, if it lies outside of the years that JSON can hold.
func writable(t time.Time) time.Time {
	if t = t.UTC(); t.Year() < 1 || t.Year() > lastYear {
		return time.Time{}
	}
	return t
}
