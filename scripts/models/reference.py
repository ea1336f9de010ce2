"""The fp32 reference of the built-in model: Hugging Face `tokenizers`, then BERT as its paper and the published
config say, in numpy (double precision), straight from the safetensors. Independent of the Go code.

Needs: numpy, safetensors, tokenizers.
"""
import json
import math

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

MAX_TOKENS = 256  # of the model's card


class Reference:
    def __init__(self, folder):
        with open(folder + "/config.json") as f:
            self.config = json.load(f)
        self.weights = {k: v.astype(np.float64) for k, v in load_file(folder + "/model.safetensors").items()}
        self.tokenizer = Tokenizer.from_file(folder + "/tokenizer.json")
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(MAX_TOKENS)

    def linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + self.config["layer_norm_eps"])
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def heads(self, x):
        return x.reshape(len(x), self.config["num_attention_heads"], -1).transpose(1, 0, 2)

    def layer(self, x, name):
        q, k, v = (self.heads(self.linear(x, f"{name}.attention.self.{p}")) for p in ("query", "key", "value"))
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        attended = (scores / scores.sum(-1, keepdims=True)) @ v
        attended = attended.transpose(1, 0, 2).reshape(len(x), -1)
        x = self.norm(x + self.linear(attended, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm")
        wide = self.linear(x, f"{name}.intermediate.dense")
        wide = wide * 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        return self.norm(x + self.linear(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def ids(self, text):
        return self.tokenizer.encode(text).ids

    def vector(self, text):
        """The unit vector of a text, mean over its tokens."""
        ids = self.ids(text)
        e = "embeddings."
        x = self.weights[e + "word_embeddings.weight"][ids]
        x = x + self.weights[e + "position_embeddings.weight"][: len(ids)]
        x = self.norm(x + self.weights[e + "token_type_embeddings.weight"][0], e + "LayerNorm")
        for i in range(self.config["num_hidden_layers"]):
            x = self.layer(x, f"encoder.layer.{i}")
        v = x.mean(0)
        return v / np.linalg.norm(v)
