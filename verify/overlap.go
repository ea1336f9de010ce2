package verify

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/analyze"
	"github.com/seed-d8745b77/rag/internal/cite"
	"github.com/seed-d8745b77/rag/internal/lang"
	"github.com/seed-d8745b77/rag/internal/mdtext"
	"github.com/seed-d8745b77/rag/internal/prompt"
)

// OverlapConfig sets up an [Overlap].
type OverlapConfig struct {
	Coverage   float64 `json:"coverage,omitzero" range:"(0,1]"`   // share of a claim's words that the sentences must have; 0: 0.7; above 0 to 1
	Similarity float64 `json:"similarity,omitzero" range:"(0,1]"` // cosine from which sentences in other words, or another language, say the same; 0: 0.72; above 0 to 1. Used where there is an embedder that knows the languages
}

// Overlap judges without a chat model. A claim is supported if it stands in the passage as it is. Else up to three
// neighbouring sentences of the passage must have most of its words, or mean nearly the same by the embedder, and every
// number, date and name of it, negate as often, and give none of the opposites that are known here ("before" for "after").
// It does not reason: what follows from a passage only by calculation, or in quite other words, it finds unsupported. It is
// safe for concurrent use.
type Overlap struct {
	embedder rag.Embedder // nil: words only
	analyzer *analyze.Analyzer
	c        OverlapConfig
}

var _ rag.Verifier = (*Overlap)(nil)

// NewOverlap returns a verifier; the embedder may be nil. Wrong settings are ErrInvalid.
func NewOverlap(embedder rag.Embedder, c OverlapConfig) (*Overlap, error) {
	if c.Coverage == 0 {
		c.Coverage = 0.7
	}
	if c.Similarity == 0 {
		c.Similarity = 0.72
	}
	if !(c.Coverage > 0 && c.Coverage <= 1 && c.Similarity > 0 && c.Similarity <= 1) {
		return nil, fmt.Errorf("overlap verifier: coverage is %v and similarity %v, each must be above 0 and at most 1: %w", c.Coverage, c.Similarity, rag.ErrInvalid)
	}
	return &Overlap{embedder, analyze.New(nil), c}, nil
}

// Verify judges each claim by itself. Only the embedder and ctx can fail.
func (v *Overlap) Verify(ctx context.Context, claims []rag.Claim) ([]rag.Verdict, error) {
	out := make([]rag.Verdict, len(claims))
	for i, c := range claims {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		verdict, err := v.judge(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("overlap verifier: %w", err)
		}
		out[i] = verdict
	}
	return out, nil
}

// mostSentences is how many neighbouring sentences may support a claim together.
const mostSentences = 3

// window is a run of sentences of a passage, compared with a claim.
type window struct {
	text     string
	coverage float64
	size     int // sentences
}

func (v *Overlap) judge(ctx context.Context, c rag.Claim) (rag.Verdict, error) {
	c.Text, c.Passage = prompt.Visible(c.Text), prompt.Visible(c.Passage) // a model quotes what it was shown
	claimLanguage, passageLanguage := lang.Detect(c.Text), lang.Detect(c.Passage)
	foreign := claimLanguage != passageLanguage && claimLanguage != "" && passageLanguage != ""
	words := v.terms(c.Text, claimLanguage)
	if len(words) == 0 {
		return rag.Verdict{Reason: "the claim has no words to compare"}, nil
	}
	if quoted(c) {
		return rag.Verdict{Supported: true, Reason: "the passage says so word by word: " + short(c.Text)}, nil
	}
	t := &statement{c, facts(c.Text), facts(c.Passage)}
	if lack := t.of.lackingIn(t.in.numbers); lack != "" {
		return rag.Verdict{Reason: "the passage does not have " + lack}, nil
	}
	if name := unnamed(t.of.names, analyze.Fold(c.Passage)); name != "" {
		return rag.Verdict{Reason: fmt.Sprintf("the passage does not name %q", name)}, nil
	}
	if run := strangers(c.Text, c.Passage); run != "" && !foreign {
		return rag.Verdict{Reason: fmt.Sprintf("the passage does not mention %q", run)}, nil
	}
	windows := v.windows(c.Passage, words, passageLanguage)
	if len(windows) == 0 {
		return rag.Verdict{Reason: "the passage is empty"}, nil
	}
	best := windows[0]
	reason := ""
	for _, w := range windows {
		if foreign {
			break
		}
		if w.coverage < v.needed(w.size) {
			continue
		}
		if reason = t.contradiction(w.text); reason == "" {
			return rag.Verdict{Supported: true, Reason: fmt.Sprintf("the passage has %.0f %% of its words: %s", 100*w.coverage, short(w.text))}, nil
		}
		if w.size == 1 { // one sentence speaks of the claim: what others say does not mend it
			return rag.Verdict{Reason: reason + ": " + short(w.text)}, nil
		}
	}
	if reason != "" {
		return rag.Verdict{Reason: reason + ": " + short(best.text)}, nil
	}
	return v.bySimilarity(ctx, t, windows, foreign, claimLanguage, passageLanguage)
}

// quoted reports whether a claim consists of whole sentences of the passage, one behind the other, word by word. What is
// looked at below would doubt some of them: whose a number is can only be guessed.
func quoted(c rag.Claim) bool {
	claim := plain(c.Text)
	sentences := cite.Sentences(c.Passage)
	for start := range sentences {
		for end := start; end < len(sentences) && end < start+mostSentences; end++ {
			if plain(c.Passage[sentences[start].Start:sentences[end].End]) == claim {
				return true
			}
		}
	}
	return false
}

// plain is a text without differences of case, accents and white space, and without the mark of its end.
func plain(text string) string {
	return strings.TrimRight(strings.Join(strings.Fields(analyze.Fold(text)), " "), ".!?。！？ ")
}

// needed is the share of words that sentences must have: several have more by chance, so of what a single one may lack half
// is enough.
func (v *Overlap) needed(sentences int) float64 {
	if sentences == 1 {
		return v.c.Coverage
	}
	return (1 + v.c.Coverage) / 2
}

// leastShared is the share of words below which sentences in the same language are not compared by meaning: sentences about
// the same subject are near one another whatever they say of it.
const leastShared = 0.25

// mostEmbedded is how many windows are compared by meaning.
const mostEmbedded = 8

// bySimilarity looks for sentences that say the same in other words.
func (v *Overlap) bySimilarity(ctx context.Context, t *statement, windows []window, foreign bool, languages ...string) (rag.Verdict, error) {
	best := windows[0]
	poor := rag.Verdict{Reason: fmt.Sprintf("no sentence of the passage has more than %.0f %% of its words", 100*best.coverage)}
	if foreign {
		poor.Reason = "the passage is in another language, and nothing here compares the two"
	}
	if v.embedder == nil || !v.knows(languages) || !foreign && best.coverage < leastShared {
		return poor, nil
	}
	texts := []string{t.Text}
	for _, w := range windows[:min(len(windows), mostEmbedded)] {
		texts = append(texts, w.text)
	}
	vectors, err := v.embed(ctx, texts)
	if err != nil {
		return rag.Verdict{}, err
	}
	nearest, most := best, -1.0
	for i, vec := range vectors[1:] {
		if s := cosine(vectors[0], vec); s > most {
			nearest, most = windows[i], s
		}
	}
	if most < v.c.Similarity {
		return rag.Verdict{Reason: fmt.Sprintf("no sentence of the passage says the same: the nearest is at %.2f of %.2f", most, v.c.Similarity)}, nil
	}
	if reason := t.contradiction(nearest.text); reason != "" {
		return rag.Verdict{Reason: reason + ": " + short(nearest.text)}, nil
	}
	return rag.Verdict{Supported: true, Reason: fmt.Sprintf("the passage means the same, at %.2f: %s", most, short(nearest.text))}, nil
}

// knows reports whether the embedder's vectors mean something in these languages.
func (v *Overlap) knows(languages []string) bool {
	known := v.embedder.Model().Languages
	return known == nil || !slices.ContainsFunc(languages, func(l string) bool { return l != "" && !slices.Contains(known, l) })
}

func (v *Overlap) embed(ctx context.Context, texts []string) ([][]float32, error) {
	var out [][]float32
	for part := range slices.Chunk(texts, v.embedder.Model().BatchSize()) {
		vecs, err := v.embedder.Embed(ctx, rag.AsPassage, part)
		if err != nil {
			return nil, err
		}
		if len(vecs) != len(part) {
			return nil, fmt.Errorf("%d vectors for %d texts: %w", len(vecs), len(part), rag.ErrInvalid)
		}
		out = append(out, vecs...)
	}
	return out, nil
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

// windows are the runs of sentences of a passage, those with most of the words first, of equal ones the shorter. A first line
// that is no sentence, the headings, counts for each of them.
func (v *Overlap) windows(passage string, words map[string]bool, language string) []window {
	head, body := heading(passage)
	context := v.terms(head, language)
	var sentences []string
	var have []map[string]bool // words of each sentence
	for _, s := range cite.Sentences(body) {
		sentence := body[s.Start:s.End]
		sentences, have = append(sentences, sentence), append(have, v.terms(sentence, language))
	}
	var out []window
	for start := range sentences {
		for size := 1; size <= mostSentences && start+size <= len(sentences); size++ {
			found := 0
			for w := range words {
				if context[w] || slices.ContainsFunc(have[start:start+size], func(h map[string]bool) bool { return h[w] }) {
					found++
				}
			}
			text := strings.Join(sentences[start:start+size], " ")
			out = append(out, window{text, float64(found) / float64(len(words)), size})
		}
	}
	slices.SortStableFunc(out, func(a, b window) int {
		return cmp.Or(cmp.Compare(b.coverage, a.coverage), cmp.Compare(a.size, b.size))
	})
	return out
}

// heading cuts a first line that ends without the mark of a sentence off a passage.
func heading(passage string) (head, body string) {
	head, body, ok := strings.Cut(passage, "\n")
	last, _ := utf8.DecodeLastRuneInString(strings.TrimSpace(head))
	if !ok || strings.TrimSpace(body) == "" || strings.ContainsRune(".!?。！？", last) {
		return "", passage
	}
	return head, body
}

// shortWord is how many letters a word has at least, in scripts with an alphabet: below are mostly function words.
const shortWord = 3

// terms are the words of a text by which it is compared.
func (v *Overlap) terms(text, language string) map[string]bool {
	out := map[string]bool{}
	v.analyzer.Passage(text, analyze.Stemming(language), func(t analyze.Term) {
		if t.Text[0] < 0x80 && (len(t.Text) < shortWord || t.Text[0] >= '0' && t.Text[0] <= '9') || functionWords[t.Text] {
			return
		}
		if _, number := numberWords[cmp.Or(t.Form, t.Text)]; number {
			return // numbers, and months, are compared apart
		}
		out[t.Text] = true
	})
	return out
}

// functionWords of French, German and Spanish, which the analyzer keeps, as it writes them. English ones it leaves out.
var functionWords = setOf(`les des une aux est sont ont que qui par pour dans sur avec pas plus ce cet cette ces son ses leur leurs elle ils elles nous vous etre
	avoir fait peut doit lors puis ainsi entre sans chaque tout tous toute
	der die das den dem des ein eine einen einem einer und oder ist sind war wird werden hat haben fur mit von aus bei nach zum zur auf nicht auch als sie
	los las del una unos unas con por para que esta este son ser han fue como mas
	also must may can shall should will would could each per`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// short cuts a sentence to what a reason shows of it.
func short(s string) string {
	const most = 120
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= most {
		return s
	}
	return mdtext.Cut(s, most) + "…"
}
