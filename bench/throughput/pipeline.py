"""The Python side of bench/throughput: read short files, index their words in SQLite (FTS5), and with a model embed them too.

Usage: python pipeline.py DOCS MODEL_DIR. MODEL_DIR "" leaves vectors out, and with them everything that is not of the
standard library. Every batch is committed and synced, as the other side does.
"""
import pathlib
import sqlite3
import sys
import tempfile
import time

docs, model = sys.argv[1:]
BATCH = 64  # documents a transaction


def embedder():
    import numpy as np
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(model + "/tokenizer.json")
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(model + "/model.onnx", options, providers=["CPUExecutionProvider"])
    names = {i.name for i in session.get_inputs()}

    def embed(texts):
        encoded = tokenizer.encode_batch(texts)
        longest = max(len(e.ids) for e in encoded)
        ids = np.zeros((len(texts), longest), np.int64)
        mask = np.zeros_like(ids)
        for row, e in enumerate(encoded):
            ids[row, : len(e.ids)] = e.ids
            mask[row, : len(e.ids)] = 1
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": mask * 0}
        hidden = session.run(None, {k: v for k, v in feeds.items() if k in names})[0]
        v = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        return (v / np.linalg.norm(v, axis=1, keepdims=True)).astype(np.float32)

    return embed


embed = embedder() if model else None
start = time.perf_counter()
db = sqlite3.connect(tempfile.mkdtemp() + "/kb.sqlite")
db.execute("PRAGMA journal_mode=WAL")
db.execute("PRAGMA synchronous=FULL")
db.execute("CREATE TABLE docs (id INTEGER PRIMARY KEY, uri TEXT UNIQUE, text TEXT, vector BLOB)")
db.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize='porter unicode61')")
files = sorted(pathlib.Path(docs).iterdir())
for at in range(0, len(files), BATCH):
    part = files[at : at + BATCH]
    texts = [p.read_text() for p in part]
    vectors = embed(texts) if embed else [None] * len(texts)
    with db:
        for p, text, v in zip(part, texts, vectors):
            row = db.execute("INSERT INTO docs (uri, text, vector) VALUES (?, ?, ?)", (str(p), text, None if v is None else v.tobytes()))
            db.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (row.lastrowid, text))
took = time.perf_counter() - start
print(f"{len(files) / took:.1f}")
