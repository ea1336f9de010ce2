"""Writes internal/tokenize/testdata/golden.json: tricky texts and the ids Hugging Face `tokenizers` gives them.

Usage: python golden_tokens.py MODEL_DIR > internal/tokenize/testdata/golden.json   (MODEL_DIR holds tokenizer.json)
Needs: tokenizers. Texts are base64, since some are not UTF-8; "limit" is 0 where nothing is cut.
"""
import base64
import json
import random
import sys

from tokenizers import Tokenizer

HAND = [
    "", " ", "\n\t\r", "a", "Hello, World!", "don't", "U.S.A.", "e-mail@example.com", "https://example.com/a?b=c#d",
    "naïve café résumé Ångström", "cafe\u0301 e\u0301\u0302\u0323", "ÀÉÎÕÜ àéîõü ÿ Ÿ", "Œuvre œuf Æsir æther", "straße STRASSE ẞ",
    "İstanbul ISPARTA ısparta", "ΑΣΦΑΛΕΣ Ὀδυσσεύς ςΣσ", "Привет, мир! Ёлка Йод", "ąćęłńóśźż ĄĆĘŁŃÓŚŹŻ", "Việt Nam tiếng Việt", "đĐðÐþÞ",
    "合同自双方签字之日起生效。", "漢字とひらがなカタカナ", "ガギグゲゴ がぎぐげご パピプペポ", "ｶﾞｷﾞ ＡＢＣ１２３", "안녕하세요 세계", "한글\u1112\u1161\u11ab",
    "𠀀𠀁 𪜀 𫝀 𫠠 㐀 豈 丽", "﨎﨏﨑", "العربية مرحبا", "שלום עולם שָׁלוֹם", "हिन्दी नमस्ते", "ไทย สวัสดี", "ქართული ᲥᲐᲠᲗᲣᲚᲘ", "தமிழ் తెలుగు",
    "😀 😃👍🏽 👨‍👩‍👧‍👦 🇫🇷", "❤️ ☺︎ ✈", "a\u200bb zero\u200bwidth", "soft\u00adhyphen", "\ufeffbom first", "a\u200db\u200cc", "\u202eright\u202c to left",
    "\u2066isolate\u2069", "nul\x00byte", "bell\x07 esc\x1b[31m del\x7f", "\x80\x85\x9f c1", "line\u2028sep\u2029par", "nbsp\u00a0thin\u2009em\u2003ideographic\u3000",
    "ogham\u1680space", "mongolian\u180evowel", "replacement \ufffd char", "private \ue000 use \U000f0000", "noncharacter \ufffe \uffff \U0010ffff",
    "unassigned \u0378 \U0001fbff", "tag \U000e0041\U000e007f", "variation \ufe0f\U000e0100",
    "[SEP]", "[CLS] hi [SEP]", "[MASK] fill", "x[MASK]y", "[PAD][UNK]", "[sep] [Sep]", "[[SEP]]", "[SE P]", "[ SEP ]", "[SE\u200bP]", "[SEP", "SEP]", "[MASK", "[[[[",
    "[unused1] [unused99]", "##ing ## #", "the ##s", "é[SEP]é", "[SEP]\u0301", "[CLS][CLS]\u4e2d[SEP]",
    "a" * 99, "a" * 100, "a" * 101, "é" * 100, "é" * 101, "e\u0301" * 100, "e\u0301" * 101, "Ａ" * 101, "x" * 1000, "中" * 130, "ab" * 60 + " tail",
    "antidisestablishmentarianism", "pneumonoultramicroscopicsilicovolcanoconiosis", "supercalifragilisticexpialidocious", "zzzzqqqq", "xylophonically",
    "1234567890 3.14159 1,000,000 -42 +7 10^9", "½ ¼ ² ³ ¹ ₂ ⁿ №", "€ $ £ ¥ ¢ ₩ ₹ ₿", "© ® ™ § ¶ † ‡ •", "“quotes” ‘single’ «guillemets» „low‟", "– — ― ‐ ‑ − ~ ∼",
    "… ‥ · • ‧", "!@#$%^&*()_+-={}[]|\\:;\"'<>,.?/`~", "¡Hola! ¿Qué?", "。、，；：？！（）【】《》", "｡｢｣､･ﾟ", "؟ ، ؛ ٪", "।॥", "\u037e \u0387 \u1fef", "\u0375 \u055a \u05be",
    "ﬁ ﬂ ﬃ ﬆ", "Å K Ω", "ℌ ℝ ℵ", "Ⅳ ⅳ Ⓐ ⓐ", "ǅ ǆ Ǆ ǈ", "ŉ ǰ ΐ ΰ", "ᾳ ᾼ ῼ", "\u0344 \u0340 \u0341 \u0374", "\u0f73 \u0f75 \u0f81", "\u2adc \ufb1d \ufb4b",
    "a\u0323\u0307 a\u0307\u0323", "\u0301leading mark", "q\u0307\u0323\u0301" + "\u0301" * 40 + "z", "\u302a\u302e \u3099か", "𝐁𝐨𝐥𝐝 𝔉𝔯𝔞𝔨", "𐐀𐐨 𞤀𞤢 Ꭰꭰ", "\ua7cb\ua7dc \U00010d50",
    "\u1e9e\u212b\u2126", "ſ ẛ", "ЀЍѐѝ Її", "ñ Ñ n\u0303", "\u0b55\u0c3c\u1abf", "\u20dd\u0488 enclosing", "१२३ ٣ ೪", "  many   spaces  ", "tab\tnew\nline\r\nend",
    "function foo(bar) { return bar[0] + 1; }", "SELECT * FROM t WHERE a='b';", "C:\\Windows\\System32", "a_b_c snake_case camelCase", "2024-01-31T23:59:59Z",
    "日本語English混在テキスト", "price:100元/件", "Ça va? Où êtes-vous? L'été, c'est déjà fini.", "Größe: 5 µm ± 0,3 µm", "H₂O CO₂ x² aᵢ", "\u1160\u115f\uffa0 fillers", "\u3164",
]
RAW = [b"bad \xff\xfe bytes", b"\xc3", b"trunc \xe4\xb8", b"\xed\xa0\x80 surrogate", b"[SE\xffP]", b"ok\xc0\xaf", b"\xf4\x90\x80\x80x", b"caf\xe9 latin1"]
BLOCKS = [(0, 0x7f), (0x80, 0x24f), (0x250, 0x36f), (0x370, 0x5ff), (0x600, 0x9ff), (0x1e00, 0x20cf), (0x2000, 0x206f),
          (0x2190, 0x2bff), (0x3000, 0x30ff), (0x4e00, 0x9fff), (0xac00, 0xd7a3), (0xf900, 0xffff), (0x10000, 0x1ffff), (0x20000, 0x2fa1f)]


def fuzz(rng):
    """One random text: pieces of random blocks, words, special tokens and spaces."""
    out = []
    for _ in range(rng.randint(1, 12)):
        kind = rng.randrange(5)
        if kind == 0:
            out.append(rng.choice(["the", "Contract", "unhappiness", " ", "\n", ".", "[SEP]", "[MASK]", "<s>", "<mask>", "▁", "#", "\u0301", "\u200b"]))
        elif kind == 1:
            out.append("".join(chr(rng.randint(0x61, 0x7a)) for _ in range(rng.randint(1, 12))))
        else:
            lo, hi = rng.choice(BLOCKS)
            points = (rng.randint(lo, hi) for _ in range(rng.randint(1, 6)))
            out.append("".join(chr(p) for p in points if not 0xd800 <= p < 0xe000))
    return "".join(out)


def replaced(raw):
    """The text of raw bytes, each that is not UTF-8 replaced by U+FFFD."""
    return "".join("\ufffd" if 0xdc80 <= ord(c) < 0xdd00 else c for c in raw.decode("utf-8", "surrogateescape"))


def main():
    tokenizer = Tokenizer.from_file(sys.argv[1] + "/tokenizer.json")
    tokenizer.no_padding()
    rng = random.Random(7)
    texts = [(t.encode(), 0) for t in HAND] + [(b, 0) for b in RAW] + [(fuzz(rng).encode(), 0) for _ in range(30)]
    texts += [(b"one two three four five six seven eight nine ten", n) for n in (2, 3, 5, 11, 12, 13)]
    texts += [(("word [SEP] " * 40).encode(), 16), (("unhappiness" * 30).encode(), 20), (("a" * 101 + " b").encode(), 4)]
    cases = []
    for raw, limit in texts:
        tokenizer.no_truncation()
        if limit:
            tokenizer.enable_truncation(limit)
        ids = tokenizer.encode(raw.decode("utf-8", "replace")).ids
        cases.append('  {"text": %s, "limit": %d, "ids": %s}' % (json.dumps(base64.b64encode(raw).decode()), limit, json.dumps(ids)))
    print("[\n" + ",\n".join(cases) + "\n]")


if __name__ == "__main__":
    main()
