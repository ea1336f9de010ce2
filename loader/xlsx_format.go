package loader

import (
	"encoding/xml"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// cellFormat is what a number format says of a value's meaning. The zero value shows a number as it is.
type cellFormat struct {
	date, clock    bool // it shows a date, a time of day
	elapsed        bool // it shows hours beyond 24
	percent        bool
	decimals       int    // behind the point, of a percentage
	prefix, suffix string // units and currencies
}

// builtInFormats are the formats that have numbers instead of codes and matter here (ECMA-376 part 1, 18.8.30), among
// them the dates of the East Asian versions.
var builtInFormats = map[int]string{
	9: "0%", 10: "0.00%", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM",
	20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0",
	27: "yyyy-mm-dd", 28: "yyyy-mm-dd", 29: "yyyy-mm-dd", 30: "yyyy-mm-dd", 31: "yyyy-mm-dd", 32: "h:mm", 33: "h:mm:ss",
	34: "h:mm", 35: "h:mm:ss", 36: "yyyy-mm-dd", 50: "yyyy-mm-dd", 51: "yyyy-mm-dd", 52: "yyyy-mm-dd", 53: "yyyy-mm-dd",
	54: "yyyy-mm-dd", 55: "yyyy-mm-dd", 56: "yyyy-mm-dd", 57: "yyyy-mm-dd", 58: "yyyy-mm-dd",
}

// readCellFormats returns the formats of a workbook by the number that cells give.
func readCellFormats(pkg *archive, part string) ([]cellFormat, error) {
	codes := map[string]string{}
	var formats []cellFormat
	err := pkg.read(part, func(x *xmlReader, _ xml.StartElement) error {
		return x.children(func(e xml.StartElement) error {
			switch e.Name.Local {
			case "numFmts":
				return x.children(func(e xml.StartElement) error {
					codes[attrOf(e, "numFmtId")] = attrOf(e, "formatCode")
					return x.skip()
				})
			case "cellXfs":
				return x.children(func(e xml.StartElement) error {
					id := attrOf(e, "numFmtId")
					code, ok := codes[id]
					if n, err := strconv.Atoi(id); err == nil && !ok {
						code = builtInFormats[n]
					}
					formats = append(formats, parseFormat(code))
					return x.skip()
				})
			}
			return x.skip()
		})
	})
	return formats, err
}

// Parts of a format code: text in quotes or behind a backslash, what only fills room, and what stands in brackets.
var (
	formatLiteral  = regexp.MustCompile(`"([^"]*)"|\\(.)`)
	formatFiller   = regexp.MustCompile(`[_*].`)
	formatBracket  = regexp.MustCompile(`\[[^\]]*\]`)
	formatCurrency = regexp.MustCompile(`\[\$([^\]-]*)[^\]]*\]`)
	formatElapsed  = regexp.MustCompile(`(?i)\[(h+|m+|s+)\]`)
	formatDigits   = regexp.MustCompile(`[0#?][0#?,. /E+-]*`)
)

// maxFormat bounds a format code, in bytes: Excel allows 255 characters.
const maxFormat = 1024

// parseFormat reads a format code. Of its sections for positive, negative and other values only the first counts. One
// that is too long is as none.
func parseFormat(code string) cellFormat {
	if len(code) > maxFormat {
		return cellFormat{}
	}
	code, _, _ = strings.Cut(code, ";")
	bare := formatBracket.ReplaceAllString(formatFiller.ReplaceAllString(formatLiteral.ReplaceAllString(code, ""), ""), "")
	lower := strings.ToLower(bare)
	if strings.Contains(lower, "general") || bare == "@" {
		return cellFormat{}
	}
	f := cellFormat{elapsed: formatElapsed.MatchString(code)}
	f.clock = f.elapsed || strings.ContainsAny(lower, "hs")
	f.date = strings.ContainsAny(lower, "yd") || strings.Contains(lower, "m") && !f.clock || strings.Contains(lower, "mmm")
	if f.date || f.clock {
		return f
	}
	f.percent = strings.Contains(bare, "%")
	if _, fraction, found := strings.Cut(bare, "."); found {
		f.decimals = len(fraction) - len(strings.TrimLeft(fraction, "0#?"))
	}
	shown := formatBracket.ReplaceAllString(formatCurrency.ReplaceAllString(formatFiller.ReplaceAllString(code, ""), `"$1"`), "")
	if at := formatDigits.FindStringIndex(shown); at != nil && !f.percent {
		end := at[0] + len(strings.TrimRight(shown[at[0]:at[1]], " ")) // a blank behind the digits parts them from a unit
		f.prefix, f.suffix = formatText(shown[:at[0]]), formatText(shown[end:])
	}
	return f
}

// formatText is the text that stands beside a number.
func formatText(code string) string {
	return strings.Trim(formatLiteral.ReplaceAllString(code, "$1$2"), "()")
}

// show writes a stored number as the format means it.
func (f cellFormat) show(value string, date1904 bool) string {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return value
	}
	switch isTime := v >= 0 && v <= maxDateSerial; {
	case f.elapsed && isTime:
		s := int64(math.Round(v * 24 * 3600))
		return strconv.FormatInt(s/3600, 10) + time.Unix(s%3600, 0).UTC().Format(":04:05")
	case (f.date || f.clock) && isTime:
		return f.dateText(v, date1904)
	case f.percent:
		return strconv.FormatFloat(v*100, 'f', f.decimals, 64) + "%"
	}
	return f.prefix + plainNumber(v) + f.suffix
}

// plainNumber writes a number with the 15 digits that Excel knows, without exponent unless it is very long.
func plainNumber(v float64) string {
	const digits = 15
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil || math.Abs(v) >= 1e21 || v != 0 && math.Abs(v) < 1e-9 {
		return strconv.FormatFloat(v, 'g', digits, 64)
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// maxDateSerial is the last day of the year 9999.
const maxDateSerial = 2958465

// dateText writes a day number with its fraction as date, time, or both. Day 1 is 1900-01-01, and there is a day 60,
// 1900-02-29, that never was; in workbooks of the old Macintosh day 0 is 1904-01-01.
func (f cellFormat) dateText(v float64, date1904 bool) string {
	base := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case date1904:
		base = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case v < 60:
		base = base.AddDate(0, 0, 1)
	}
	days := math.Floor(v)
	t := base.AddDate(0, 0, int(days)).Add(time.Duration(math.Round((v-days)*24*3600)) * time.Second)
	clock := "15:04"
	if t.Second() != 0 {
		clock = time.TimeOnly
	}
	switch {
	case !f.date || f.clock && v < 1 && !date1904:
		return t.Format(clock)
	case f.clock:
		return t.Format(time.DateOnly + " " + clock)
	}
	return t.Format(time.DateOnly)
}
