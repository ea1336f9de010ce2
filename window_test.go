package rag

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestBestWindow(t *testing.T) {
	filler := strings.Repeat("Nothing to see in this plain sentence. ", 60)
	needle := "The warranty of the battery ends after three years."
	for _, c := range []struct {
		name, text, query, want string
	}{
		{"short text is whole", needle, "battery", needle},
		{"in the middle", filler + needle + " " + filler, "how long is the battery warranty", needle},
		{"at the end", filler + needle, "battery warranty", needle},
		{"no term: the beginning", filler, "zebra", "Nothing to see"},
		{"rare terms before frequent ones", strings.Repeat("the the the plain. ", 100) + needle + filler, "the battery", needle},
		{"endings do not matter", filler + needle + filler, "batteries", needle},
		{"without blanks", strings.Repeat("这里没有什么可看的", 80) + "电池可以用十个小时" + strings.Repeat("这里没有什么可看的", 80), "电池", "电池可以用"},
	} {
		const room = 60
		got := bestWindow(c.text, c.query, room, wordEstimate{})
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q in it", c.name, got, c.want)
		}
		if n := (wordEstimate{}).CountTokens(got); n > room || !strings.Contains(c.text, got) {
			t.Errorf("%s: window of %d tokens, room for %d", c.name, n, room)
		}
	}
}

func FuzzBestWindow(f *testing.F) {
	f.Add("a battery and a bird", "battery", 3)
	f.Add(strings.Repeat("电池 test\xff ", 30), "池", 5)
	f.Fuzz(func(t *testing.T, text, query string, room int) {
		if room < 1 || room > 1000 {
			return
		}
		got := bestWindow(text, query, room, wordEstimate{})
		if !strings.Contains(text, got) {
			t.Errorf("%q is no part of the text", got)
		}
		if n := (wordEstimate{}).CountTokens(got); n > room {
			t.Errorf("%d tokens, room for %d", n, room)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q cuts a character", got)
		}
	})
}

func TestScoreCacheForgetsTheOldest(t *testing.T) {
	var c scoreCache
	key := func(i int) [32]byte { return scoreKey("m", "q", strings.Repeat("x", i)) }
	for i := range rememberedScores + 1 {
		c.put([32]byte{byte(i), byte(i >> 8), byte(i >> 16)}, float64(i))
		if _, ok := c.get([32]byte{}); !ok && i < rememberedScores/2 {
			t.Fatal("forgot a score while there was room")
		}
	}
	c.put(key(1), 7)
	if x, ok := c.get(key(1)); !ok || x != 7 {
		t.Errorf("got %v, %v", x, ok)
	}
	if n := len(c.younger) + len(c.older); n > rememberedScores {
		t.Errorf("%d scores are remembered", n)
	}
	if scoreKey("m", "q", "t") == scoreKey("m", "qt", "") {
		t.Error("two pairs have one key")
	}
}

func TestScoreCacheKeepsWhatIsAskedFor(t *testing.T) {
	var c scoreCache
	key := func(i int) [32]byte { return [32]byte{byte(i), byte(i >> 8), byte(i >> 16)} }
	const half = rememberedScores / 2
	for i := range half {
		c.put(key(i), float64(i))
	}
	if len(c.younger) != half || len(c.older) != 0 {
		t.Fatalf("%d and %d scores, want one full half", len(c.younger), len(c.older))
	}
	c.put(key(half), half)
	if len(c.younger) != 1 || len(c.older) != half {
		t.Fatalf("%d and %d scores, want the full half set aside", len(c.younger), len(c.older))
	}
	if _, ok := c.get(key(1 << 20)); ok || len(c.younger) != 1 {
		t.Errorf("a score that was never put: found %v, %d scores in the younger half, want 1", ok, len(c.younger))
	}
	if x, ok := c.get(key(7)); !ok || x != 7 || len(c.younger) != 2 {
		t.Errorf("of the older half: got %v, %v, want 7; %d scores in the younger half, want 2", x, ok, len(c.younger))
	}
}
