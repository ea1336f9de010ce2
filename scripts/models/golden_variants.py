"""Writes internal/tokenize/testdata/variants.json: tokenizers that differ from two models' in some settings, and what
Hugging Face `tokenizers` makes with them of some texts and pairs.

Usage: python golden_variants.py VOCAB_TXT TOKENIZER_JSON_GZ > internal/tokenize/testdata/variants.json
or, to compare on many texts with compare_tokens.py: python golden_variants.py VOCAB_TXT TOKENIZER_JSON_GZ OUT_DIR
Needs: tokenizers. The files are those of the built-in models, embed/local/model/vocab.txt and
embed/local/multilingual/model/tokenizer.json.gz.
"""
import base64
import gzip
import json
import os
import random
import sys

from tokenizers import Tokenizer

from golden_tokens import HAND, RAW, fuzz, replaced


def bert(**on):
    return {"normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True, **on}}


def metaspace(**on):
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True, **on}


def added(**on):
    return {"id": 30522, "content": "New York", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False, **on}


# A vocabulary that spells in bytes what it has no entry for.
BYTES = [["<unk>", 0], ["▁", -2], ["▁he", -3], ["llo", -3.5], ["l", -5], ["o", -5.25], ["▁▁", -6]] + [[f"<0x{b:02X}>", -9] for b in range(256)]

VARIANTS = [
    ("as published", "wordpiece", {}),
    ("cased", "wordpiece", bert(lowercase=False)),
    ("keeps accents", "wordpiece", bert(strip_accents=False)),
    ("cased without accents", "wordpiece", bert(lowercase=False, strip_accents=True)),
    ("not cleaned", "wordpiece", bert(clean_text=False, handle_chinese_chars=False)),
    ("not cleaned, keeps accents", "wordpiece", bert(clean_text=False, strip_accents=False)),
    ("an added token", "wordpiece", {"added_tokens": [added()]}),
    ("an added token in normalized text", "wordpiece", {"added_tokens": [added(normalized=True, rstrip=True)]}),
    ("BertProcessing", "wordpiece", {"post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}}),
    ("RobertaProcessing", "wordpiece", {"post_processor": {"type": "RobertaProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101], "trim_offsets": True, "add_prefix_space": False}}),
    ("no post-processor", "wordpiece", {"post_processor": None}),
    ("as published", "unigram", {}),
    ("splits at white space", "unigram", {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace()]}}),
    ("no mark before the first word", "unigram", {"pre_tokenizer": metaspace(prepend_scheme="never")}),
    ("one word", "unigram", {"pre_tokenizer": metaspace(split=False)}),
    ("not normalized", "unigram", {"normalizer": None}),
    ("a token that takes the space before", "unigram", {"added_tokens": [added(id=79896, content="<mask>", lstrip=True, special=True)]}),
    ("an added token in normalized text", "unigram", {"added_tokens": [added(id=79897, content="ＭＡＳＫ", normalized=True, lstrip=True)]}),
    ("byte fallback", "unigram", {"added_tokens": [added(id=0, content="<unk>", special=True)], "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": True, "vocab": BYTES}}),
]
TEXTS = ["Hello, World!", "naïve Café ÉCOLE İstanbul ẞ", "合同自双方签字之日起生效。", "안녕하세요 세계", "hello  hello\tllo\nheo x", "new york New York  NEW YORK x",
         "a <mask>b", "mask ＭＡＳＫ MASK", " ▁ lead", "trail ", "", "q\u0307\u0323\u0301 e\u0301", "\x00\u200b\ufffd\u00ad", "[SEP] <s>", "Ὀδυσσεύς ΑΣΦΑΛΕΣ", "🇫🇷 👍🏽 ❤️"]
PAIRS = [("what is it", "it is what it is, and so on and on", 0), ("what is it", "it is what it is, and so on and on", 12), ("问题", "", 0), ("", "only", 8)]


def bases(vocabulary, unigram):
    with open(vocabulary) as f:
        words = f.read().splitlines()
    special = {w: i for i, w in enumerate(words) if w in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")}
    a, b = ({"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}})

    def token(name, kind=0):
        return {"SpecialToken": {"id": name, "type_id": kind}}
    wordpiece = {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{**added(id=i, content=w), "special": True} for w, i in special.items()],
        **bert(),
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [token("[CLS]"), a, token("[SEP]")],
            "pair": [token("[CLS]"), a, token("[SEP]"), b, token("[SEP]", 1)],
            "special_tokens": {w: {"id": w, "ids": [special[w]], "tokens": [w]} for w in ("[CLS]", "[SEP]")}},
        "decoder": None,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                  "vocab": {w: i for i, w in enumerate(words)}}}
    with gzip.open(unigram) as f:
        return {"wordpiece": wordpiece, "unigram": json.load(f)}


def case(tokenizer, first, second, limit):
    tokenizer.no_truncation()
    if limit:
        tokenizer.enable_truncation(limit, strategy="only_second")
    made = tokenizer.encode(replaced(first)) if second is None else tokenizer.encode(replaced(first), replaced(second))
    out = {"text": base64.b64encode(first).decode(), "ids": made.ids, "types": made.type_ids}
    if second is not None:
        out.update(pair=base64.b64encode(second).decode(), limit=limit)
    return out


def main():
    base = bases(sys.argv[1], sys.argv[2])
    for kind in base:
        base[kind]["decoder"] = None
    rng = random.Random(5)
    out = []
    for name, kind, patch in VARIANTS:
        whole = {**base[kind], **patch}
        if len(sys.argv) > 3:
            folder = os.path.join(sys.argv[3], f"{kind} {name}".replace(" ", "-"))
            os.makedirs(folder, exist_ok=True)
            with open(folder + "/tokenizer.json", "w") as f:
                json.dump(whole, f)
            continue
        tokenizer = Tokenizer.from_str(json.dumps(whole))
        singles = TEXTS + [fuzz(rng) for _ in range(4)]
        if not patch:
            singles = HAND
        raws = [t.encode() for t in singles] + RAW
        tokenizer.no_truncation()
        cases = [case(tokenizer, raw, None, 0) for raw in raws]
        fits = [(a, b, n) for a, b, n in PAIRS if not n or len(tokenizer.encode(a, "").ids) < n]  # others it refuses
        cases += [case(tokenizer, a.encode(), b.encode(), n) for a, b, n in fits]
        out.append({"name": name, "base": kind, "patch": patch, "cases": cases})
    if out:
        print("[")
        print(",\n".join(
            '{"name": %s, "base": "%s", "patch": %s, "cases": [\n  %s\n]}' % (
                json.dumps(v["name"]), v["base"], json.dumps(v["patch"], ensure_ascii=False), ",\n  ".join(json.dumps(c) for c in v["cases"]))
            for v in out))
        print("]")


if __name__ == "__main__":
    main()
