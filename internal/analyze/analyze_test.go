package analyze_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/analyze"
)

// passage returns the terms of a text; extras are in brackets.
func passage(a *analyze.Analyzer, text, language string) string {
	var terms []string
	a.Passage(text, analyze.Stemming(language), func(t analyze.Term) {
		if t.Extra {
			t.Text = "(" + t.Text + ")"
		}
		terms = append(terms, t.Text)
	})
	return strings.Join(terms, " ")
}

func TestPassage(t *testing.T) {
	a := analyze.New()
	for _, c := range []struct{ name, language, text, want string }{
		{"empty", "en", "", ""},
		{"only signs", "en", "??? -- ...\n", ""},
		{"stop words and stems", "en", "The runners were running to the houses", "runner were run hous"},
		{"possessive", "en", "Allen's and the Panthers’ wins", "allen panther win"},
		{"contraction", "en", "We don't know", "we dont know"},
		{"hyphens of plain words", "en", "long-term state-of-the-art", "long term state art"},
		{"camel case", "en", "CrossEntropyLoss", "crossentropyloss (cross) (entropi) (loss)"},
		{"snake case", "en", "cross_entropy_loss", "(crossentropyloss) cross entropi loss"},
		{"acronym in camel case", "en", "HTTPServer parseJSON DNAs mRNA", "httpserver (http) (server) parsejson (pars) (json) dnas mrna (rna)"},
		{"version", "en", "v1.2.3 and 10.4", "v1.2.3 (1.2.3) 10.4"},
		{"codes", "en", "HR-LV-26, E-1042.", "(hrlv26) hr lv 26 (e1042) e 1042"},
		{"date", "en", "2026-06-01", "(2026-06-01) 2026 06 01"},
		{"number", "en", "1,000 98,000.50 3,5", "1000 98000.50 3.5"},
		{"acronym with dots", "en", "U.S. e.g.", "us eg"},
		{"dotted name", "en", "kelpnum.io", "(kelpnum.io) kelpnum io"},
		{"programming languages", "en", "C++ C# F#.", "c++ c# f#"},
		{"words in a list without blanks", "en", "red,green", "red green"},
		{"full width and ligature", "en", "ＡＢＣ ﬁle", "abc file"},
		{"accents", "en", "Café Zürich Łódź", "cafe zurich lodz"},
		{"french", "fr", "Les défauts de l'examen d’aujourd'hui", "le defaut de examen aujourdhui"},
		{"french, also as typed without accents", "fr", "planifiées", "planifi (planifie)"},
		{"german", "de", "Die Verträge der Größe", "die vertrag der gross"},
		{"russian", "ru", "договоры и GPUs", "договор и gpus"},
		{"unknown language of Latin script", "pl", "umowy running", "umowy running"},
		{"chinese", "zh", "年假有几天？", "年假 假有 有几 几天 (年) (假) (有) (几) (天)"},
		{"one character", "zh", "税", "税"},
		{"script runs", "zh", "GPT模型v2", "gpt 模型 (模) (型) v2"},
		{"kana with length mark", "ja", "データ", "デー ータ (デ) (ー) (タ)"},
		{"hangul", "ko", "연차 휴가", "연차 (연) (차) 휴가 (휴) (가)"},
		{"thai", "th", "วันลา", "วัน ันล นลา"},
		{"hindi", "hi", "छुट्टी", "छुट्टी"},
		{"invalid bytes", "en", "a\xffbc\xfe", "bc"},
		{"marks alone", "en", "\u0301\u0302", "\u0301\u0302"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := passage(a, c.text, c.language); got != c.want {
				t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
			}
		})
	}
}

func TestQuery(t *testing.T) {
	a := analyze.New()
	for _, c := range []struct {
		text      string
		stemmings []string
		want      []string
	}{
		{"???", nil, nil},
		{"to be or not to be", nil, nil},
		{"running services", nil, []string{"run", "servic"}},
		{"running running", nil, []string{"run", "run"}},
		{"congés payés", []string{"en", "fr"}, []string{"conge", "cong", "paye", "pai"}},
		{"nation", []string{"en", "fr", "de"}, []string{"nation"}},
		{"CrossEntropyLoss", nil, []string{"crossentropyloss", "cross", "entropi", "loss"}},
		{"年假", nil, []string{"年假", "年", "假"}},
		{"税", nil, []string{"税"}},
	} {
		if diff := cmp.Diff(c.want, a.Query(c.text, c.stemmings)); diff != "" {
			t.Errorf("%q in %v (-want +got):\n%s", c.text, c.stemmings, diff)
		}
	}
}

// TestQueryFindsPassage checks pairs of wordings that must share a term.
func TestQueryFindsPassage(t *testing.T) {
	a := analyze.New()
	for _, c := range []struct{ language, passage, query string }{
		{"en", "set snake_case names", "snakeCase"},
		{"en", "the CrossEntropyLoss class", "cross entropy"},
		{"en", "cross_entropy_loss(x)", "CrossEntropyLoss"},
		{"en", "form HR-LV-26 applies", "hrlv26"},
		{"en", "Wi-Fi access", "wifi"},
		{"en", "98,000 kroner", "98000"},
		{"en", "COVID-19", "covid"},
		{"fr", "les règles planifiées", "planifiees"},
		{"fr", "l’examen", "examens"},
		{"de", "die Größe", "GRÖSSE"},
		{"es", "las canciones", "canción"},
		{"zh", "公司的年假制度", "年假"},
		{"zh", "公司的年假制度", "假"},
		{"zh", "ＡＢＣ公司", "abc"},
		{"ja", "東京タワー", "タワー"},
		{"th", "มีวันลาพักร้อน", "วันลา"},
	} {
		stemming := analyze.Stemming(c.language)
		var have []string
		a.Passage(c.passage, stemming, func(t analyze.Term) { have = append(have, t.Text) })
		asked := a.Query(c.query, []string{stemming})
		if !slices.ContainsFunc(asked, func(q string) bool { return slices.Contains(have, q) }) {
			t.Errorf("%q (%v) does not find %q (%v)", c.query, asked, c.passage, have)
		}
	}
}

func TestStemming(t *testing.T) {
	for language, want := range map[string]string{
		"": "en", "en": "en", "en-GB": "en", "fr_CA": "fr", "nb": "no", "pl": "none", "zh-Hant": "en", "ru": "en", "vi": "none",
	} {
		if got := analyze.Stemming(language); got != want {
			t.Errorf("%q: got %q, want %q", language, got, want)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	a := analyze.New()
	text := "Running services, congés payés, 年假有几天, CrossEntropyLoss v1.2.3"
	want := passage(a, text, "fr")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if got := passage(a, text, "fr"); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzAnalyze(f *testing.F) {
	for _, s := range []string{"", "l'été U.S. v1.2.3 C++", "年假有几天？データ", "CrossEntropyLoss HR-LV-26 a_b-c.d,e'f", "วันลา", "x\xff\u0301'-", strings.Repeat("é", 200)} {
		f.Add(s, "fr")
	}
	a := analyze.New()
	f.Fuzz(func(t *testing.T, text, language string) {
		stemming := analyze.Stemming(language)
		have := map[string]bool{}
		main := false
		a.Passage(text, stemming, func(term analyze.Term) {
			if term.Text == "" {
				t.Error("empty term")
			}
			// A stem is not longer than its word; taking accents off can double a letter (ß).
			if n := utf8.RuneCountInString(term.Text); n > 8*analyze.MaxTermLength && !isRun(term.Text) {
				t.Errorf("term of %d runes", n)
			}
			main = main || !term.Extra
			have[term.Text] = true
		})
		if len(have) > 0 && !main {
			t.Error("only extra terms: the passage would have no length")
		}
		for _, q := range a.Query(text, []string{stemming}) {
			if q == "" {
				t.Error("empty query term")
			}
			if !have[q] {
				t.Errorf("query term %q is not a term of the same text %q", q, text)
			}
		}
		if a, b := passage(a, text, language), passage(analyze.New(), text, language); a != b {
			t.Errorf("first %s, then %s", a, b)
		}
	})
}

// isRun reports whether a term may be an n-gram; those are short by themselves.
func isRun(term string) bool { return utf8.RuneCountInString(term) <= 3 }

func BenchmarkPassage(b *testing.B) {
	a := analyze.New()
	for name, text := range map[string]string{
		"english": strings.Repeat("The runners of the long-term study were compared with CrossEntropyLoss baselines in 2024. ", 50),
		"chinese": strings.Repeat("阿尔德维克大学数据科学硕士现在的学费是多少？", 50),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				a.Passage(text, "en", func(analyze.Term) { n++ })
			}
		})
	}
}

func ExampleAnalyzer_Query() {
	a := analyze.New()
	fmt.Println(a.Query("running services", []string{"en"}))
	// Output: [run servic]
}
