package cite

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/replies.golden")

// TestWhatBecomesOfReplies holds what becomes of many replies against what became of them before. The other tests say what
// is right; this one shows what a change changes, in replies that nobody would think of and at the bounds of every length.
func TestWhatBecomesOfReplies(t *testing.T) {
	const name = "testdata/replies.golden"
	var got strings.Builder
	before := ""
	for _, reply := range slices.Concat(boundReplies(), oddReplies, randomReplies()) {
		describe(&got, reply, before)
		before = reply
	}
	if *update {
		if err := os.WriteFile(name, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	is, was := strings.Split(got.String(), "\n\n"), strings.Split(string(want), "\n\n")
	for i := range min(len(is), len(was)) {
		if is[i] != was[i] {
			t.Fatalf("the first reply that became something else:\n%s\n\nand was:\n%s", is[i], was[i])
		}
	}
	if len(is) != len(was) {
		t.Errorf("%d replies, and there were %d", len(is), len(was))
	}
}

// describe writes all that the package tells of a reply: what it becomes, what is shown of it while it comes word by word,
// its sentences, and how it compares with the reply before.
func describe(out *strings.Builder, reply, before string) {
	sources := 4
	if len(reply)%2 == 1 {
		sources = 12
	}
	text, rejected := Clean(reply, sources)
	fmt.Fprintf(out, "\nreply    %s\nclean    %s\n", short(fmt.Sprintf("%q", reply)), short(fmt.Sprintf("%q", text)))
	for _, r := range rejected {
		fmt.Fprintf(out, "rejected %s\n", short(fmt.Sprintf("%q: %s", r.Marker, r.Reason)))
	}
	markers := Markers(text)
	if len(markers) > 0 {
		fmt.Fprintf(out, "markers  %s\n", short(fmt.Sprint(markers)))
		fmt.Fprintf(out, "claims   %s\n", short(fmt.Sprintf("%q", Claims(text, markers))))
		fmt.Fprintf(out, "listed   %s\n", short(fmt.Sprint(Listed(text, markers, []string{"Leave Policy 2026", "file:///kb/handbook.md"}))))
	}
	s := NewStream(sources)
	var shown []string
	for _, word := range strings.SplitAfter(reply, " ") {
		shown = append(shown, s.Write(word))
	}
	fmt.Fprintf(out, "shown    %s\n", short(fmt.Sprintf("%q", append(shown, s.Close()))))
	s = NewStream(sources)
	first, rest, _ := strings.Cut(reply, ")")
	if part := s.Write(first); rest != "" {
		fmt.Fprintf(out, "in two   %s\n", short(fmt.Sprintf("%q", []string{part, s.Write(")"+rest) + s.Close()})))
	}
	fmt.Fprintf(out, "spans    %s\n", short(fmt.Sprint(Sentences(text))))
	fmt.Fprintf(out, "compared %.4f %v\n", Overlap(text, before), Closest(before, text))
}

// short stands for a text: itself, or of a long one the beginning, the length and a digest.
func short(s string) string {
	const most = 300
	if len(s) <= most {
		return s
	}
	return fmt.Sprintf("%s… %d bytes %x", strings.ToValidUTF8(s[:60], ""), len(s), sha256.Sum256([]byte(s)))[:120]
}

// boundReplies have one thing that may be as long as a constant says, a little shorter and a little longer.
func boundReplies() (all []string) {
	around := func(n int, reply func(n int) string) {
		for i := n - 3; i <= n+3; i++ {
			all = append(all, reply(i))
		}
	}
	times := strings.Repeat
	around(maxMarker, func(n int) string { return "So it is [1" + times(" ", n-3) + "] so." })
	around(maxMarker, func(n int) string { return "So it is [1," + times(" ", n-4) + "\n2] so. Then it is." })
	around(maxMarker, func(n int) string { return "So it is [1,\n" + times(" ", n-2) + "2] so. Then it is." })
	around(maxMarker, func(n int) string { return "the value row_sums[" + times("x", n-2) + "][1] is so [2]." })
	around(maxMarker/2, func(n int) string { return `{"answer": "So it is.", "citations": ["1 ` + times(" ", n-3) + `2", 3]}` })
	around(maxLink, func(n int) string { return "So it is [1](http://x/" + times("y", n-11) + ") so [2]." })
	around(maxLink, func(n int) string { return "So it is [1](http://x/" + times("y", n-10) + ` "a title") so [2].` })
	around(maxMarker, func(n int) string { return "So it is [1](http://x/" + times("y", n-10) + ` "a title") so [2].` })
	around(maxMarker, func(n int) string { return "So it is (" + times("y", n-1) + " z) so [2]." })
	around(maxMarker, func(n int) string { return "So it is [" + times("y", n-1) + " z] so [2]." })
	around(maxMarker, func(n int) string { return "So it is [1][" + times("y", n-1) + " z] so [2]." })
	around(mostGroups, func(n int) string { return "So it is (1)" + times("[2]", n-1) + ". And more." })
	around(maxRounds, func(n int) string { return "So it is " + times("[9", n) + times("]", n) + " so." })
	around(longSentence, func(n int) string { return "First. X" + times("x", n-1) + "\nand more words [1]." })
	around(mostTries, func(n int) string { return "So it is (as " + times("a ", n) + "it) was [1] then." })
	around(stemRunes, func(n int) string { return times("é", n) + " " + times("word", n) + "s [1]." })
	for _, n := range []string{"98", "99", "100", "0", "-1", "1073741823", "1073741824", "1073741825", "4", "5"} {
		all = append(all, "So it is ("+n+"), or ["+n+"] or [1-"+n+"].")
	}
	return all
}

// oddReplies are about one line of the code each.
var oddReplies = []string{
	"```go [1,\n2]\nx [8]\n```\nSo [88].", "~~~ [77]\nx [8]\n~~~\nSo [88].", "So [1,\nit is not so] and more words\nfollow here.", "So [1,\u200b\n77] it is.",
	"It is.⺀ So. It is.\u2e7f So.", "So x[99]⺀ and y[99]\u2e7f is [99]x.", "At http://x.org/a⺀[1]b and http://x.org/a\u2e7f[1]b.", "So it is [1,1] and [2][2].",
	"So ***[77]*** is **_[77]_** it _**[88]**_ and <sup>^[77]^</sup>.", "So it is (1)(http://x).", "So it is [source: x](http://y) so.", "So (see [1] below) it (a [1]) is ([1], as said) now (note [7]).",
	"So it is (1,). And it is (1 and), so (2;).", "So it is [1^2] and [1#2] or [1*2].", "So it is [^] so, and [^a].", "So it is (source: handbook.md). Or (4:0†x.md).",
	"So it is (1-300), or (300-1), (100-1), (1-100), (99-1), (1-99).", "So it is [2！] and [1～3] or [1，　2].", "So it is [⁴], [⁹], [⁵], [⑨], [①], [٩], [٠], [𝟚], [𝟏], [𝟡], [𝟗].", "So it is [−1] or [-2].",
	"So it is [1](x) and [1]() or [2](xy).", "It costs 5 $", "It is $ x [1]$ so.", "It costs $0 a [1]$ so. It costs $9 a [1]$ so, or $5 a[1]$.", "As $x is $ y and [1] so it goes on. More", "As $x $y$ it is [1] so.", "So it[99]⺀ and it[99]\u2e7f is.", "As $x$ shows it [1] and more",
	"As $$x [1] $$ so, $x [1] $ so.", "As $x [1]$5 so, $x [1]$0 so, $x [1]$9 so, $x [1]$a so.", "so xhttp://x.org/[77] so", "xhttp://x.org/[77] so", "So (http://x.org/a)[77] so http://x.org/b][77].",
	"At http://x.org/(a)b)[77] or http://x.org/[a][b](c)[77].", "a[77] is so [1].", "So z[77] is a[77] or A[77].", "    ```\n[77]\n    ```\n", "   ```\n[77]\n   ```\n[88]", "`a`a [77]\nx [88]\n", "```a`b [77]\nx [88]",
	"~~~a`b [77]\nx [88]\n~~~\n", "``\n[77]\n``\n", "~``\n[77]\n", "So:\nx\n123. a\n1234. b\n12. c\n1) d", "He said \"it is so.\") Then [1] more. And «so.» » Then", "Is it Dr? Yes, no! Then etc… so. Wait.. Then",
	"As `a`$x$ it is so [1] and `b`$y + [2$ more", "So:\n 2. Ask it. Then\n\t3. wait. And 4. Then it is.", "So it is\n{\"answer\": \"x\"}", "So it is\n```json\n{\"answer\": \"x\"}\n```",
	"So it is [1]( y) so [2]( z a).", "As `a`$x + [77]$ so.",
}

// randomReplies are put together of pieces that mean something to the package.
func randomReplies() (all []string) {
	pieces := strings.Split(
		"Leave is 25 days|The notice period is 3.50 months|See Dr. Smith|e.g. this|on p. 3|J. Doe says|2.|It ends|L'art. 3 dit « oui. »|Et vous ?|Mme. Dupont|"+
			"年假为25天|病假另计！|对吗？|¡sí!|employee's|x|a_b|row_sums|It costs $5 and $6|$x_1 + y$|$$z[1]$$|`a[7]`|``b` [1]``|`open|http://x.org/a[7]/(b)|www.x.org/q|"+
			"[1]|[2]|[7]|[0]|[1,2]|[1, 9]|[1-3]|[3–7]|[2..4]|(1)|(3)|(30)|(1998)|（２）|【3】|【3†handbook.md】|【4:0†handbook.md】|［４］|⟦2⟧|〖9〗|[^1]|[^leave]|[^2^]|[²]|[①]|[٣]|"+
			"[Source 2]|[source: x.md]|(see sources 1 and 2)|[来源2]|[注7]|[note 3]|(note 7)|[2, p. 14]|[1;2]|[1,000]|[2?]|[*2*]|**[7]**|<sup>[8]</sup>|_[9]_|^[7]^|[\"1\"]|"+
			"[[1]]|([2])|[9[7]]|[1 [2]]|[1](http://x)|[8](http://x)|[[1]](http://x)|[1](http://x \"a title\")|[1](x y)|\\[1\\]|\\[7\\]|[p. 7]|[12:30]|[sic]|[ ]|[n]|"+
			".|.|.|,|;|!|?|…|:|)|(|]|[|[1,|(see|\"|'|\n|\n|\n\n|\r\n|\n- |\n* |\n1. |\n12) |\n# |\n## Sources\n|\n| a | b |\n|\nSources: |\n[1] Leave Policy 2026|\n[2]: handbook.md, p. 3|\n- [1] *handbook.md*|"+
			"\n```\n|\n```go\n|\n~~~\n|\n````\n|\n   ```\n|\n```\n[1]\n```\n|[1,\n2]|[\n3\n]|[7,\n8]| | | | | |\t|  |\u00a0|\u200b", "|")
	objects := []string{
		`{"answer": "%s", "citations": "1, 2"}`, "```json\n{\"text\": \"%s\", \"sources\": [1, \"[9]\", {\"id\": 2}]}\n```", `{"response": "%s", "references": [{"marker": "[3]"}, {"source": 7}, [1]]}`,
		` {"content": " %s ", "citations": null}`, `{"answer": "", "text": "%s"}`, `{"answer": {"answer": "%s"}}`, `{"answer": "{\"answer\": \"%s\"}", "sources": 2}`, `{"answer": "%s"`, "```js\n%s\n```",
	}
	r := rand.New(rand.NewPCG(14, 53))
	for i := range 350 {
		var reply strings.Builder
		for range 2 + r.IntN(14) {
			reply.WriteString(pieces[r.IntN(len(pieces))])
			if r.IntN(3) > 0 {
				reply.WriteString(" ")
			}
		}
		text := reply.String()
		if i%12 == 0 {
			text = fmt.Sprintf(objects[i/12%len(objects)], strings.NewReplacer("\\", "", "\"", "", "\n", `\n`, "\r", "", "\t", " ").Replace(text))
		}
		all = append(all, text)
	}
	return all
}
