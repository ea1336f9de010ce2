"""The Python side of bench/ingest: read, tokenise, embed with ONNX Runtime in batches sorted by length, keep on disk, ask.

Usage: python pipeline.py DOCS MODEL_DIR QUESTION. Needs: numpy, onnxruntime, tokenizers.
"""
import time

start = time.perf_counter()

import pathlib
import sys
import tempfile

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

docs, model, question = sys.argv[1:]
tokenizer = Tokenizer.from_file(model + "/tokenizer.json")
tokenizer.no_padding()
tokenizer.enable_truncation(256)
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 2
session = onnxruntime.InferenceSession(model + "/model.onnx", options, providers=["CPUExecutionProvider"])
names = {i.name for i in session.get_inputs()}


def embed(texts):
    out = np.zeros((len(texts), 384), np.float32)
    encoded = tokenizer.encode_batch(texts)
    order = sorted(range(len(texts)), key=lambda i: len(encoded[i].ids))
    for at in range(0, len(order), 32):
        part = order[at : at + 32]
        longest = max(len(encoded[i].ids) for i in part)
        ids = np.zeros((len(part), longest), np.int64)
        mask = np.zeros_like(ids)
        for row, i in enumerate(part):
            ids[row, : len(encoded[i].ids)] = encoded[i].ids
            mask[row, : len(encoded[i].ids)] = 1
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": mask * 0}
        hidden = session.run(None, {k: v for k, v in feeds.items() if k in names})[0]
        v = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        out[part] = v / np.linalg.norm(v, axis=1, keepdims=True)
    return out


texts = [p.read_text() for p in sorted(pathlib.Path(docs).iterdir())]
vectors = embed(texts)
np.save(tempfile.mktemp(), vectors)
ingested = time.perf_counter() - start
best = np.argsort(-(vectors @ embed([question])[0]))[:10]
print(f"python  {len(texts)} passages in {ingested:.1f} s = {len(texts) / ingested:.1f} passages/s, "
      f"first answer ({len(best)} hits, dense) {time.perf_counter() - start:.1f} s after the start")
