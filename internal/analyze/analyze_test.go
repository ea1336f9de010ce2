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
	a := analyze.New(nil)
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
	a := analyze.New(nil)
	for _, c := range []struct {
		text      string
		stemmings []string
		want      []string
	}{
		{"???", nil, []string{}},
		{"to be or not to be", nil, []string{}},
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
	a := analyze.New(nil)
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
		{"zh", "本公司的年假制度", "年假制"},
		{"ja", "カタカナの単語とひらがな", "ひらがな"},
		{"ja", "カタカナの単語とひらがな", "単語"},
		{"ko", "연차휴가를 신청하려면", "휴가"},
		{"ko", "휴가를 신청", "휴가는"},
		{"en", "the résumé of Ångström", "resume angstrom"},
		{"en", "release v1.2.3", "1.2.3"},
		{"en", "release v1.2.3", "V1.2.3"},
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

// TestPositions checks where terms stand: a phrase is found where the places of its words are one after the other.
func TestPositions(t *testing.T) {
	a := analyze.New(nil)
	for _, c := range []struct{ text, want string }{
		{"state of the art", "state@0 art@3"},
		{"a CrossEntropyLoss rises", "crossentropyloss@1 cross@1 entropi/entropy@2 loss@3 rise/rises@4"},
		{"cross_entropy_loss rises", "crossentropyloss@0 cross@0 entropi/entropy@1 loss@2 rise/rises@3"},
		{"HR-LV-26 applies", "hrlv26@0 hr@0 lv@1 26@2 appli/applies@3"},
		{"v1.2.3 runs", "v1.2.3@0 1.2.3@0 run/runs@1"},
		{"年假制度", "年假@0 假制@1 制度@2 年@0 假@1 制@2 度@3"},
		{"GPT模型 v2", "gpt@0 模型@1 模@1 型@2 v2@3"},
		{"วันลา x", "วัน@0 ันล@1 นลา@2 x@5"},
	} {
		var got []string
		a.Passage(c.text, "en", func(t analyze.Term) {
			if t.Form != "" {
				t.Text += "/" + t.Form
			}
			got = append(got, fmt.Sprintf("%s@%d", t.Text, t.Position))
		})
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.text, strings.Join(got, " "), c.want)
		}
	}
}

func TestAskPrefix(t *testing.T) {
	a := analyze.New(nil)
	for _, c := range []struct{ text, want string }{
		{"runn", "runn*@0"},
		{"the", "the*@0"},
		{"annual leav", "annual@0 leav*@1"},
		{"Café", "cafe*@0"},
		{"well-kno", "well@0 kno*@1"},
		{"CrossEnt", "cross@0 crossent*@0"},
		{"cross_ent", "cross@0 crossent*@0"},
		{"HR-LV", "hr@0 hrlv*@0"},
		{"v1.2", "v1.2*@0 1.2*@0"},
		{"税", "税*@0"},
		{"年假", "年假@0 年@0 假@1"},
		{"???", ""},
	} {
		list, _ := a.AskPrefix(c.text, nil, 0)
		var got []string
		for _, t := range list {
			if t.Prefix {
				t.Text += "*"
			}
			got = append(got, fmt.Sprintf("%s@%d", t.Text, t.Position))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %s, want %s", c.text, strings.Join(got, " "), c.want)
		}
	}
}

// words is a segmenter that knows a few words.
type words []string

func (words) Fingerprint() string { return "words/1" }

func (w words) Segment(run string) []string {
	var list []string
next:
	for run != "" {
		for _, known := range w {
			if rest, found := strings.CutPrefix(run, known); found {
				list, run = append(list, known), rest
				continue next
			}
		}
		_, size := utf8.DecodeRuneInString(run)
		list, run = append(list, run[:size]), run[size:]
	}
	return list
}

func TestSegmenter(t *testing.T) {
	a := analyze.New(words{"共和国", "年假"})
	if got, want := a.Fingerprint(), "auto/v2+words/1"; got != want {
		t.Errorf("fingerprint %q, want %q", got, want)
	}
	if got, want := passage(a, "年假在共和国 データ", "zh"), "年假 假在 在共 共和 和国 (年) (假) (在) (共) (和) (国) (共和国) デー ータ (デ) (ー) (タ)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if diff := cmp.Diff([]string{"年假", "年", "假"}, a.Query("年假", nil)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
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
	a := analyze.New(nil)
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
	a := analyze.New(nil)
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
		if a, b := passage(a, text, language), passage(analyze.New(nil), text, language); a != b {
			t.Errorf("first %s, then %s", a, b)
		}
		prefix, _ := a.AskPrefix(text, []string{stemming}, 0)
		for _, q := range prefix {
			if q.Text == "" {
				t.Error("empty beginning")
			}
		}
	})
}

// isRun reports whether a term may be an n-gram; those are short by themselves.
func isRun(term string) bool { return utf8.RuneCountInString(term) <= 3 }

func BenchmarkPassage(b *testing.B) {
	a := analyze.New(nil)
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
	a := analyze.New(nil)
	fmt.Println(a.Query("running services", []string{"en"}))
	// Output: [run servic]
}
