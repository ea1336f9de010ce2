"""Writes the weights of an ONNX model as model.safetensors and config.json by the names of Hugging Face transformers.

Usage: python onnx_weights.py MODEL.onnx TO_DIR
Knows the two graphs that were written by hand for tests: the cross-encoder with random weights, and multilingual-e5-small
out of its four-bit form; their initialisers have short names. Needs: numpy, onnx, safetensors.
"""
import json
import sys

import numpy as np
import onnx
from onnx import numpy_helper
from safetensors.numpy import save_file

# Of the parts of a layer, in the two graphs.
DENSE = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
    "o": "attention.output.dense", "ao": "attention.output.dense",
    "f": "intermediate.dense", "fi": "intermediate.dense", "g": "output.dense", "fo": "output.dense",
}
NORM = {
    "a": "attention.output.LayerNorm", "aln": "attention.output.LayerNorm",
    "n": "output.LayerNorm", "oln": "output.LayerNorm",
}
TABLES = {"we": "word", "word": "word", "pe": "position", "pos": "position", "te": "token_type", "type": "token_type"}


def tensors(path):
    """The weights of the graph by their names in transformers."""
    out = {}
    graph = {i.name: numpy_helper.to_array(i) for i in onnx.load(path).graph.initializer}

    def dense(name, to):
        weight = graph[name] if name in graph else graph[name + "w"]
        bias = graph[name + ".b"] if name + ".b" in graph else graph[name + "b"]
        out[to + ".weight"], out[to + ".bias"] = weight.T, bias

    def norm(name, to):
        dot = "." if name + ".w" in graph else ""
        out[to + ".weight"], out[to + ".bias"] = graph[name + dot + "w"], graph[name + dot + "b"]

    for name, to in TABLES.items():
        if name in graph:
            out[f"embeddings.{to}_embeddings.weight"] = graph[name]
    norm("eln" if "eln.w" in graph else "e", "embeddings.LayerNorm")
    layers = 0
    while f"l{layers}.q" in graph or f"l{layers}qw" in graph:
        dot = "." if f"l{layers}.q" in graph else ""
        for short, to in DENSE.items():
            if f"l{layers}{dot}{short}" + ("" if dot else "w") in graph:
                dense(f"l{layers}{dot}{short}", f"encoder.layer.{layers}.{to}")
        for short, to in NORM.items():
            if f"l{layers}{dot}{short}{dot}w" in graph:
                norm(f"l{layers}{dot}{short}", f"encoder.layer.{layers}.{to}")
        layers += 1
    if "poolw" in graph:
        dense("pool", "pooler.dense")
        dense("cls", "classifier")
    return out, layers


def write(found, layers, heads, folder, architecture):
    """Writes both files."""
    words, hidden = found["embeddings.word_embeddings.weight"].shape
    save_file({k: np.ascontiguousarray(v, np.float32) for k, v in found.items()}, folder + "/model.safetensors")
    with open(folder + "/config.json", "w") as f:
        json.dump({
            "model_type": "bert", "architectures": [architecture], "hidden_act": "gelu",
            "num_hidden_layers": layers, "hidden_size": hidden, "num_attention_heads": heads,
            "intermediate_size": len(found["encoder.layer.0.intermediate.dense.bias"]), "vocab_size": words,
            "max_position_embeddings": len(found["embeddings.position_embeddings.weight"]),
            "type_vocab_size": len(found["embeddings.token_type_embeddings.weight"]), "layer_norm_eps": 1e-12,
            **({"id2label": {"0": "LABEL_0"}} if "classifier.weight" in found else {}),
        }, f, indent=1)
        f.write("\n")


def main():
    path, folder = sys.argv[1:]
    found, layers = tensors(path)
    heads = {64: 4, 384: 12}[found["embeddings.word_embeddings.weight"].shape[1]]  # the graphs do not say it plainly
    kind = "BertForSequenceClassification" if "classifier.weight" in found else "BertModel"
    write(found, layers, heads, folder, kind)


if __name__ == "__main__":
    main()
