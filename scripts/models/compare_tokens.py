"""Compares internal/tokenize with Hugging Face `tokenizers` on many texts; exits 1 where they differ.

Usage: python compare_tokens.py MODEL_DIR [TEXT_FILE ...]   run in the project's root
Each line of a text file is one text; random texts are added. Needs: tokenizers, the Go tool chain.
"""
import base64
import json
import random
import subprocess
import sys

from tokenizers import Tokenizer

from golden_tokens import HAND, RAW, fuzz

RANDOM_TEXTS = 20_000


def main():
    model, files = sys.argv[1], sys.argv[2:]
    tokenizer = Tokenizer.from_file(model + "/tokenizer.json")
    tokenizer.no_padding()
    tokenizer.no_truncation()
    rng = random.Random(11)
    raws = [t.encode() for t in HAND] + RAW
    for name in files:
        with open(name, "rb") as f:
            raws += [line.rstrip(b"\n") for line in f]
    raws += [fuzz(rng).encode() for _ in range(RANDOM_TEXTS)]
    raws += [rng.randbytes(rng.randint(1, 40)) for _ in range(RANDOM_TEXTS // 10)]
    lines = b"".join(base64.b64encode(raw) + b"\n" for raw in raws)
    ours = subprocess.run(["go", "run", "./scripts/models/tokenids", model], input=lines, stdout=subprocess.PIPE, check=True).stdout.splitlines()
    assert len(ours) == len(raws), (len(ours), len(raws))
    wrong = 0
    for raw, line in zip(raws, ours):
        text = raw.decode("utf-8", "replace")
        got, want = json.loads(line), tokenizer.encode(text).ids
        if got != want:
            wrong += 1
            if wrong <= 10:
                print(f"differs: {text[:80]!r}\n  ours {got[:40]}\n  theirs {want[:40]}")
    print(f"{len(raws)} texts, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
