"""Writes the models of bench/peers, each as ONNX for the Python side and as safetensors for the other.

Usage: python models.py MODEL_DIR TO_DIR. MODEL_DIR is all-MiniLM-L6-v2. TO_DIR/embedder is that model in fp32. TO_DIR/reranker
is a cross-encoder of the same weights under a pooler and one logit that are random numbers: it costs what a trained one of
this size costs (MiniLM-L6, as ms-marco-MiniLM-L6 is), and its scores mean nothing. Needs: numpy, onnx, safetensors.
"""
import json
import pathlib
import shutil
import sys

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save
from safetensors.numpy import load_file, save_file

OPSET = 20  # the first with Gelu


class Graph:
    """Nodes and constants of a BERT model in the making."""

    def __init__(self, weights, config):
        self.weights, self.config = weights, config
        self.nodes, self.constants, self.count = [], {}, 0

    def constant(self, name, value):
        self.constants.setdefault(name, numpy_helper.from_array(value, name))
        return name

    def weight(self, name, transpose=False):
        w = self.weights[name]
        return self.constant(name, np.ascontiguousarray(w.T if transpose else w, dtype=np.float32))

    def node(self, op, *inputs, **attributes):
        self.count += 1
        out = f"{op}{self.count}"
        self.nodes.append(helper.make_node(op, inputs, [out], **attributes))
        return out

    def dense(self, x, name):
        return self.node("Add", self.node("MatMul", x, self.weight(name + ".weight", True)), self.weight(name + ".bias"))

    def norm(self, x, name):
        return self.node("LayerNormalization", x, self.weight(name + ".weight"), self.weight(name + ".bias"),
                         epsilon=float(self.config["layer_norm_eps"]))

    def embeddings(self):
        e = "embeddings."
        length = self.node("Gather", self.node("Shape", "input_ids"), self.constant("one", np.int64(1)))
        places = self.node("Range", self.constant("zero", np.int64(0)), length, "one")
        words = self.node("Gather", self.weight(e + "word_embeddings.weight"), "input_ids")
        types = self.node("Gather", self.weight(e + "token_type_embeddings.weight"), "token_type_ids")
        at = self.node("Gather", self.weight(e + "position_embeddings.weight"), places)
        return self.norm(self.node("Add", self.node("Add", words, types), at), e + "LayerNorm")

    def mask(self):
        """What is added to the attention: 0 on tokens, a large negative number on padding."""
        m = self.node("Unsqueeze", "attention_mask", self.constant("middle", np.array([1, 2])))
        m = self.node("Sub", self.constant("unit", np.float32(1)), self.node("Cast", m, to=TensorProto.FLOAT))
        return self.node("Mul", m, self.constant("never", np.float32(-1e9)))

    def heads(self, x, transposed):
        size, heads = self.config["hidden_size"], self.config["num_attention_heads"]
        shape = self.constant("split", np.array([0, 0, heads, size // heads]))
        return self.node("Transpose", self.node("Reshape", x, shape), perm=transposed)

    def layer(self, x, mask, name):
        a = name + "attention."
        q = self.heads(self.dense(x, a + "self.query"), [0, 2, 1, 3])
        k = self.heads(self.dense(x, a + "self.key"), [0, 2, 3, 1])
        v = self.heads(self.dense(x, a + "self.value"), [0, 2, 1, 3])
        width = self.config["hidden_size"] // self.config["num_attention_heads"]
        scores = self.node("Mul", self.node("MatMul", q, k), self.constant("scale", np.float32(width**-0.5)))
        seen = self.node("MatMul", self.node("Softmax", self.node("Add", scores, mask), axis=-1), v)
        flat = self.constant("join", np.array([0, 0, self.config["hidden_size"]]))
        seen = self.node("Reshape", self.node("Transpose", seen, perm=[0, 2, 1, 3]), flat)
        x = self.norm(self.node("Add", self.dense(seen, a + "output.dense"), x), a + "output.LayerNorm")
        inner = self.node("Gelu", self.dense(x, name + "intermediate.dense"))
        return self.norm(self.node("Add", self.dense(inner, name + "output.dense"), x), name + "output.LayerNorm")

    def save(self, path, reranker):
        x, mask = self.embeddings(), self.mask()
        for i in range(self.config["num_hidden_layers"]):
            x = self.layer(x, mask, f"encoder.layer.{i}.")
        out, shape = "last_hidden_state", ["batch", "sequence", self.config["hidden_size"]]
        if reranker:
            first = self.node("Gather", x, self.constant("zero", np.int64(0)), axis=1)
            x = self.dense(self.node("Tanh", self.dense(first, "pooler.dense")), "classifier")
            out, shape = "logits", ["batch", 1]
        self.nodes.append(helper.make_node("Identity", [x], [out]))
        inputs = [helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "sequence"])
                  for n in ("input_ids", "attention_mask", "token_type_ids")]
        graph = helper.make_graph(self.nodes, "encoder", inputs, [helper.make_tensor_value_info(out, TensorProto.FLOAT, shape)],
                                  list(self.constants.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
        checker.check_model(model)
        save(model, path)


def write(weights, config, source, folder, reranker):
    folder.mkdir(parents=True, exist_ok=True)
    Graph(weights, config).save(str(folder / "model.onnx"), reranker)
    save_file({k: np.ascontiguousarray(v) for k, v in weights.items()}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    tokenizer = json.loads((source / "tokenizer.json").read_text())
    tokenizer["truncation"] = tokenizer["padding"] = None
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    shutil.copyfile(source / "special_tokens_map.json", folder / "special_tokens_map.json")


def main():
    source, to = map(pathlib.Path, sys.argv[1:])
    config = json.loads((source / "config.json").read_text())
    weights = {k: v for k, v in load_file(source / "model.safetensors").items()
               if not k.startswith("pooler.") and v.dtype == np.float32}
    write(weights, config, source, to / "embedder", False)
    size, rnd = config["hidden_size"], np.random.default_rng(1)
    head = {
        "pooler.dense.weight": rnd.normal(0, size**-0.5, (size, size)), "pooler.dense.bias": np.zeros(size),
        "classifier.weight": rnd.normal(0, size**-0.5, (1, size)), "classifier.bias": np.zeros(1),
    }
    weights |= {k: v.astype(np.float32) for k, v in head.items()}
    config = {**config, "architectures": ["BertForSequenceClassification"], "id2label": {"0": "LABEL_0"}}
    write(weights, config, source, to / "reranker", True)


if __name__ == "__main__":
    main()
