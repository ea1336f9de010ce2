package sparse_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/sparse"
)

// passages are short texts in several languages.
var passages = []rag.TextRecord{
	{ID: "leave", Text: "Employees have annual leave of 25 days; the state of the art is 30.", Language: "en"},
	{ID: "sick", Text: "Annual reports list sick leave. Leave is annual.", Language: "en"},
	{ID: "manage", Text: "The management of the university receives managers.", Language: "en"},
	{ID: "code", Text: "Raise `CrossEntropyLoss` in release v1.2.3, then file form HR-LV-26.", Language: "en"},
	{ID: "snake", Text: "cross_entropy_loss grows with e_1042", Language: "en"},
	{ID: "fr", Text: "Les congés payés doivent être planifiés.", Language: "fr"},
	{ID: "de", Text: "Die Verträge werden jährlich verlängert.", Language: "de"},
	{ID: "zh", Text: "公司的年假制度规定员工每年有十五天年假，税后工资照发。", Language: "zh"},
	{ID: "zh2", Text: "假期的年度安排由公司制定。", Language: "zh"},
	{ID: "ja", Text: "東京タワーの入場券はオンラインで買えます。ひらがなの単語。", Language: "ja"},
	{ID: "ko", Text: "연차휴가를 신청하려면 양식을 제출하십시오.", Language: "ko"},
}

func TestMatch(t *testing.T) {
	dir := t.TempDir()
	x := openDir(t, dir)
	upsert(t, x, passages...)
	phrase, prefix := rag.TextMatch{Phrase: true}, rag.TextMatch{Prefix: true}
	both := rag.TextMatch{Phrase: true, Prefix: true}
	fuzzy := func(n int) rag.TextMatch { return rag.TextMatch{Fuzzy: n} }
	cases := []struct {
		query string
		match rag.TextMatch
		want  string // all IDs, sorted
	}{
		{`"annual leave"`, rag.TextMatch{}, "leave sick"},
		{`"annual leave"`, phrase, "leave"},
		{`"leave is annual"`, phrase, "sick"},
		{`"annual leaves"`, phrase, "leave"}, // by stems
		{`"state of the art"`, phrase, "leave"},
		{`"state art"`, phrase, ""},
		{`days "sick leave"`, phrase, "sick"},
		{`"annual reports" "sick leave"`, phrase, "sick"},
		{`"annual reports" "annual leave"`, phrase, ""},
		{`"the of"`, phrase, ""}, // nothing to rank by
		{`annual "the of"`, phrase, "leave sick"},
		{`25" leave`, phrase, "leave sick"}, // no quote is closed
		{`25" «annual leave»`, phrase, "leave"},
		{`“cross entropy loss”`, phrase, "code snake"},
		{`"CrossEntropyLoss in release"`, phrase, "code"},
		{`"release v1.2.3"`, phrase, "code"},
		{`"form HR-LV-26"`, phrase, "code"},
		{`"congés payés"`, phrase, "fr"},
		{`«conges payes»`, phrase, "fr"},
		{`"年假制度"`, phrase, "zh"},
		{`"年度安排"`, phrase, "zh2"},
		{`"假制"`, phrase, "zh"},
		{`"假年"`, phrase, ""},
		{`「東京タワー」`, phrase, "ja"},
		{`"연차휴가를 신청"`, phrase, "ko"},

		{`manag*`, rag.TextMatch{}, "manage"}, // a star is a sign like others
		{`univers*`, prefix, "manage"},
		{`universit*`, prefix, "manage"}, // longer than the stem
		{`managem*`, prefix, "manage"},
		{`LEA*, rep*`, prefix, "leave sick"},
		{`crossen*`, prefix, "code snake"},
		{`cross_ent*`, prefix, "code snake"},
		{`HR-L*`, prefix, "code"},
		{`v1.2*`, prefix, "code"},
		{`planifi*`, prefix, "fr"},
		{`vertr*`, prefix, "de"},
		{`税*`, prefix, "zh"},
		{`タワ*`, prefix, "ja"},
		{`zzz*`, prefix, ""},
		{`*`, prefix, ""},
		{`"annual lea*"`, both, "leave"},
		{`"annual zzz*"`, both, ""},

		{`mangement`, fuzzy(0), ""},
		{`mangement`, fuzzy(1), "manage"},
		{`recevies`, fuzzy(1), ""},
		{`recevies`, fuzzy(2), "manage"},
		{`laeve`, fuzzy(2), ""}, // short: one letter
		{`leavs`, fuzzy(1), "leave sick"},
		{`1043`, fuzzy(2), ""}, // another number is another thing
		{`vertrege`, fuzzy(1), "de"},
		{`年價`, fuzzy(2), "zh zh2"}, // by its characters alone
	}
	for _, reopened := range []bool{false, true} {
		if reopened { // reads positions and forms from the file
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
			x = openDir(t, dir)
			defer x.Close()
		}
		for _, c := range cases {
			got, err := x.Search(t.Context(), "c", rag.SparseQuery{Text: c.query, K: 100, Match: c.match})
			if err != nil {
				t.Fatal(err)
			}
			found := ids(got)
			slices.Sort(found)
			if strings.Join(found, " ") != c.want {
				t.Errorf("%s with %+v, reopened %v: got %v, want %s", c.query, c.match, reopened, found, c.want)
			}
		}
	}
	if _, err := x.Search(t.Context(), "c", rag.SparseQuery{Text: "x", K: 1, Match: rag.TextMatch{Fuzzy: 3}}); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("fuzzy 3: got %v, want ErrInvalid", err)
	}
}

// TestFuzzyCountsLess checks that the word itself goes before one that is like it.
func TestFuzzyCountsLess(t *testing.T) {
	x := openMemory(t)
	upsert(t, x, rag.TextRecord{ID: "a", Text: "the lease ends"}, rag.TextRecord{ID: "b", Text: "the leash ends"}, rag.TextRecord{ID: "c", Text: "other words here"})
	got, err := x.Search(t.Context(), "c", rag.SparseQuery{Text: "leash", K: 10, Match: rag.TextMatch{Fuzzy: 1}})
	if err != nil || !slices.Equal(ids(got), []string{"b", "a"}) {
		t.Errorf("got %v, %v, want b, a", got, err)
	}
}

// TestMatchAfterChanges compares positions and forms that went through merges with fresh ones.
func TestMatchAfterChanges(t *testing.T) {
	dir := t.TempDir()
	x := openDir(t, dir)
	defer x.Close()
	for round := range 30 { // each record a segment, merged by eight
		r := passages[round%len(passages)]
		upsert(t, x, rag.TextRecord{ID: r.ID, Text: "gone soon"})
		upsert(t, x, r)
	}
	fresh := openMemory(t)
	upsert(t, fresh, passages...)
	for _, q := range []rag.SparseQuery{
		{Text: `"annual leave"`, Match: rag.TextMatch{Phrase: true}},
		{Text: `"年假制度" "公司的年假"`, Match: rag.TextMatch{Phrase: true}},
		{Text: "managem* univers* lea*", Match: rag.TextMatch{Prefix: true}},
		{Text: "mangement annuul leavs", Match: rag.TextMatch{Fuzzy: 2}},
	} {
		q.K = 10
		want, err := fresh.Search(t.Context(), "c", q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := x.Search(t.Context(), "c", q)
		if err != nil {
			t.Fatal(err)
		}
		if len(want) == 0 {
			t.Errorf("%s: the fresh index finds nothing", q.Text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-fresh +changed):\n%s", q.Text, diff)
		}
	}
}

// TestShortTerms checks what dictionaries are praised for: short words of Chinese, Japanese and Korean find their page
// with BM25 alone.
func TestShortTerms(t *testing.T) {
	x := openMemory(t)
	upsert(t, x, passages...)
	for query, want := range map[string]string{
		"税": "zh", "年假": "zh", "十五天": "zh", "工资": "zh", "安排": "zh2", "年度安": "zh2",
		"タワー": "ja", "オンライン": "ja", "ひらがな": "ja", "単語": "ja",
		"휴가": "ko", "휴가는": "ko", "양식": "ko", "신청": "ko",
	} {
		if got := search(t, x, query); len(got) == 0 || got[0].ID != want {
			t.Errorf("%s: got %v, want %s first", query, got, want)
		}
	}
}

func TestFields(t *testing.T) {
	open := func(w sparse.FieldWeights) *sparse.BM25 {
		x, err := sparse.OpenBM25("", sparse.BM25Config{Fields: w})
		if err != nil {
			t.Fatal(err)
		}
		upsert(t, x,
			rag.TextRecord{ID: "text", Text: "harbour harbour wall and pilot boats of the coast"},
			rag.TextRecord{ID: "title", Text: "wall and pilot boats and harbour of the coast", Title: "The harbour"},
			rag.TextRecord{ID: "heading", Text: "wall and boats of the coast", Headings: "Sea\nPilot stations"},
		)
		return x
	}
	plain := open(sparse.FieldWeights{})
	if got := ids(search(t, plain, "harbour")); !slices.Equal(got, []string{"text", "title"}) {
		t.Errorf("text alone: got %v", got)
	}
	if got := search(t, plain, "stations"); len(got) != 0 {
		t.Errorf("text alone finds a heading: %v", got)
	}
	x := open(sparse.FieldWeights{Title: 2, Headings: 1.5})
	if got := ids(search(t, x, "harbour")); !slices.Equal(got, []string{"title", "text"}) {
		t.Errorf("weighted: got %v, want the title first", got)
	}
	if got := ids(search(t, x, "pilot")); got[0] != "heading" {
		t.Errorf("weighted: got %v, want the heading first", got)
	}
	for query, want := range map[string]int{`"pilot stations"`: 1, `"coast harbour"`: 0, `"sea pilot"`: 0} {
		got, err := x.Search(t.Context(), "c", rag.SparseQuery{Text: query, K: 10, Match: rag.TextMatch{Phrase: true}})
		if err != nil || len(got) != want {
			t.Errorf("%s: got %v, %v, want %d", query, got, err, want)
		}
	}
}

// TestWeightOfOneIsRepetition checks the arithmetic of steps: a title of weight 1 counts as its words in the text.
func TestWeightOfOneIsRepetition(t *testing.T) {
	weighted, err := sparse.OpenBM25("", sparse.BM25Config{Fields: sparse.FieldWeights{Title: 1}})
	if err != nil {
		t.Fatal(err)
	}
	plain := openMemory(t)
	upsert(t, weighted, rag.TextRecord{ID: "a", Text: "pilot boat", Title: "harbour"}, rag.TextRecord{ID: "b", Text: "harbour harbour wall"})
	upsert(t, plain, rag.TextRecord{ID: "a", Text: "pilot boat harbour"}, rag.TextRecord{ID: "b", Text: "harbour harbour wall"})
	if diff := cmp.Diff(search(t, plain, "harbour pilot"), search(t, weighted, "harbour pilot"), cmp.Comparer(near)); diff != "" {
		t.Errorf("(-repeated +weighted):\n%s", diff)
	}
}

func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

// TestOtherSettings checks that a collection is refused by an index that would store other terms, and why.
func TestOtherSettings(t *testing.T) {
	dir := t.TempDir()
	x := openDir(t, dir)
	upsert(t, x, rag.TextRecord{ID: "a", Text: "harbour"})
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]sparse.BM25Config{
		"auto/v2/title=2,headings=0": {Fields: sparse.FieldWeights{Title: 2}},
		"auto/v2+whole/1":            {Segmenter: whole{}},
	} {
		other, err := sparse.OpenBM25(dir, c)
		if err != nil {
			t.Fatal(err)
		}
		if got := other.Fingerprint(); got != "bm25/"+want {
			t.Errorf("fingerprint %s, want bm25/%s", got, want)
		}
		_, err = other.Search(t.Context(), "c", rag.SparseQuery{Text: "harbour", K: 1})
		if !errors.Is(err, rag.ErrFingerprint) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "auto/v2,") {
			t.Errorf("%s: got %v, want ErrFingerprint with both fingerprints", want, err)
		}
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// whole is a segmenter that takes each run for a word.
type whole struct{}

func (whole) Fingerprint() string         { return "whole/1" }
func (whole) Segment(run string) []string { return []string{run} }

func TestSegmenter(t *testing.T) {
	x, err := sparse.OpenBM25("", sparse.BM25Config{Segmenter: whole{}})
	if err != nil {
		t.Fatal(err)
	}
	upsert(t, x, passages...)
	for query, want := range map[string]string{"年假": "zh", "税": "zh", "假期的年度安排由公司制定": "zh2", "タワー": "ja"} {
		if got := search(t, x, query); len(got) == 0 || got[0].ID != want {
			t.Errorf("%s: got %v, want %s first", query, got, want)
		}
	}
	got, err := x.Search(t.Context(), "c", rag.SparseQuery{Text: `"年假制度"`, K: 10, Match: rag.TextMatch{Phrase: true}})
	if err != nil || !slices.Equal(ids(got), []string{"zh"}) {
		t.Errorf("phrase: got %v, %v, want zh", got, err)
	}
}
