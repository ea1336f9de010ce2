package loader

// Names of the older encodings that are told by the structure of their bytes.
const (
	encShiftJIS    = "shift_jis"
	encEUCJP       = "euc-jp"
	encEUCKR       = "euc-kr"
	encBig5        = "big5"
	encWindows1251 = "windows-1251"
	encKOI8R       = "koi8-r"
)

// pairCounts says in which rows the byte pairs of a text lie. A row is named by its first byte.
type pairCounts struct {
	pairs, malformed int
	kana             int // rows of kana in EUC-JP
	hangul           int // rows of Hangul in EUC-KR
	frequent         int // rows of the frequent ideographs in Big5
}

// countPairs reads high bytes as the first of a pair whose second is a high byte, or one from 0x40 on if low says so.
func countPairs(data []byte, low bool) pairCounts {
	var n pairCounts
	for i := 0; i < len(data); i++ {
		lead := data[i]
		if lead < 0x80 {
			continue
		}
		if i+1 == len(data) {
			break // cut in the middle of a character
		}
		trail := data[i+1]
		if lead < 0xA1 || lead == 0xFF || trail < 0xA1 && (!low || trail < 0x40 || trail >= 0x7F) || trail == 0xFF {
			n.malformed++
			continue
		}
		i++
		n.pairs++
		switch {
		case lead == 0xA4 || lead == 0xA5:
			n.kana++
		case lead >= 0xB0 && lead <= 0xC8:
			n.hangul++
		}
		if lead >= 0xA4 && lead <= 0xC6 || lead == 0xA1 {
			n.frequent++
		}
	}
	return n
}

// guessEastAsian names one of the older encodings of Japanese, Korean and traditional Chinese, "" if the bytes are in
// none. Japanese has kana in every other character, which lie in rows of their own; nearly all Korean text lies in the 25
// rows of Hangul, and nearly all Chinese text in Big5 in the rows of its frequent ideographs.
func guessEastAsian(data []byte) string {
	if looksShiftJIS(data) {
		return encShiftJIS
	}
	n := countPairs(data, false)
	switch {
	case n.pairs == 0 || 50*n.malformed > n.pairs:
	case 4*n.kana >= n.pairs:
		return encEUCJP
	case 10*n.hangul >= 9*n.pairs:
		return encEUCKR
	}
	n = countPairs(data, true)
	if n.pairs > 0 && 50*n.malformed <= n.pairs && 20*n.frequent >= 19*n.pairs {
		return encBig5
	}
	return ""
}

// looksShiftJIS reports whether high bytes come in the pairs of Shift JIS, of which at least a quarter are hiragana
// (0x82 and a byte from 0x9F on) or katakana (0x83 and one below 0x97), or nearly all, as in a list of names, begin with
// 0x81 to 0x9F: there the other encodings have rare characters or none. Bytes 0xA1 to 0xDF are half-width katakana by
// themselves.
func looksShiftJIS(data []byte) bool {
	pairs, kana, low, malformed := 0, 0, 0, 0
	for i := 0; i < len(data); i++ {
		lead := data[i]
		if lead < 0x80 || lead >= 0xA1 && lead <= 0xDF {
			continue
		}
		if i+1 == len(data) {
			break
		}
		trail := data[i+1]
		if lead == 0x80 || lead == 0xA0 || lead > 0xFC || trail < 0x40 || trail == 0x7F || trail > 0xFC {
			malformed++
			continue
		}
		i++
		pairs++
		if lead == 0x82 && trail >= 0x9F && trail <= 0xF1 || lead == 0x83 && trail >= 0x40 && trail <= 0x96 {
			kana++
		}
		if lead <= 0x9F {
			low++
		}
	}
	const enough = 4 // pairs
	return 50*malformed <= pairs && (pairs > 0 && 4*kana >= pairs || pairs >= enough && 10*low >= 9*pairs)
}

// guessCyrillic names the encoding of text whose letters are mostly high bytes, "" if it is not Cyrillic. In
// Windows-1251 capitals are 0xC0 to 0xDF and small letters 0xE0 to 0xFF; in KOI8-R it is the other way round. Words are
// small but for the first letter, and some begin with a capital: that tells them from Greek, whose accented letters lie
// among the capitals, and from Hebrew, which has none.
func guessCyrillic(data []byte) string {
	letters, others := 0, 0
	var count [2]struct{ capitals, small, inner, names int } // read as Windows-1251, as KOI8-R
	var before byte                                          // 0 at the beginning of a word
	for _, c := range data {
		if c < 0xC0 {
			if c >= 0x80 {
				others++
			}
			before = 0
			continue
		}
		letters++
		for i := range count {
			n := &count[i]
			isSmall := c >= 0xE0 == (i == 0)
			wasSmall := before >= 0xE0 == (i == 0)
			switch {
			case !isSmall && before != 0 && wasSmall:
				n.inner++
			case isSmall && before != 0 && !wasSmall:
				n.names++
			}
			if isSmall {
				n.small++
			} else {
				n.capitals++
			}
		}
		before = c
	}
	if letters < 10 || 5*others > letters {
		return ""
	}
	for i, name := range []string{encWindows1251, encKOI8R} {
		if n := count[i]; n.small > 5*n.capitals && n.names > 0 && 50*n.inner <= letters {
			return name
		}
	}
	return ""
}
