package postgres

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag"
)

// PostgreSQL keeps no text with a zero byte, and none that is not UTF-8.

// isText reports whether a column of text can hold s.
func isText(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

// textOf is s, or what is nearest to it that a column of text can hold.
func textOf(s string) string {
	if isText(s) {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// maxName is the longest name of a collection in bytes: keys of indexes are bounded.
const maxName = 1024

// checkCollection reports ErrInvalid for a name under which nothing can be stored.
func checkCollection(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("a collection needs a name: %w", rag.ErrInvalid)
	case len(name) > maxName:
		return fmt.Errorf("collection name of %d bytes: at most %d: %w", len(name), maxName, rag.ErrInvalid)
	case !utf8.ValidString(name), strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("collection name %q holds a control character or is not UTF-8: %w", name, rag.ErrInvalid)
	}
	return nil
}

// afterPrefix returns the least text above all that begin with prefix; "" if there is none.
func afterPrefix(prefix string) string {
	for prefix != "" {
		last, size := utf8.DecodeLastRuneInString(prefix)
		prefix = prefix[:len(prefix)-size]
		if last < utf8.MaxRune {
			if last++; !utf8.ValidRune(last) { // a surrogate
				last = 0xE000
			}
			return prefix + string(last)
		}
	}
	return ""
}

// seconds is an instant as the columns hold it, exact to the nanosecond; nil for the zero time.
func seconds(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	sec, nsec := t.Unix(), t.Nanosecond()
	sign := ""
	if sec < 0 { // the fraction of a time counts upwards, that of a number away from zero
		sign = "-"
		if sec = -sec; nsec > 0 {
			sec, nsec = sec-1, int(time.Second)-nsec
		}
	}
	s := fmt.Sprintf("%s%d.%09d", sign, sec, nsec)
	return &s
}

// instant is the reverse of seconds, in UTC.
func instant(s *string) (time.Time, error) {
	if s == nil {
		return time.Time{}, nil
	}
	whole, fraction, _ := strings.Cut(*s, ".")
	sec, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("instant %s: %w", *s, rag.ErrInvalid)
	}
	nsec, err := strconv.ParseInt((fraction + "000000000")[:9], 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("instant %s: %w", *s, rag.ErrInvalid)
	}
	if strings.HasPrefix(whole, "-") {
		nsec = -nsec
	}
	return time.Unix(sec, nsec).UTC(), nil
}

// textsOf leaves out what no column of text can hold, and so is no ID.
func textsOf(ids []string) []string {
	texts := make([]string, 0, len(ids))
	for _, id := range ids {
		if isText(id) {
			texts = append(texts, id)
		}
	}
	return texts
}
