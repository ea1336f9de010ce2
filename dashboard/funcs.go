package dashboard

import (
	"fmt"
	"html/template"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
)

// funcs are what templates may call, for one language.
func (s *Server) funcs(lang string) template.FuncMap {
	texts := s.texts[lang]
	return template.FuncMap{
		"t":        texts.text,                                                            // t "browse.title" args…
		"link":     func(path string, kv ...string) string { return s.link(path, kv...) }, // link "/browse" "after" .Next
		"asset":    s.assetURL,
		"named":    s.named,
		"num":      grouped,
		"ms":       milliseconds,
		"bytes":    byteSize,
		"percent":  func(share float64) string { return strconv.FormatFloat(share*100, 'f', 1, 64) + " %" },
		"score":    func(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) },
		"metric":   func(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) },
		"signed":   func(x float64) string { return fmt.Sprintf("%+.3f", x) },
		"ago":      func(t time.Time) string { return ago(texts, s.now().Sub(t)) },
		"exact":    func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		"machine":  func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"day":      day,
		"place":    place,
		"seg":      url.PathEscape,
		"dict":     dict,
		"value":    metaText,
		"deref":    func(x *float64) float64 { return *x },
		"ranges":   rangeNames,
		"statuses": func() []string { return []string{rag.StatusCurrent, rag.StatusNeedsReview, rag.StatusExpired} },
		"sizes":    splitterSizes,
		"add":      func(a, b int) int { return a + b },
		"readonly": func() bool { return s.o.ReadOnly },
	}
}

// dict makes a map of pairs, so that a part of a template takes several values.
func dict(pairs ...any) (map[string]any, error) {
	m := make(map[string]any, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		key, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict: key %v is no text", pairs[i])
		}
		m[key] = pairs[i+1]
	}
	return m, nil
}

// grouped writes a number with its thousands apart: 100 000 as "100,000".
func grouped(n int) string {
	digits := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// milliseconds writes a duration given in ms, to three digits or so: "0.42 ms", "38 ms", "1.24 s".
func milliseconds(ms float64) string {
	switch {
	case ms < 10:
		return strconv.FormatFloat(math.Round(ms*100)/100, 'f', -1, 64) + " ms"
	case ms < 1000:
		return strconv.FormatFloat(ms, 'f', 0, 64) + " ms"
	case ms < 60_000:
		return strconv.FormatFloat(ms/1000, 'f', 2, 64) + " s"
	}
	return time.Duration(ms * float64(time.Millisecond)).Round(time.Second).String()
}

// byteSize writes a size in bytes, with the units of 1024.
func byteSize(n int64) string {
	units, x, i := []string{"B", "KiB", "MiB", "GiB", "TiB"}, float64(n), 0
	for x >= 1024 && i < len(units)-1 {
		x, i = x/1024, i+1
	}
	if i == 0 || x >= 10 {
		return strconv.FormatFloat(x, 'f', 0, 64) + " " + units[i]
	}
	return strconv.FormatFloat(x, 'f', 1, 64) + " " + units[i]
}

// ago writes how long ago something was, in the largest unit that fits.
func ago(texts catalogue, d time.Duration) string {
	switch {
	case d < time.Minute:
		return texts.text("time.now")
	case d < time.Hour:
		return texts.text("time.minutes", int(d.Minutes()))
	case d < 48*time.Hour:
		return texts.text("time.hours", int(d.Hours()))
	}
	return texts.text("time.days", int(d.Hours()/24))
}

// day writes an instant as its day, or whole where it is inside of one; "" for the zero time.
func day(t time.Time) string {
	switch t = t.UTC(); {
	case t.IsZero():
		return ""
	case t.Equal(t.Truncate(24 * time.Hour)):
		return t.Format(time.DateOnly)
	}
	return t.Format(time.RFC3339)
}

// place shows a URI to a reader: a file as its path, with the number of a further document of a file behind it.
func place(uri string) string {
	if path, ok := rag.DocumentPath(uri); ok {
		return path
	}
	return uri
}

// metaText writes a value of metadata.
func metaText(v any) string {
	switch v := v.(type) {
	case []string:
		return strings.Join(v, ", ")
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
