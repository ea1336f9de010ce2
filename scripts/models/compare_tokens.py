"""Compares internal/tokenize with Hugging Face `tokenizers` on many texts; exits 1 where ids differ.

Usage: python compare_tokens.py MODEL_DIR [FILE ...]   run in the project's root
Each line of a file is one text, and a line of JSON is each string in it. Random texts are added, and pairs of all of
them. Needs: tokenizers, the Go tool chain.

Places are compared too: a token's bytes here must hold those that `tokenizers` names, which leaves out combining marks
that were joined with a letter, and the spaces of a run but one. A mark of its own before a word is empty here, there it
is the first character after it.
"""
import base64
import json
import random
import subprocess
import sys

from tokenizers import Tokenizer

from golden_tokens import HAND, RAW, fuzz, replaced

RANDOM_TEXTS = 40_000
RANDOM_BYTES = 4_000
PAIRS = 10_000
LONGEST_LINE = 4_000


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for v in value.values():
            yield from strings(v)
    elif isinstance(value, list):
        for v in value:
            yield from strings(v)


def lines(names):
    for name in names:
        with open(name, "rb") as f:
            for line in f:
                line = line.rstrip(b"\r\n")[: 16 * LONGEST_LINE]
                if line[:1] in b"{[" and name.endswith(".jsonl"):
                    for text in strings(json.loads(line)):
                        yield text.encode()[:LONGEST_LINE]
                elif line:
                    yield line[:LONGEST_LINE]


def run(model, requests):
    coded = [{k: base64.b64encode(v).decode() if isinstance(v, bytes) else v for k, v in r.items()} for r in requests]
    fed = "".join(json.dumps(r) + "\n" for r in coded).encode()
    out = subprocess.run(["go", "run", "./scripts/models/tokenids", model], input=fed, stdout=subprocess.PIPE, check=True).stdout
    answers = [json.loads(line) for line in out.splitlines()]
    assert len(answers) == len(requests), (len(answers), len(requests))
    return answers


def byte_spans(text, offsets):
    at = [0]
    for c in text:
        at.append(at[-1] + len(c.encode()))
    return [[at[a], at[b]] for a, b in offsets]


class Report:
    def __init__(self, shown=10):
        self.wrong, self.shown = 0, shown

    def add(self, what, text, ours, theirs):
        self.wrong += 1
        if self.wrong <= self.shown:
            print(f"{what} differ: {text[:80]!r}\n  ours   {ours[:40]}\n  theirs {theirs[:40]}")


def singles(tokenizer, model, raws):
    ids, places, exact, tokens = Report(), Report(), 0, 0
    for raw, got in zip(raws, run(model, [{"text": r} for r in raws])):
        text = replaced(raw)
        want = tokenizer.encode(text)
        if got["ids"] != want.ids:
            ids.add("ids", text, got["ids"], want.ids)
            continue
        if text.encode() != raw:  # places are those of other bytes
            continue
        spans = [s for s, special in zip(byte_spans(text, want.offsets), want.special_tokens_mask) if not special or s[0] < s[1]]
        ours = got.get("spans") or []
        for a, b in zip(ours, spans):
            tokens += 1
            exact += a == b
            if not (a[0] <= b[0] and b[1] <= a[1]) and a != [b[0], b[0]]:
                places.add("places", text, ours, spans)
                break
    print(f"{len(raws)} texts: ids of {ids.wrong} differ; of {tokens} tokens {exact} stand at the same bytes, in {places.wrong} texts outside")
    return ids.wrong


def pairs(tokenizer, model, raws, rng):
    report, requests = Report(), []
    for _ in range(PAIRS):
        requests.append({"text": rng.choice(raws)[:200], "pair": rng.choice(raws), "limit": rng.choice([0, 0, 64, 128, 256])})
    for r, got in zip(requests, run(model, requests)):
        tokenizer.no_truncation()
        first, second = replaced(r["text"]), replaced(r["pair"])
        want = tokenizer.encode(first, second)
        if r["limit"] and len(want.ids) > r["limit"]:
            if len(tokenizer.encode(first, "").ids) >= r["limit"]:
                continue  # `tokenizers` refuses: nothing of the second text would be left
            tokenizer.enable_truncation(r["limit"], strategy="only_second")
            want = tokenizer.encode(first, second)
        if got["ids"] != want.ids or got["types"] != want.type_ids:
            report.add("pairs", first + " | " + second, got["ids"], want.ids)
    print(f"{len(requests)} pairs, {report.wrong} differ")
    return report.wrong


def main():
    model, files = sys.argv[1], sys.argv[2:]
    tokenizer = Tokenizer.from_file(model + "/tokenizer.json")
    tokenizer.no_padding()
    tokenizer.no_truncation()
    rng = random.Random(11)
    raws = [t.encode() for t in HAND] + RAW + list(dict.fromkeys(lines(files)))
    raws += [fuzz(rng).encode() for _ in range(RANDOM_TEXTS)]
    raws += [rng.randbytes(rng.randint(1, 40)) for _ in range(RANDOM_BYTES)]
    wrong = singles(tokenizer, model, raws) + pairs(tokenizer, model, raws, rng)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
