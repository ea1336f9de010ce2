package loader_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/loader"
)

func lf(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

func encode(t testing.TB, enc encoding.Encoding, s string) []byte {
	t.Helper()
	b, err := enc.NewEncoder().Bytes([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTextEncodings(t *testing.T) {
	const mixed = "Version 2.0 发布说明：修复了若干问题。See README for details.\r\n"
	for _, c := range []struct {
		name    string
		data    []byte
		want    string
		guessed string // the encoding that the warning must name; "": no warning
	}{
		{"ASCII", []byte("plain\r\nwords"), "plain\nwords", ""},
		{"old Mac line ends", []byte("a\rb\rc"), "a\nb\nc", ""},
		{"UTF-8", []byte(chinese), lf(chinese), ""},
		{"UTF-8 with mark", []byte("\ufeff" + french), lf(french), ""},
		{"two marks", []byte("\ufeff\ufeffx"), "x", ""},
		{"UTF-16 LE with mark", utf16(t, chinese, unicode.LittleEndian, unicode.UseBOM), lf(chinese), ""},
		{"UTF-16 BE with mark", utf16(t, chinese, unicode.BigEndian, unicode.UseBOM), lf(chinese), ""},
		{"UTF-32 with mark", encode(t, utf32.UTF32(utf32.LittleEndian, utf32.UseBOM), french), lf(french), ""},
		{"UTF-16 LE", utf16(t, french, unicode.LittleEndian, unicode.IgnoreBOM), lf(french), "utf-16le"},
		{"UTF-16 BE", utf16(t, french, unicode.BigEndian, unicode.IgnoreBOM), lf(french), "utf-16be"},
		{"UTF-16 LE, Chinese", utf16(t, chinese, unicode.LittleEndian, unicode.IgnoreBOM), lf(chinese), "utf-16le"},
		{"UTF-16 BE, Chinese", utf16(t, chinese, unicode.BigEndian, unicode.IgnoreBOM), lf(chinese), "utf-16be"},
		{"GB18030", gb18030(t, chinese), lf(chinese), "gb18030"},
		{"GB18030, few words", gb18030(t, "中文"), "中文", "gb18030"},
		{"GB18030, mostly ASCII", gb18030(t, strings.Repeat("func main() {}\n", 50)+"// 注释：入口"), strings.Repeat("func main() {}\n", 50) + "// 注释：入口", "gb18030"},
		{"GB18030, mixed", gb18030(t, mixed), lf(mixed), "gb18030"},
		{"GB18030, four bytes", gb18030(t, chinese+"㐀䶵"), lf(chinese + "㐀䶵"), "gb18030"},
		{"Windows-1252", windows1252(t, french), lf(french), "windows-1252"},
		{"Windows-1252, one letter", windows1252(t, "caf\u00e9"), "café", "windows-1252"},
		{"Windows-1252, German", windows1252(t, "Größe: 5 m², Straße „Am Weg“ – geprüft"), "Größe: 5 m², Straße „Am Weg“ – geprüft", "windows-1252"},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := mustLoad(t, newText(), string(c.data))
			if doc.Text != c.want {
				t.Errorf("got %q\nwant %q", doc.Text, c.want)
			}
			switch {
			case c.guessed == "" && len(doc.Warnings) > 0:
				t.Errorf("warnings %v, want none", doc.Warnings)
			case c.guessed != "" && (len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0].Message, c.guessed)):
				t.Errorf("warnings %v, want one that names %s", doc.Warnings, c.guessed)
			}
			if doc.State != rag.StateOK || doc.Title != "" {
				t.Errorf("state %q, title %q", doc.State, doc.Title)
			}
		})
	}
}

func TestTextInOlderEncodings(t *testing.T) {
	for _, c := range []struct {
		name string
		enc  encoding.Encoding
		text string
	}{
		{"windows-1251", charmap.Windows1251, "Договор вступает в силу с момента подписания сторонами и действует три года."},
		{"koi8-r", charmap.KOI8R, "Договор вступает в силу с момента подписания сторонами и действует три года."},
		{"shift_jis", japanese.ShiftJIS, "契約は両当事者が署名した日から効力を生じ、有効期間は三年とします。"},
		{"shift_jis", japanese.ShiftJIS, "名前,年齢,住所\n佐藤太郎,30,東京\n三木英子,25,大阪\n"},
		{"euc-jp", japanese.EUCJP, "これはけいやくのたいせつなおしらせです。よくよんでください。"},
		{"euc-kr", korean.EUCKR, "계약은 쌍방이 서명한 날부터 효력이 발생하며 유효 기간은 삼 년으로 한다."},
		{"big5", traditionalchinese.Big5, "本契約自雙方簽署之日起生效，有效期間為三年，期滿前任一方得以書面提出終止。"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := encode(t, c.enc, c.text)
			doc := mustLoad(t, newText(), string(data))
			if doc.Text != c.text || len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0].Message, c.name) {
				t.Errorf("got %q, %v: want the text, and a warning that names the encoding", doc.Text, doc.Warnings)
			}
			doc, err := load(t, must(loader.NewText(loader.TextConfig{Encoding: c.name})), data)
			if err != nil || doc.Text != c.text || len(doc.Warnings) != 0 {
				t.Errorf("with the setting: %q, %v, %v", doc.Text, doc.Warnings, err)
			}
		})
	}
}

// A wrong guess would look like a success: better an error that names the setting.
func TestTextInAnUnknownEncodingIsInvalid(t *testing.T) {
	for _, c := range []struct {
		name string
		enc  encoding.Encoding
		text string
	}{
		{"windows-1253", charmap.Windows1253, "Η σύμβαση τίθεται σε ισχύ από την ημέρα της υπογραφής της. Ισχύει για τρία έτη."},
		{"windows-1255", charmap.Windows1255, "ההסכם נכנס לתוקף ביום חתימתו ותקף לשלוש שנים מיום זה"},
		{"windows-1256", charmap.Windows1256, "يسري العقد من تاريخ توقيعه لمدة ثلاث سنوات كاملة"},
		{"ibm866", charmap.CodePage866, "Договор вступает в силу с момента подписания сторонами."},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := encode(t, c.enc, c.text)
			doc, err := load(t, newText(), data)
			if !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "setting encoding") {
				t.Errorf("got %q and the error %v, want ErrInvalid that names the setting", doc.Text, err)
			}
			doc, err = load(t, must(loader.NewText(loader.TextConfig{Encoding: c.name})), data)
			if err != nil || doc.Text != c.text || len(doc.Warnings) != 0 {
				t.Errorf("with the setting: %q, %v, %v", doc.Text, doc.Warnings, err)
			}
		})
	}
}

func TestTextSettingEncoding(t *testing.T) {
	t.Run("gb2312 reads what only GB18030 has", func(t *testing.T) {
		const text = "朱镕基，㐀" // the second character is not in GB 2312, the last not in GBK
		doc, err := load(t, must(loader.NewText(loader.TextConfig{Encoding: "gb2312"})), gb18030(t, text))
		if err != nil || doc.Text != text {
			t.Errorf("got %q, %v", doc.Text, err)
		}
	})
	t.Run("a byte order mark wins", func(t *testing.T) {
		doc, err := load(t, must(loader.NewText(loader.TextConfig{Encoding: "gb18030"})), []byte("\ufeffdéjà"))
		if err != nil || doc.Text != "déjà" {
			t.Errorf("got %q, %v", doc.Text, err)
		}
	})
	t.Run("bytes it does not have are reported", func(t *testing.T) {
		doc, err := load(t, must(loader.NewText(loader.TextConfig{Encoding: "utf-8"})), []byte("caf\xe9 noir"))
		if err != nil || doc.Text != "caf\ufffd noir" || doc.State != rag.StatePartial || len(doc.Warnings) != 1 {
			t.Errorf("got %q, state %q, %v, %v", doc.Text, doc.State, doc.Warnings, err)
		}
	})
}

func TestTextWithLittleDamageStaysUTF8(t *testing.T) {
	doc := mustLoad(t, newText(), chinese[:60]+"\xff"+chinese[60:len(chinese)-1])
	if want := lf(chinese[:60] + "\ufffd" + chinese[60:len(chinese)-3] + "\ufffd"); doc.Text != want {
		t.Errorf("got %q\nwant %q", doc.Text, want)
	}
	if doc.State != rag.StatePartial || len(doc.Warnings) != 2 {
		t.Errorf("state %q, warnings %v", doc.State, doc.Warnings)
	}
}

func TestBinaryIsUnsupported(t *testing.T) {
	for name, data := range map[string]string{
		"PNG":        "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00\x00\x00\x01\x00\x08\x06",
		"JPEG":       "\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00",
		"GIF":        "GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff",
		"ELF":        "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00>\x00",
		"PDF":        "%PDF-1.4\n1 0 obj\n<< >>\nendobj\n",
		"RTF":        `{\rtf1\ansi text}`,
		"PostScript": "%!PS-Adobe-3.0\n",
		"NUL early":  "text \x00 and more text",
		"controls":   strings.Repeat("a\x01b\x02", 20),
		"small ints": strings.Repeat("\x01\x00\x02\x00\x1f\x00", 50),
	} {
		if _, err := load(t, newText(), []byte(data)); !errors.Is(err, rag.ErrUnsupported) {
			t.Errorf("%s: got %v, want ErrUnsupported", name, err)
		}
		if newText().(rag.Formatter).Formats()[0].Match([]byte(data)) {
			t.Errorf("%s is taken for text", name)
		}
	}
}

func TestRareControlCharactersStayText(t *testing.T) {
	log := strings.Repeat("2026-11-30 10:00:00 INFO started\n", 400) + "\x1b[31mERROR\x1b[0m stopped\n\x00"
	doc := mustLoad(t, newText(), log)
	if strings.Contains(doc.Text, "\x00") || !strings.HasSuffix(doc.Text, "stopped\n\ufffd") {
		t.Errorf("ends with %q", doc.Text[len(doc.Text)-20:])
	}
}

func TestTextMatchTakesACharacterCutInTwo(t *testing.T) {
	match := newText().(rag.Formatter).Formats()[0].Match
	for _, head := range [][]byte{nil, []byte("plain"), []byte(chinese[:50]), gb18030(t, chinese)[:51], utf16(t, chinese, unicode.LittleEndian, unicode.UseBOM)[:51]} {
		if !match(head) {
			t.Errorf("%q is not taken for text", head)
		}
	}
}

func TestFormFeedsBeginPages(t *testing.T) {
	for _, c := range []struct {
		in, want string
		pages    []int
	}{
		{"no pages", "no pages", nil},
		{"one\ftwo\f\fthree", "one\ntwo\n\nthree", []int{0, 4, 8, 9}},
		{"printed\n\f", "printed\n\n", []int{0}},
		{"one\n\f\ntwo\n\f\n", "one\n\n\ntwo\n\n\n", []int{0, 5}},
	} {
		doc := mustLoad(t, newText(), c.in)
		if doc.Text != c.want {
			t.Errorf("%q: got %q, want %q", c.in, doc.Text, c.want)
		}
		if diff := cmp.Diff(c.pages, doc.Pages); diff != "" {
			t.Errorf("%q: pages %s", c.in, diff)
		}
	}
}

func TestBlankTextIsEmpty(t *testing.T) {
	for _, in := range []string{"", "\ufeff", " \r\n\t\n", "\f\f"} {
		if doc := mustLoad(t, newText(), in); doc.State != rag.StateEmpty {
			t.Errorf("%q: state %q", in, doc.State)
		}
	}
}
