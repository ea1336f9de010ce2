"""Writes token ids of texts in three languages and the vectors that ONNX Runtime gives them in fp32.

Usage: python golden_encoder.py MODEL.onnx TOKENIZER.json SHARED_DATA GOLDEN.gz
As committed: with all-MiniLM-L6-v2, to internal/encoder/testdata/golden.gz. The texts are slices of 1 to 512 tokens,
special ones included, of English abstracts, Chinese articles and French course notes.
Needs: numpy, onnxruntime, tokenizers.
"""
import gzip
import json
import random
import sys

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

TEXTS, LONGEST = 500, 512


def streams(tokenizer, data):
    """All token ids of each language, one after the other."""
    def corpus(name, some):
        with open(f"{data}/ir/{name}/corpus.jsonl") as f:
            return " ".join(json.loads(line)["text"] for _, line in zip(range(some), f))

    def notes(name):
        with open(f"{data}/qa/course/docs/{name}") as f:
            return f.read()

    texts = [corpus("scifact", 200), corpus("cmrc2018", 100), notes("reglement_evaluation.txt") + notes("probability/tutorials/td_bayes.txt")]
    return [tokenizer.encode(t, add_special_tokens=False).ids for t in texts]


def sequences(tokenizer, data):
    """TEXTS sequences whose lengths are spread from 1 to LONGEST, short ones more often."""
    rng = random.Random(4)
    first, last = tokenizer.encode("").ids
    languages = streams(tokenizer, data)
    for i in range(TEXTS):
        n = 1 + round((LONGEST - 1) * (i / (TEXTS - 1)) ** 3)
        stream = languages[i % len(languages)]
        at = rng.randrange(max(1, len(stream) - n))
        yield ([first] + stream[at:at + max(0, n - 2)] + [last])[:n]


def vector(session, ids):
    ids = np.array([ids], np.int64)
    feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    v = session.run(None, {i.name: feeds[i.name] for i in session.get_inputs()})[0][0].astype(np.float64).mean(0)
    return v / np.linalg.norm(v)


def main():
    model, tokens, data, to = sys.argv[1:]
    tokenizer = Tokenizer.from_file(tokens)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # it would spin where others want the processor
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    raw, count = b"", 0
    for ids in sequences(tokenizer, data):
        v = vector(session, ids)
        raw += np.array([len(ids), *ids], "<u4").tobytes() + v.astype("<f2").tobytes()
        count += len(ids)
    with open(to, "wb") as f:
        f.write(gzip.compress(raw, mtime=0))
    print(f"{TEXTS} texts of {count} tokens")


if __name__ == "__main__":
    main()
