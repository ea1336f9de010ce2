"""Writes internal/encoder/testdata/cross-encoder: a small cross-encoder with random weights, cut to a few words, and the
logits that ONNX Runtime gives pairs of every length.

Usage: python golden_cross_encoder.py MODEL.onnx internal/encoder/testdata/cross-encoder
The ids of a pair follow from its length, see ids(); the test makes the same. Needs: numpy, onnx, onnxruntime, safetensors.
"""
import sys

import numpy as np
import onnxruntime

from onnx_weights import tensors, write

WORDS, HEADS, SHORTEST = 256, 4, 3
WORD_TABLE = "embeddings.word_embeddings.weight"


def ids(n):
    """The ids and types of the pair of n tokens."""
    at = np.arange(n)
    return (n * 37 + at * 101) % WORDS, (at >= 1 + n // 3).astype(int)


def main():
    path, folder = sys.argv[1:]
    found, layers = tensors(path)
    step = len(found[WORD_TABLE]) // WORDS  # words from the whole vocabulary
    kept = np.arange(WORDS) * step
    positions = len(found["embeddings.position_embeddings.weight"])
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    logits = []
    for n in range(SHORTEST, positions + 1):
        words, types = ids(n)
        logits += session.run(None, {
            "input_ids": kept[words][None], "token_type_ids": types[None], "attention_mask": np.ones((1, n), np.int64)})[0].ravel().tolist()
    found[WORD_TABLE] = found[WORD_TABLE][kept]
    write(found, layers, HEADS, folder, "BertForSequenceClassification")
    np.array(logits, "<f4").tofile(folder + "/logits.f32")
    print(f"{len(logits)} pairs, logits {min(logits):.3f} to {max(logits):.3f}")


if __name__ == "__main__":
    main()
