package loader

import (
	"testing"
	"unicode/utf8"
)

// FuzzCellFormat: whatever a workbook says of a number, text comes of it, and what is no number stays as it is.
func FuzzCellFormat(f *testing.F) {
	for _, code := range []string{
		"yyyy-mm-dd h:mm", "[h]:mm:ss", "0.00%", `#,##0.00 "kg"`, `[$€-407] #,##0`, "_-* #,##0_-;-0", `\x0\`, `"open`, "[", "General", "@", "0.0E+00", "m", "[Red]0",
	} {
		for _, value := range []string{"0", "60", "45000.75", "-1e300", "NaN", "0x1p-2", "2958465.9999999", "text", "", "1_0"} {
			f.Add(code, value, false)
			f.Add(code, value, true)
		}
	}
	f.Fuzz(func(t *testing.T, code, value string, date1904 bool) {
		if !utf8.ValidString(code) || !utf8.ValidString(value) {
			return // XML has no such text
		}
		got := parseFormat(code).show(value, date1904)
		if !utf8.ValidString(got) {
			t.Errorf("%q with %q shows %q", value, code, got)
		}
		if got == "" && value != "" {
			t.Errorf("%q with %q shows nothing", value, code)
		}
	})
}
