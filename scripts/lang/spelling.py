"""Writes internal/lang/ngrams.txt: how much a run of two to four letters speaks for a language against English.

Usage: python spelling.py PACKAGES GOROOT NUMPY ngrams.txt
PACKAGES is a folder with the unpacked wheels of those named below and of faker, each in a folder of its name: the
translations of their messages (BSD and MIT) are the texts of the other languages, faker's names of people
and places (MIT) are taken for English, since a name is in no language. English are also the messages themselves, and
the comments of the Go library and of numpy (BSD). Softmax regression over random pieces of one to five words, some with
their accents taken off; then the 5,000 runs that matter most, fitted again, in quarters. Needs: numpy.
"""
import collections
import glob
import gettext
import json
import os
import random
import re
import sys
import unicodedata

import numpy as np

LANGUAGES = ["en", "fr", "de", "es", "pt", "it", "nl"]
FOLDERS = {"fr": ["fr", "fr_FR"], "de": ["de", "de_DE"], "es": ["es", "es_ES"], "pt": ["pt_BR", "pt", "pt_PT"], "it": ["it", "it_IT"], "nl": ["nl", "nl_NL"]}
PACKAGES = ["django", "wagtail", "django_oscar", "indico", "sphinx"]
REGIONS = ["en_US", "en_GB", "de_DE", "fr_FR", "es_ES", "es_MX", "it_IT", "pt_BR", "pt_PT", "nl_NL"]
WORD_LISTS = {"en": "en_US", "fr": "fr_FR", "de": "de_DE", "es": "es_ES", "pt": "pt_BR", "nl": "nl_BE"}
PIECES = 60_000  # of each language, three times as many of English
RUNS = 5_000
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
UNIT = 4  # steps of a weight


def words(text):
    return re.findall(r"[^\W_]+", text)


def clean(text):
    """A message without its placeholders and markup."""
    text = re.sub(r"%\(\w+\)[a-z]|%[a-z]|\{[^}]*\}|<[^>]*>|&\w+;|https?://\S+|`[^`]*`|:\w+:", " ", text)
    return " ".join(re.sub(r"[_*|]", " ", text).split())


def messages(path):
    """Pairs of a message and its translation in a compiled (.mo) or plain (.po) catalogue."""
    if path.endswith(".mo"):
        with open(path, "rb") as f:
            catalog = gettext.GNUTranslations(f)._catalog
        yield from ((k[0] if isinstance(k, tuple) else k, v) for k, v in catalog.items() if isinstance(v, str))
        return
    with open(path, encoding="utf8") as f:
        entries = f.read().split("\n\n")
    for entry in entries:
        if "#~" in entry or "fuzzy" in entry:
            continue
        parts = []
        for key in ("msgid ", r"msgstr(?:\[0\])? "):
            found = re.search("^" + key + r'((?:\s*"(?:[^"\\]|\\.)*"\n?)+)', entry, re.M)
            strings = re.findall(r'"((?:[^"\\]|\\.)*)"', found[1]) if found else []
            try:
                parts.append("".join(json.loads('"' + s.replace("\t", "\\t") + '"') for s in strings))
            except json.JSONDecodeError:
                parts.append("")
        yield tuple(parts)


def translations(folder):
    out = {lang: set() for lang in LANGUAGES}
    for package in PACKAGES:
        for lang, codes in FOLDERS.items():
            for code in codes:
                pattern = f"{folder}/{package}/**/{code}/LC_MESSAGES/*."
                for path in glob.glob(pattern + "po", recursive=True) or glob.glob(pattern + "mo", recursive=True):
                    for english, other in messages(path):
                        english, other = clean(english), clean(other)
                        if re.search("[a-zA-Z]{3}", other) and other.lower() != english.lower():
                            out[lang].add(other)
                            out["en"].add(english)
    return {lang: sorted(texts) for lang, texts in out.items()}


def comments(goroot, numpy):
    go, doc = [], []
    for path in sorted(filter(os.path.isfile, glob.glob(goroot + "/src/**/*.go", recursive=True))):
        with open(path, encoding="utf8", errors="ignore") as f:
            go += [line.strip()[3:] for line in f if line.strip().startswith("// ") and len(line) > 30]
    for path in sorted(glob.glob(numpy + "/**/*.py", recursive=True)):
        with open(path, encoding="utf8", errors="ignore") as f:
            for text in re.findall(r'"""(.*?)"""', f.read(), re.S):
                doc += [line.strip() for line in text.splitlines() if len(line.strip()) > 30 and ">>>" not in line]
    random.shuffle(go)
    random.shuffle(doc)
    return go[:60_000] + doc[:20_000]


def quoted(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf8") as f:
        return re.findall(r'"([^"\n]{3,40})"', f.read())


def bare(text):
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c)).replace("ß", "ss")


class Texts:
    def __init__(self, folder, goroot, numpy):
        self.sentences = translations(folder)
        self.sentences["en"] += comments(goroot, numpy)
        providers = folder + "/faker/faker/providers/"
        self.names = sorted({
            s for p in ("person", "address") for r in REGIONS for s in quoted(f"{providers}{p}/{r}/__init__.py")
            if s[0].isupper() and "{" not in s and "/" not in s and len(s) <= 30
        })
        self.lists = {lang: [s for p in ("lorem", "job") for s in quoted(f"{providers}{p}/{r}/__init__.py")] for lang, r in WORD_LISTS.items()}

    def piece(self, lang):
        """A random piece of one to five words, in lower case."""
        r = random.random()
        if lang == "en" and r < 0.12:
            name = random.choice(self.names).lower()
            return name if random.random() < 0.7 else name + " " + self.piece("en")
        if self.lists.get(lang) and r < 0.2:
            return random.choice(self.lists[lang]).lower()
        w = words(random.choice(self.sentences[lang]))
        if not w:
            return self.piece(lang)
        n = random.choice([1, 1, 2, 2, 3, 3, 4, 5])
        i = random.randrange(max(1, len(w) - n + 1))
        text = " ".join(w[i:i + n]).lower()
        return bare(text) if lang != "en" and random.random() < 0.25 else text


def runs(text):
    out = []
    for w in text.split():
        w = "^" + w + "$"
        out += [w[i:i + n] for n in (2, 3, 4) for i in range(len(w) - n + 1)]
    return out


def fit(pieces, features, weights, decay, epochs=3):
    """Softmax regression by AdaGrad; a text counts by the root of its number of runs."""
    index = {f: i for i, f in enumerate(features)}
    rows = []
    for lang, text in pieces:
        r = runs(text)
        rows.append((np.array([index[x] for x in r if x in index], dtype=np.int32), np.sqrt(len(r)), lang))
    squares = np.full(weights.shape, 1e-2)
    for _ in range(epochs):
        for i in np.random.permutation(len(rows)):
            x, root, lang = rows[i]
            if len(x) == 0:
                continue
            z = weights[x].sum(0) / root
            p = np.exp(z - z.max())
            p /= p.sum()
            p[lang] -= 1
            step = p / root + decay * weights[x]
            np.add.at(squares, x, step * step)
            np.add.at(weights, x, -0.2 * step / np.sqrt(squares[x]))
    return weights


def main():
    folder, goroot, numpy, target = sys.argv[1:]
    random.seed(1)
    np.random.seed(1)
    texts = Texts(folder, goroot, numpy)
    pieces = [(n, texts.piece(lang)) for n, lang in enumerate(LANGUAGES) for _ in range(PIECES * (3 if lang == "en" else 1))]
    random.shuffle(pieces)
    counts = collections.Counter(r for _, text in pieces for r in set(runs(text)))
    features = sorted(r for r, c in counts.items() if c >= 40)
    weights = fit(pieces, features, np.zeros((len(features), len(LANGUAGES))), 0)
    weights -= weights.mean(1, keepdims=True)
    matter = np.abs(weights).max(1) * np.array([counts[f] for f in features]) ** 0.35
    keep = sorted(np.argsort(-matter)[:RUNS])
    features, weights = [features[i] for i in keep], fit(pieces, [features[i] for i in keep], weights[keep], 2e-5)
    weights -= weights[:, [0]]  # English is zero
    zero = len(LETTERS) // 2
    steps = np.clip(np.rint(weights[:, 1:] * UNIT), -zero, zero - 1).astype(int)
    with open(target, "w", encoding="utf8") as f:
        for run, w in zip(features, steps):
            f.write(run + " " + "".join(LETTERS[x + zero] for x in w) + "\n")


if __name__ == "__main__":
    main()
