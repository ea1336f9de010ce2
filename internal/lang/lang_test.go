package lang_test

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag/internal/lang"
	"github.com/seed-d8745b77/rag/internal/testdata"
)

func TestDetect(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"   ?! 42", ""},
		{"what is the per diem for Norway?", "en"},
		{"How do I reset my password", "en"},
		{"Combien de jours de congé ?", "fr"},
		{"combien de jours de conge par an", "fr"},
		{"Où est la salle de réunion ?", "fr"},
		{"Wie viele Urlaubstage habe ich im Jahr?", "de"},
		{"Was kostet die Verlängerung der Garantie?", "de"},
		{"¿Cuántos días de vacaciones tengo?", "es"},
		{"cómo solicito el reembolso de gastos", "es"},
		{"Quantos dias de férias eu tenho por ano?", "pt"},
		{"Quanti giorni di ferie ho all'anno?", "it"},
		{"Dove si trova l'ufficio?", "it"},
		{"Wie lange dauert die Lieferung?", "de"},
		{"J'ai perdu mon badge", "fr"},
		{"Qual è la differenza tra il contratto e la polizza?", "it"},
		{"Hoeveel vakantiedagen heb ik per jaar?", "nl"},
		{"Wat is het verschil tussen de twee polissen?", "nl"},
		{"年假有几天？", "zh"},
		{"税", "zh"},
		{"read_table 的 missing 参数可以取哪些值？", "zh"},
		{"动画《鬼灭の刃》一共有多少集？", "zh"},
		{"有給休暇は何日ありますか", "ja"},
		{"データベース", "ja"},
		{"연차는 며칠인가요?", "ko"},
		{"Сколько дней отпуска?", "ru"},
		{"Скільки днів відпустки і коли їх брати?", "uk"},
		{"Πόσες ημέρες άδειας;", "el"},
		{"كم عدد أيام الإجازة؟", "ar"},
		{"چند روز مرخصی دارم؟", "fa"},
		{"כמה ימי חופשה?", "he"},
		{"छुट्टी के कितने दिन हैं?", "hi"},
		{"มีวันลาพักร้อนกี่วัน", "th"},
		// Undecided rather than wrong.
		{"invoice", ""},
		{"résumé", ""},
		{"café menu", ""},
		{"Beyoncé", ""},
		{"HR-LV-26", ""},
		{"Rio de Janeiro", ""},
		{"Los Angeles", ""},
		{"de novo", ""},
		{"TNF-α", ""},
		{"die cast aluminium", ""},
		{"par value", ""},
		{"El Niño", ""},
		{"São Paulo office address", ""},
		{"Müller's report on das Auto", ""},
		{"a vis-à-vis meeting", ""},
		{"per se requirement", ""},
		{"Guillain-Barré syndrome", ""},
		{"Jag vill veta hur många semesterdagar det finns för anställda på kontoret den här veckan och nästa", ""},
		// English, whatever it quotes.
		{"Who wrote the book Les Fleurs du mal?", "en"},
		{"What does c'est la vie mean?", "en"},
		{"Where is the Museo de la Ciudad de México?", "en"},
	} {
		if got := lang.Detect(c.text); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

// TestQuestions holds the guess against labelled questions: no wrong tag, and few without one.
func TestQuestions(t *testing.T) {
	confusion := map[string]int{}
	for _, q := range readQuestions(t, testdata.Shared(t, "data", "qa", "questions.jsonl")) {
		got := lang.Detect(q.Question)
		confusion[fmt.Sprintf("%s as %q", q.Lang, got)]++
		if got != q.Lang && got != "" {
			t.Errorf("%q: got %q, want %q", q.Question, got, q.Lang)
		}
		if got == "" && q.Lang != "en" {
			t.Errorf("%q: got nothing, want %q", q.Question, q.Lang)
		}
	}
	logCounts(t, confusion)
}

// TestQueries holds the guess against the questions of the retrieval sets. English ones may go without a tag, but at
// most 1 % may get a wrong one: the dense lane would be left out for them.
func TestQueries(t *testing.T) {
	for set, want := range map[string]string{"scifact": "en", "cranfield": "en", "xquad-en": "en", "cmrc2018": "zh"} {
		t.Run(set, func(t *testing.T) {
			confusion, wrong := map[string]int{}, 0
			queries := readQuestions(t, testdata.Shared(t, "data", "ir", set, "queries.jsonl"))
			for _, q := range queries {
				got := lang.Detect(q.Text)
				confusion[fmt.Sprintf("%s as %q", want, got)]++
				if got != want && (want != "en" || got != "") {
					wrong++
					t.Logf("%q: got %q", q.Text, got)
				}
			}
			logCounts(t, confusion)
			if limit := len(queries) / 100; wrong > limit || want != "en" && wrong > 0 {
				t.Errorf("%d of %d queries got a wrong tag", wrong, len(queries))
			}
		})
	}
}

type question struct{ Lang, Question, Text string }

func readQuestions(t *testing.T, path string) []question {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var qs []question
	for line := range strings.Lines(string(b)) {
		var q question
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			t.Fatal(err)
		}
		qs = append(qs, q)
	}
	return qs
}

func logCounts(t *testing.T, counts map[string]int) {
	var lines []string
	for k, n := range counts {
		lines = append(lines, fmt.Sprintf("%s: %d", k, n))
	}
	sort.Strings(lines)
	t.Log(strings.Join(lines, ", "))
}

func FuzzDetect(f *testing.F) {
	f.Add("l'été à Paris")
	f.Add("年假 days\xff")
	f.Fuzz(func(t *testing.T, text string) {
		if a, b := lang.Detect(text), lang.Detect(text); a != b {
			t.Errorf("got %q, then %q", a, b)
		}
	})
}

func BenchmarkDetect(b *testing.B) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog and runs to the river. ", 200)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		lang.Detect(text)
	}
}
